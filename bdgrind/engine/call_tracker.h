// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds out, where a block begins, whether calls were made or left since the block before. MODEL.md section 5 has
// the rules. It keeps the call stack of an execution, its context and its tree nodes.

#pragma once

#include "engine/arcs.h"
#include "engine/backdating_tree.h"
#include "engine/block_cost.h"
#include "engine/contexts.h"
#include "engine/execution.h"

namespace bd {

class CallTracker {
public:
    CallTracker(ContextTable& contexts, BlockCosts& blocks, ArcTable& arcs, BackdatingTree& tree)
        : contexts_(contexts), blocks_(blocks), arcs_(arcs), tree_(tree) {}

    // `block` begins with `stack_pointer`. Returns false if by that the execution, a signal handler, has been left
    // for good by a jump; nothing has been entered then.
    bool enter(Execution& execution, const Block& block, Address stack_pointer) {
        const Exit* exit = execution.last_exit;
        if (__builtin_expect(exit != nullptr && exit->jump == JumpKind::kJump && !block.is_entry &&
                                 block.section == exit->block->section && execution.within_top(stack_pointer),
                             1)) {
            return true;  // on within the function
        }
        return enter_slowly(execution, block, stack_pointer);
    }

    // Goes on in `execution` after a jump out of a handler that had interrupted it.
    void enter_by_jump(Execution& execution, const Block& block, Address stack_pointer);

    // The node of the innermost open call, made with its missing ancestors if it has none yet.
    NodeId active_node(Execution& execution) {
        if (__builtin_expect(execution.nodes == execution.calls.size(), 1)) {
            return execution.nodes == 0 ? execution.root : execution.calls.back().node;
        }
        return make_nodes(execution);
    }

    // Leaves all open calls, innermost first.
    void leave_all(Execution& execution);

    // Adds to all open calls' arcs what has been counted since their entry, or since the last time.
    void settle(Execution& execution);

    // Whether new calls are counted.
    void set_collecting(bool collecting) { collecting_ = collecting; }

private:
    bool enter_slowly(Execution& execution, const Block& block, Address stack_pointer);
    void start(Execution& execution, const Block& block);
    void call(Execution& execution, const Block& block, const CallSite& from, Address stack_pointer,
              Address return_address);
    void leave(Execution& execution);
    std::size_t leave_above(Execution& execution, Address stack_pointer);
    NodeId make_nodes(Execution& execution);

    ContextTable& contexts_;
    BlockCosts& blocks_;
    ArcTable& arcs_;
    BackdatingTree& tree_;
    bool collecting_ = true;
};

}  // namespace bd
