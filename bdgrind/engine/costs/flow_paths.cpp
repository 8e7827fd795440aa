// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/flow_paths.h"

#include <algorithm>

namespace bd {

// Whether the block of `exit` lies before where the latest step has ended.
bool FlowPaths::jumps_back(const FlowFrame& frame, const TracedExit& exit) {
    const bool is_elsewhere = frame.node->kind == Node::Kind::kOther;
    const bool has_end = is_elsewhere ? frame.has_end : frame.node->has_end;
    const std::uint32_t end = is_elsewhere ? frame.end : frame.node->end;
    return has_end && static_cast<std::int32_t>(exit.begin - end) < 0;
}

void FlowPaths::step(FlowFrame& frame, const TracedExit& exit, bool is_charged) {
    if (frame.node->kind == Node::Kind::kOther) {
        step_elsewhere(frame, exit, is_charged);
        return;
    }
    if (frame.node->steps == kMostSteps) restart(frame);
    if (Node* const child = child_of(*frame.node, exit, is_charged)) {
        frame.node = child;
        return;
    }
    // What the path has executed so far belongs to the other one.
    Node& other = node_at(frame.root->parent);
    for (const Node* node = frame.node; node != frame.root; node = &node_at(node->parent)) {
        count_elsewhere(other, *node->exit);
    }
    frame.end = frame.node->end;
    frame.has_end = frame.node->has_end;
    frame.node = &other;
    step_elsewhere(frame, exit, is_charged);
}

void FlowPaths::step_elsewhere(FlowFrame& frame, const TracedExit& exit, bool is_charged) {
    count_elsewhere(*frame.node, exit);
    if (is_charged) return;
    frame.end = static_cast<std::uint32_t>(exit.return_address);
    frame.has_end = true;
}

void FlowPaths::count_elsewhere(const Node& other, const ExitTotals& totals) {
    const Costs counts = costs_[cell(other, kNoCost)];
    counts[column(Event::kIr)] += totals.instructions;
    counts[column(Event::kDr)] += totals.reads;
    counts[column(Event::kDw)] += totals.writes;
}

// Null: there is none, and there are too many already.
FlowNode* FlowPaths::child_of(Node& node, const TracedExit& exit, bool is_charged) {
    const void* const name = step_name(exit, is_charged);
    for (const std::size_t i : {0u, 1u}) {
        if (node.steps_on[i] == name) return node.children[i];
    }
    const std::pair<const Node*, const void*> key{&node, name};
    Node* child = nullptr;
    if (node.has_more_children) {
        if (const auto found = children_.find(key); found != children_.end()) child = found->second;
    }
    if (child == nullptr) {
        if (is_full()) return nullptr;
        child = make(Node::Kind::kStep);
        child->exit = &exit;
        child->parent = node.number;
        child->steps = static_cast<std::uint8_t>(node.steps + 1);
        child->is_charged = is_charged;
        child->end = is_charged ? node.end : static_cast<std::uint32_t>(exit.return_address);
        child->has_end = !is_charged || node.has_end;
        if (node.steps_on[1] != nullptr) {
            if (!node.has_more_children) {
                for (const std::size_t i : {0u, 1u})
                    children_.emplace(std::pair{&node, node.steps_on[i]}, node.children[i]);
                node.has_more_children = true;
            }
            children_.emplace(key, child);
        }
    }
    node.steps_on[1] = node.steps_on[0];
    node.children[1] = node.children[0];
    node.steps_on[0] = name;
    node.children[0] = child;
    return child;
}

FlowNode* FlowPaths::make_root(const Context& context) {
    if (!context.function().follows_paths) return nullptr;
    Node* const root = make(Node::Kind::kRoot);
    Node* const other = make(Node::Kind::kOther);
    root->parent = other->number;
    other->parent = root->number;
    if (root_of_.size() <= context.id()) root_of_.resize(context.id() + std::size_t{1});
    root_of_[context.id()] = root;
    root_numbers_.emplace(root, static_cast<std::uint32_t>(roots_.size()));
    roots_.push_back({&context, root, other});
    return root;
}

FlowNode* FlowPaths::make(Node::Kind kind) {
    if (size_ >> kChunkBits == chunks_.size())
        chunks_.push_back(std::make_unique<Node[]>(std::size_t{1} << kChunkBits));
    Node& node = node_at(size_);
    node.number = size_++;
    node.kind = kind;
    return &node;
}

const FlowPaths::Root& FlowPaths::root_of(const Node& node) const {
    const Node* root = &node;
    while (root->kind != Node::Kind::kRoot) root = &this->node(root->parent);
    return roots_[root_numbers_.find(root)->second];
}

FlowFrame& FlowPaths::astray(const Context& charged) {
    if (astray_.context == &charged) return astray_;
    end_records(astray_);
    astray_ = frame_of(charged);
    if (astray_.root != nullptr) astray_.node = &node_at(astray_.root->parent);
    return astray_;
}

std::vector<std::uint64_t> FlowPaths::passed() const {
    std::vector<std::uint64_t> passed(size_);
    for (std::uint32_t number = size_; number-- != 0;) {
        const Node& each = node(number);
        passed[number] += each.ended;
        if (each.kind == Node::Kind::kStep) passed[each.parent] += passed[number];
    }
    return passed;
}

// Of the path that is being followed; made when first asked for.
std::uint32_t FlowPaths::record(FlowFrame& frame, CostId instruction, CostId charged) {
    for (std::uint32_t id = frame.records; id != 0; id = records_[id].next) {
        if (records_[id].charged == charged) return id;
    }
    const std::uint32_t id = make_record(instruction, charged);
    Record& made = records_[id];
    if (free_costs_.empty()) {
        made.costs = costs_.make();
    } else {
        made.costs = free_costs_.back();
        free_costs_.pop_back();
    }
    made.waits = true;
    made.next = std::exchange(frame.records, id);
    return id;
}

std::uint32_t FlowPaths::make_record(CostId instruction, CostId charged) {
    ++records_in_use_;
    std::uint32_t id = free_record_;
    if (id == 0) {
        id = static_cast<std::uint32_t>(records_.size());
        records_.emplace_back();
    } else {
        free_record_ = records_[id].next;
    }
    records_[id] = {.instruction = instruction, .charged = charged};
    return id;
}

void FlowPaths::free_record(std::uint32_t id) {
    --records_in_use_;
    records_[id].next = std::exchange(free_record_, id);
}

void FlowPaths::end_records(FlowFrame& frame) {
    for (std::uint32_t id = std::exchange(frame.records, 0); id != 0;) {
        Record& record = records_[id];
        const std::uint32_t next = record.next;
        const CostId to = cell(*frame.node, record.instruction);
        const Costs from = costs_[record.costs];
        const Costs counts = costs_[to];
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (from[i] != 0) counts[i] += std::exchange(from[i], 0);
        }
        free_costs_.push_back(std::exchange(record.costs, to));
        record.waits = false;
        if (record.references == 0) free_record(id);
        id = next;
    }
}

