// SPDX-License-Identifier: GPL-2.0-or-later
//
// The part of CallTracker for runs with a calling context tree: each stack knows its node there. The costs since the
// last change are charged to a node when it is left for another one, in either direction, so that each node gets its
// self costs, whether recursion is folded or not.
//
// A call that is not shown stays in its caller's node, as in the profile.

#include <utility>

#include "engine/calls/call_tracker.h"

namespace bd {

// Called if the code that runs now has no known caller. The chain of nodes in the back-dating tree begins anew, too, as
// its arcs do not show what they are below.
void CallTracker::begin_path(Execution& execution) {
    ContextPath& path = execution.path;
    BD_CHECK(path.callers.empty() && execution.nodes == 0);
    const ContextNodeId begun = context_tree_->begin(path.root, *execution.context);
    if (path.node == begun) return;
    path.node = begun;
    tree_.release(std::exchange(execution.root, tree_.make_root()));
    tree_.set_context_node(execution.root, begun);
}

[[gnu::noinline]] void CallTracker::extend_path(CallStack& stack, ArcId arc) {
    charge_path(stack);
    stack.path.callers.push_back(stack.path.node);
    stack.path.node = context_tree_->call(stack.path.node, arc);
}

void CallTracker::extend_path_nowhere(CallStack& stack) {
    stack.path.callers.push_back(stack.path.node);
}

[[gnu::noinline]] void CallTracker::shorten_path(CallStack& stack) {
    charge_path(stack);
    stack.path.node = stack.path.callers.back();
    stack.path.callers.pop_back();
}

void CallTracker::charge_path(CallStack& stack) {
    if (stack.path.node == kNoContextNode) return;  // nothing has run there yet
    context_tree_->charge_running(stack.path.node, stack.path.charged, stack.running);
    stack.path.charged = stack.running;
}

// Sets the path of a node in the back-dating tree. `call`: the number of its open call.
void CallTracker::follow_path(const Execution& execution, NodeId node, std::size_t call) {
    const ContextPath& path = execution.path;
    tree_.set_context_node(node, call + 1 < path.callers.size() ? path.callers[call + 1] : path.node);
}

}  // namespace bd
