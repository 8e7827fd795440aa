// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/path_writer.h"

#include <algorithm>
#include <array>

#include "profile/binary_column.h"
#include "profile/why_section.h"

namespace bd {
namespace {

// How a step ended, in the file.
std::uint64_t ending_of(const Exit& exit) {
    if (exit.jump == JumpKind::kCall) return 1;
    if (exit.jump == JumpKind::kReturn) return 2;
    switch (exit.branch) {
        case Branch::kTaken:
            return 3;
        case Branch::kNotTaken:
            return 4;
        case Branch::kIndirect:
            return 5;
        case Branch::kNone:
            break;
    }
    return 0;
}

std::uint64_t kind_of(const FlowNode& node) {
    switch (node.kind) {
        case FlowNode::Kind::kRoot:
            return 1;
        case FlowNode::Kind::kOther:
            return 2;
        case FlowNode::Kind::kStep:
            break;
    }
    return node.is_charged ? 3 : 0;
}

}  // namespace

PathWriter::PathWriter(TextOutput& out, const Engine& engine, bool compat_events)
    : out_(out), engine_(engine), flow_(*engine.flow()), events_{engine.events(), compat_events} {}

void PathWriter::write(const RunDescription& run) {
    WhyPlaces places(engine_, run.thread);
    choose_nodes(run.thread);
    collect_names(&places);
    out_ << "paths: 1\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    out_ << "limit: " << flow_.rules().most_nodes << '\n';
    write_events(out_, events_);
    names_.write(out_, engine_);
    places.write(out_, names_);
    write_steps();
    write_pieces();
    write_nodes();
    write_cells(places);
}

bool PathWriter::is_written(const FlowPaths::Cell& cell) const {
    if (numbers_[cell.node->number] == 0) return false;
    return std::ranges::any_of(flow_.costs(cell), [](std::uint64_t count) { return count != 0; });
}

// Those that paths came through, and that lead to these; parents before their children.
void PathWriter::choose_nodes(std::uint32_t thread) {
    const std::vector<std::uint64_t> passed = flow_.passed();
    contexts_.assign(flow_.size(), nullptr);
    numbers_.assign(flow_.size(), 0);
    for (std::uint32_t i = 0; i < flow_.size(); ++i) numbers_[i] = passed[i] != 0 ? 1 : 0;
    for (const FlowPaths::Cell& cell : flow_.cells()) {
        const ConstCosts costs = flow_.costs(cell);
        if (std::ranges::all_of(costs, [](std::uint64_t count) { return count == 0; })) continue;
        numbers_[cell.node->number] = 1;
    }
    for (std::uint32_t i = flow_.size(); i-- != 0;) {
        if (numbers_[i] != 0 && flow_.node(i).kind != FlowNode::Kind::kRoot) numbers_[flow_.node(i).parent] = 1;
    }
    for (const FlowPaths::Root& root : flow_.roots()) contexts_[root.node->number] = root.context;
    for (std::uint32_t i = 0; i < flow_.size(); ++i) {
        const FlowNode& node = flow_.node(i);
        if (contexts_[i] == nullptr) contexts_[i] = contexts_[node.parent];
        if (numbers_[i] == 0) continue;
        numbers_[i] = 0;
        if (thread != 0 && contexts_[i]->thread() != thread) continue;
        written_.push_back(i);
        numbers_[i] = static_cast<std::uint32_t>(written_.size());
    }
}

void PathWriter::collect_names(WhyPlaces* places) {
    for (const std::uint32_t number : written_) {
        const FlowNode& node = flow_.node(number);
        names_.add(*contexts_[number]);
        if (node.exit == nullptr) continue;
        const auto next = static_cast<std::uint32_t>(steps_.size()) + 1;
        if (!step_numbers_.emplace(node.exit, next).second) continue;
        steps_.push_back(node.exit);
        for (const Instruction& each : node.exit->block->instructions().first(node.exit->instructions)) {
            names_.add(*each.file);
        }
    }
    for (const FlowPaths::Cell& cell : flow_.cells()) {
        if (is_written(cell) && cell.instruction != kNoCost) places->use(cell.instruction, &names_);
    }
    places->number_all();
}

void PathWriter::write_steps() {
    std::vector<std::array<std::uint64_t, 6>> rows;
    for (const TracedExit* exit : steps_) {
        const Block& block = *exit->block;
        rows.push_back({block.address - block.load_bias, exit->branch_address() - block.load_bias,
                        exit->return_address - block.load_bias, ending_of(*exit), exit->reads, exit->writes});
    }
    write_section(out_, "steps: begin last end ending reads writes", rows);
}

// Which source lines a step goes through, one after the other.
void PathWriter::write_pieces() {
    std::vector<std::array<std::uint64_t, 4>> rows;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
        const SourceFile* file = nullptr;
        std::uint32_t line = 0;
        for (const Instruction& each : steps_[step]->block->instructions().first(steps_[step]->instructions)) {
            if (each.file != file || each.line != line) rows.push_back({step + 1, names_[*each.file], each.line, 0});
            ++rows.back()[3];
            file = each.file;
            line = each.line;
        }
    }
    write_section(out_, "pieces: step file line instructions", rows);
}

void PathWriter::write_nodes() {
    std::vector<std::array<std::uint64_t, 5>> rows;
    for (const std::uint32_t number : written_) {
        const FlowNode& node = flow_.node(number);
        const bool is_root = node.kind == FlowNode::Kind::kRoot;
        rows.push_back({is_root ? 0 : numbers_[node.parent], kind_of(node), is_root ? names_[*contexts_[number]] : 0,
                        node.exit == nullptr ? 0 : step_numbers_.find(node.exit)->second, node.ended});
    }
    write_section(out_, "nodes: parent kind function step times", rows);
}

// Several cells may have one place, as blocks overlap.
void PathWriter::write_cells(const WhyPlaces& places) {
    std::vector<const FlowPaths::Cell*> cells;
    for (const FlowPaths::Cell& cell : flow_.cells()) {
        if (is_written(cell)) cells.push_back(&cell);
    }
    const auto place_of = [&](const FlowPaths::Cell* cell) {
        return cell->instruction == kNoCost ? 0 : places[cell->instruction];
    };
    std::ranges::sort(cells, {}, [&](const FlowPaths::Cell* cell) {
        return std::pair(numbers_[cell->node->number], place_of(cell));
    });
    out_ << "cells: node place";
    const std::size_t width = engine_.events().width();
    for (std::size_t event = 0; event < width; ++event) {
        if (events_.has(event)) out_ << ' ' << kEvents[event].name;
    }
    out_ << '\n';
    std::vector<std::uint64_t> values;
    write_in_blocks(out_, cells.size(), [&](std::size_t first, std::size_t count) {
        const auto write = [&](auto value_of) {
            values.clear();
            for (std::size_t i = first; i < first + count; ++i) values.push_back(value_of(cells[i]));
            write_column(out_, values);
        };
        write([&](const FlowPaths::Cell* cell) { return numbers_[cell->node->number]; });
        write(place_of);
        for (std::size_t event = 0; event < width; ++event) {
            if (events_.has(event)) write([&](const FlowPaths::Cell* cell) { return flow_.costs(*cell)[event]; });
        }
    });
    write_binary(out_, cells.size(), kTotalBytes);
}

}  // namespace bd
