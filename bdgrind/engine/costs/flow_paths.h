// SPDX-License-Identifier: GPL-2.0-or-later
//
// Costs by path within functions: which exits a call takes one after the other, from where its function or a loop
// begins to where it ends or jumps back. (Ammons, Ball and Larus, PLDI 1997. They number paths by the flow graph; here
// the graph need not be known, as paths are followed while they run.)
//
//     root of f ──── exit 3 ──── exit 7      paths of f: 3 7, 3 9 and 3 9 4; each node knows how often a path ended
//                      └──────── exit 9 ──── exit 4      there
//
// What always happens on a path (instructions, reads, writes) follows from that number. What is rare is charged to a
// cell: a path and an instruction. A path is not known before it ends, so what happens until then, and what lines that
// it has loaded cost later, is charged to a record: its counts go to the cell when the path ends.
//
// Nodes are never freed, so their number is bounded: beyond it, all that is new in a function is one path, "other".

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/check.h"
#include "engine/base/types.h"
#include "engine/costs/contexts.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"
#include "engine/program/block.h"

namespace bd {

// What some paths begin with: the steps of its parent and one more. It has the size of a cache line of the host.
struct FlowNode {
    enum class Kind : std::uint8_t { kStep, kRoot, kOther };

    const void* steps_on[2] = {};      // the latest steps from here, see step_name()
    FlowNode* children[2] = {};        // where these lead to; others are in FlowPaths::children_
    const TracedExit* exit = nullptr;  // the step that leads here
    std::uint64_t ended = 0;           // how many paths ended here
    std::uint32_t number = 0;          // its index among all nodes
    std::uint32_t parent = 0;          // its parent's number; of a root, that of its "other" node
    std::uint32_t end = 0;             // the address behind the step, see FlowFrame
    std::uint8_t steps = 0;            // from the root
    Kind kind = Kind::kStep;
    bool has_end = false;
    bool is_charged : 1 = false;  // the step is one of code that is not shown, charged to the step before
    bool has_more_children : 1 = false;
};
static_assert(sizeof(void*) == 4 || sizeof(FlowNode) == 64);

// Where a call is on its path.
struct FlowFrame {
    FlowNode* node = nullptr;  // null: its paths are not followed
    FlowNode* root = nullptr;
    const Context* context = nullptr;
    std::uint32_t records = 0;  // the latest record that waits for the path's end; 0: none
    // Where `node` is "other": the lower half of the address behind the call's latest step. A step that begins before
    // it has jumped back.
    std::uint32_t end = 0;
    bool has_end = false;
};

// The open calls of a stack: the one that runs, and its callers, the outermost first.
struct FlowStack {
    FlowFrame top;
    std::vector<FlowFrame> callers;
};

struct FlowRules {
    std::uint32_t most_nodes = 1'000'000;  // the most nodes, and the most cells
};

class FlowPaths {
public:
    using Node = FlowNode;

    // After as many steps a path ends, and another one begins.
    static constexpr unsigned kMostSteps = 255;
    static constexpr std::uint32_t kMostNodes = 1u << 30;

    struct Root {
        const Context* context;
        const Node* node;
        const Node* other;
    };
    // What rare events have cost on a path, by instruction. With kNoCost for `instruction`: all that an "other" path
    // has executed.
    struct Cell {
        const Node* node;
        CostId instruction;
        CostId costs;
    };

    FlowPaths(const FlowRules& rules, std::size_t width) : rules_(rules), costs_(width), records_(1) {}
    FlowPaths(const FlowPaths&) = delete;
    FlowPaths& operator=(const FlowPaths&) = delete;

    // --- Calls