CostId FlowPaths::cell(const Node& node, CostId instruction) {
    const auto found = cell_costs_.find({&node, instruction});
    if (found != cell_costs_.end()) return found->second;
    if (node.kind != Node::Kind::kOther && cells_.size() >= rules_.most_nodes) {
        return cell(*root_of(node).other, instruction);
    }
    const CostId made = costs_.make();
    cells_.push_back({&node, instruction, made});
    cell_costs_.emplace(std::pair{&node, instruction}, made);
    return made;
}

void FlowPaths::clear_counts(std::uint32_t thread) {
    const auto is_meant = [&](const Node& node) { return thread == 0 || root_of(node).context->thread() == thread; };
    for (std::uint32_t number = 0; number < size_; ++number) {
        if (Node& node = node_at(number); node.ended != 0 && is_meant(node)) node.ended = 0;
    }
    for (const Cell& cell : cells_) {
        if (is_meant(*cell.node)) std::ranges::fill(costs_[cell.costs], 0);
    }
}

std::size_t FlowPaths::bytes() const {
    return chunks_.size() * (sizeof(Node) << kChunkBits) + costs_.bytes() + cells_.capacity() * sizeof(Cell) +
           records_.capacity() * sizeof(Record) + cell_costs_.size() * 2 * (sizeof(Cell) + 1) +
           children_.size() * 2 * (3 * sizeof(void*) + 1);
}

}  // namespace bd