    // A stack begins with a call of `context`.
    void begin(FlowStack& stack, const Context& context) { stack.top = frame_of(context); }
    void enter(FlowStack& stack, const Context& context) {
        stack.callers.push_back(stack.top);
        stack.top = frame_of(context);
    }
    void leave(FlowStack& stack) {
        end(stack.top);
        stack.top = stack.callers.back();
        stack.callers.pop_back();
    }
    // Leaves the call that a stack has begun with.
    void leave_root(FlowStack& stack) {
        end(stack.top);
        stack.top = {};
    }
    // The frame that code which is not shown is charged to; its costs go to a call site in `charged`. That is the call
    // that runs, unless it was left by the jump to that code: then the "other" path of its function.
    FlowFrame& charged_frame(FlowStack& stack, const Context& charged) {
        return stack.top.context == &charged ? stack.top : astray(charged);
    }
    // Ends all paths of the stack; others begin.
    void cut(FlowStack& stack) {
        restart(stack.top);
        for (FlowFrame& frame : stack.callers) restart(frame);
    }

    // --- Steps

    // The call goes on with the block of `exit`. If `is_counted`, that is a step of its path; if `is_charged`, one of
    // code that is not shown.
    void go_on(FlowFrame& frame, const TracedExit& exit, bool is_counted, bool is_charged) {
        if (frame.node == nullptr) return;
        if (!is_charged && jumps_back(frame, exit)) restart(frame);
        if (is_counted) step(frame, exit, is_charged);
    }
    // The same for a step that is counted and shown, where it can be done quickly: by take(), unless `next` is null.
    struct QuickStep {
        Node* next;
        bool is_back;
    };
    [[gnu::always_inline]] static QuickStep quick_step(const FlowFrame& frame, const TracedExit& exit) {
        Node* const node = frame.node;
        if (!node->has_end) return {nullptr, false};
        const bool is_back = static_cast<std::int32_t>(exit.begin - node->end) < 0;
        if (is_back && frame.records != 0) return {nullptr, false};
        const Node* const from = is_back ? frame.root : node;
        if (from->steps_on[0] == &exit) return {from->children[0], is_back};
        if (from->steps_on[1] == &exit) return {from->children[1], is_back};
        return {nullptr, false};
    }
    [[gnu::always_inline]] static void take(FlowFrame& frame, const QuickStep& step) {
        if (step.is_back) ++frame.node->ended;
        frame.node = step.next;
    }

    // --- Charges

    // Charges an event of `instruction` on the current path: add(Costs) adds it.
    template <class Add>
    void charge(FlowFrame& frame, CostId instruction, Add add) {
        if (frame.node != nullptr) add(costs_[records_[record(frame, instruction, instruction)].costs]);
    }
    // Called for each line that `instruction` loads. What the line costs is charged later, to the record that this
    // returns. `charged`: the cost vector that will be charged beside the path.
    std::uint32_t hold(FlowFrame& frame, CostId instruction, CostId charged) {
        const std::uint32_t id =
            frame.node == nullptr ? make_record(kNoCost, charged) : record(frame, instruction, charged);
        ++records_[id].references;
        return id;
    }
    CostId charged_with(std::uint32_t id) const { return records_[id].charged; }
    [[gnu::always_inline]] void host_prefetch(std::uint32_t id) const { __builtin_prefetch(&records_[id], 1); }
    template <class Add>
    void charge_held(std::uint32_t id, Add add) {
        if (records_[id].costs != kNoCost) add(costs_[records_[id].costs]);
    }
    void release(std::uint32_t id) {
        Record& record = records_[id];
        BD_CHECK_OP(record.references, >, 0u);
        if (--record.references == 0 && !record.waits) free_record(id);
    }

    // To be called when all paths have ended: moves what still waits to its cells.
    void settle() { end_records(astray_); }
    // Clears the counts of a guest thread, or all counts (0). All paths must have been cut.
    void clear_counts(std::uint32_t thread);

    // --- Results. All paths must have been cut, or have ended.

    std::span<const Root> roots() const { return roots_; }
    std::span<const Cell> cells() const { return cells_; }
    std::uint32_t size() const { return size_; }
    const Node& node(std::uint32_t number) const { return chunks_[number >> kChunkBits][number & kChunkMask]; }
    ConstCosts costs(const Cell& cell) const { return costs_[cell.costs]; }
    const Root& root_of(const Node& node) const;
    // How many paths have come through each node, by its number.
    std::vector<std::uint64_t> passed() const;
    const FlowRules& rules() const { return rules_; }
    bool is_full() const { return size_ - 2 * roots_.size() >= rules_.most_nodes; }
    std::uint32_t records_in_use() const { return records_in_use_; }
    std::size_t bytes() const;

private:
    static constexpr unsigned kChunkBits = 10;
    static constexpr std::uint32_t kChunkMask = (1u << kChunkBits) - 1;

    struct Record {
        CostId instruction = kNoCost;
        CostId charged = kNoCost;
        CostId costs = kNoCost;  // its own until the path ends, then the cell's; kNoCost: the path is not followed
        std::uint32_t next = 0;  // the next record of the same path, or the next free one
        std::uint32_t references = 0;
        bool waits = false;  // whether the path has not ended
    };

    template <class First>
    struct PairHash {
        using is_avalanching = void;
        std::size_t operator()(const std::pair<const Node*, First>& key) const {
            std::uint64_t hash = number(key.first) * 0x9e3779b97f4a7c15u ^ number(key.second);
            hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
            return static_cast<std::size_t>(hash ^ hash >> 32);
        }
        static std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
        static std::uint64_t number(CostId id) { return index_of(id); }
    };

    FlowFrame frame_of(const Context& context) {
        const std::uint32_t id = context.id();
        Node* const root = id < root_of_.size() && root_of_[id] != nullptr ? root_of_[id] : make_root(context);
        return {root, root, &context};
    }
    // What identifies a step among those from a node. Code that is charged to its caller may be shown elsewhere.
    static const void* step_name(const TracedExit& exit, bool is_charged) {
        return reinterpret_cast<const char*>(&exit) + (is_charged ? 1 : 0);
    }
    static bool jumps_back(const FlowFrame& frame, const TracedExit& exit);
    FlowFrame& astray(const Context& charged);
    void restart(FlowFrame& frame) {
        end(frame);
        frame.node = frame.root;
        frame.has_end = false;
    }
    void end(FlowFrame& frame) {
        if (frame.records != 0) end_records(frame);
        if (frame.node != frame.root) ++frame.node->ended;
    }
    void step(FlowFrame& frame, const TracedExit& exit, bool is_charged);
    void step_elsewhere(FlowFrame& frame, const TracedExit& exit, bool is_charged);
    Node* child_of(Node& node, const TracedExit& exit, bool is_charged);
    Node* make_root(const Context& context);
    Node* make(Node::Kind kind);
    Node& node_at(std::uint32_t number) { return chunks_[number >> kChunkBits][number & kChunkMask]; }
    void count_elsewhere(const Node& other, const ExitTotals& totals);
    std::uint32_t record(FlowFrame& frame, CostId instruction, CostId charged);
    std::uint32_t make_record(CostId instruction, CostId charged);
    void free_record(std::uint32_t id);
    void end_records(FlowFrame& frame);
    CostId cell(const Node& node, CostId instruction);

    const FlowRules rules_;
    FlowFrame astray_;
    std::vector<std::unique_ptr<Node[]>> chunks_;
    std::uint32_t size_ = 0;
    std::vector<Root> roots_;
    std::vector<Node*> root_of_;  // by Context::id
    boost::unordered_flat_map<const Node*, std::uint32_t> root_numbers_;
    boost::unordered_flat_map<std::pair<const Node*, const void*>, Node*, PairHash<const void*>> children_;
    CostPool costs_;
    std::vector<Cell> cells_;
    boost::unordered_flat_map<std::pair<const Node*, CostId>, CostId, PairHash<CostId>> cell_costs_;
    std::vector<Record> records_;  // the first one is not used
    std::uint32_t free_record_ = 0;
    std::uint32_t records_in_use_ = 0;
    std::vector<CostId> free_costs_;  // all zero
};

}  // namespace bd
