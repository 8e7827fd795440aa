// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/calls/call_tracker.h"

#include <algorithm>
#include <utility>

#include "engine/calls/call_rules.h"

namespace bd {
namespace {

// The number of calls that a return with this stack pointer to this address leaves: those whose frames it has left; or,
// if the stack pointer is that of the entry (no return address on the stack), those up to the one that was to return
// here, or else those that are left for a caller. 0: it is not the return of a known call.
std::size_t calls_left_by_return(const Execution& execution, Address target, Address stack_pointer,
                                 std::size_t for_caller) {
    const auto& calls = execution.calls;
    if (stack_pointer > calls.back().stack_pointer) {
        return std::max<std::size_t>(for_caller, 1);  // the caller also leaves those below the stack pointer
    }
    std::size_t count = 0;
    for (auto call = calls.rbegin(); call != calls.rend() && call->stack_pointer == stack_pointer; ++call) {
        ++count;
        if (call->return_address == target) return count;
    }
    return for_caller;
}

// The number of calls that longjmp or an exception leaves, including those below the stack pointer; 0: none, or one of
// these was to return here. If calls do not use the stack (on arm64, the return address is in a register), the stack
// pointer after longjmp may still be that of a call that was left. Such a call is left if control goes on within the
// function that made it.
std::size_t calls_left_for_caller(const Execution& execution, const Block& block, Address stack_pointer) {
    if (block.is_entry) return 0;
    const auto& calls = execution.calls;
    std::size_t count = 0;
    for (auto call = calls.rbegin(); call != calls.rend() && call->stack_pointer <= stack_pointer; ++call) {
        ++count;
        const bool is_below = call->stack_pointer < stack_pointer;
        if (is_below && call->return_address == block.address) return 0;
        if (!is_below && call->return_address != 0 && &call->caller->function() == block.function) return count;
    }
    return 0;
}

// The number of calls from an earlier one, which is equal to the latest call in everything that costs are separated by,
// up to the latest one; 0 if there is none. A loop may begin where its function begins, and interpreters go from
// function to function by tail calls only, so that the stack would grow with each of them. Therefore, such a call
// replaces the earlier one.
std::size_t calls_since_same(const Execution& execution) {
    const OpenCall& latest = execution.calls.back();
    std::size_t count = 0;
    for (auto call = execution.calls.rbegin() + 1; call != execution.calls.rend(); ++call) {
        if (call->return_address != 0 || call->stack_pointer != latest.stack_pointer) return 0;
        ++count;
        if (call->arc == latest.arc) return count;
    }
    return 0;
}

// Whether the root of the stack has been left. It may have made a tail call, whose return leaves the root, too, and
// reaches code whose call was never seen. (For example, a signal handler that ends in its cold part returns to the
// kernel's trampoline.)
bool has_left_root(const Execution& execution, const Block& block, Address stack_pointer) {
    return execution.calls.empty() && stack_pointer > execution.base &&
           block.function != &execution.context->function();
}

// Whether an exit is the jump of a REP instruction to itself, which is not a call even if it begins a function.
bool repeats_itself(const Exit& exit, const Block& block) {
    return exit.block->instruction_address(exit.instructions - 1u) == block.address;
}

// The arc of a call gets the difference of the running totals at its end and at its beginning. (These are not loops, as
// compilers do not unroll them.)
static_assert(kRunningEvents == 3);
void subtract_running(Costs from, const RunningCosts& running) {
    from[0] -= running[0];
    from[1] -= running[1];
    from[2] -= running[2];
}
void add_running(Costs to, const RunningCosts& running) {
    to[0] += running[0];
    to[1] += running[1];
    to[2] += running[2];
}

// The call is written member by member: the compiler would build a whole one in other memory and copy it from there
// before the stores have completed.
void push(CallStack& stack, Address stack_pointer, Address return_address, const Context* caller, ArcId arc) {
    OpenCall& open = stack.calls.emplace_back();
    open.stack_pointer = stack_pointer;
    open.return_address = return_address;
    open.caller = caller;
    open.arc = arc;
}

// The address at which the code goes on after a call from `site`.
Address behind(const CallSite& site) {
    return site.from->block->exits()[site.exit].return_address;
}

}  // namespace

constinit const Exit CallTracker::kStopped{};

// The context of a function called by the current one.
inline const Context& CallTracker::callee_context(CallStack& stack, const Function& callee) {
    if (!is_deeper(stack.context->function(), callee)) return *stack.context;
    const std::uint32_t level = std::min(++open_calls_[callee.id], callee.recursion_levels);
    if (__builtin_expect(rules_.separate_callers, 0)) return context_by_callers(stack, callee, level);
    return contexts_.of(callee, level);
}

// Opens a call that is shown.
[[gnu::always_inline]] inline ArcId CallTracker::open(Execution& execution, Block& block, const CallSite& site,
                                                      Address stack_pointer, Address return_address) {
    const Context* const caller = execution.context;
    execution.context = &own_context(execution, callee_context(execution, *block.function));
    const ArcId arc = arcs_.get(site, blocks_.get(block, *execution.context));
    subtract_running(arcs_.costs(arc), execution.running);
    push(execution, stack_pointer, return_address, caller, arc);
    if (__builtin_expect(scopes_ != nullptr, 0)) scopes_->enter(execution.scopes, behind(site));
    if (__builtin_expect(flow_ != nullptr, 0)) flow_->enter(execution.flow, *execution.context);
    return arc;
}

// The same for a plain function, with everything that a call of one requires.
[[gnu::always_inline]] inline void CallTracker::open_plain(Execution& execution, Block& block, const CallSite& site,
                                                           Address stack_pointer, Address return_address) {
    ++changes_;
    execution.stack_pointer = stack_pointer;
    const ArcId arc = open(execution, block, site, stack_pointer, return_address);
    execution.update_top();
    if (execution.collecting) ++arcs_[arc].calls;
    if (__builtin_expect(context_tree_ != nullptr, 0)) {
        extend_path(execution, arc);
        if (execution.collecting) context_tree_->count_call(execution.path.node);
    }
}

// Opens a call that is not shown; its costs are charged to `charged_site`.
inline void CallTracker::open_skipped(CallStack& stack, const CallSite& charged_site, Address stack_pointer,
                                      Address return_address) {
    stack.special_calls.push_back({stack.calls.size(), stack.charged_site, nullptr});
    stack.charged_site = charged_site;
    push(stack, stack_pointer, return_address, stack.context, kNoArc);
    if (context_tree_ != nullptr) extend_path_nowhere(stack);
    if (scopes_ != nullptr) scopes_->enter(stack.scopes, behind(charged_site));
}

// Opens a call that may have been that of a stub only, but does more than jump on.
void CallTracker::open_stub(CallStack& stack) {
    if (stack.stub_return_address == 0) return;
    const CallSite charged_site = std::exchange(stack.charged_site, {});
    open_skipped(stack, charged_site, stack.stub_stack_pointer, std::exchange(stack.stub_return_address, 0));
}

// Nearly all calls and returns are plain, or calls through PLT stubs. A stub leaves the stack as it was and jumps to
// another section; the code there is called by the caller of the stub. (stencil without caches: 17 % less replay.)
// They need no further calls: rare cases are marked. (dispatch without caches: 8 % less replay.)
[[gnu::flatten]] bool CallTracker::enter(Execution& execution, Block& block, Address stack_pointer) {
    const Exit* const exit = execution.last_exit;
    if (__builtin_expect(running_ != &execution || exit == nullptr, 0)) {
        return enter_rarely(execution, block, stack_pointer);
    }
    const Function& function = *block.function;
    if (exit->jump == JumpKind::kCall && execution.within_top(stack_pointer) && !execution.charged_site &&
        !function.triggers.any()) {
        const CallSite site{execution.last, exit->index};
        if (function.skipped) {
            ++changes_;
            execution.stack_pointer = stack_pointer;
            execution.charged_site = site;
            execution.stub_stack_pointer = stack_pointer;
            execution.stub_return_address = exit->return_address;
            execution.top_span = stack_pointer - execution.stack.begin;
        } else {
            open_plain(execution, block, site, stack_pointer, exit->return_address);
        }
        return true;
    }
    if (exit->jump == JumpKind::kJump && execution.stub_return_address != 0 &&
        execution.stub_stack_pointer == stack_pointer && execution.stack_pointer <= stack_pointer &&
        exit != &kStopped && exit->continuation_left != block.section && function.is_plain() &&
        !function.left_by_jump) {
        open_plain(execution, block, std::exchange(execution.charged_site, {}), stack_pointer,
                   std::exchange(execution.stub_return_address, 0));
        return true;
    }
    if (exit->jump == JumpKind::kReturn && execution.stub_return_address == 0 && !execution.calls.empty() &&
        execution.calls.back().return_address == block.address &&
        stack_pointer > execution.calls.back().stack_pointer && stack_pointer >= execution.stack_pointer &&
        execution.on_stack(stack_pointer)) {
        execution.stack_pointer = stack_pointer;
        leave_above(execution, stack_pointer);
        if (__builtin_expect(has_left_root(execution, block, stack_pointer), 0)) start(execution, block, stack_pointer);
        return requests_.empty();
    }
    return enter_rarely(execution, block, stack_pointer);
}

[[gnu::noinline]] bool CallTracker::enter_rarely(Execution& execution, Block& block, Address stack_pointer) {
    if (running_ != &execution) switch_to(execution);
    open_stub(execution);
    if (execution.last_exit == nullptr) {
        if (!execution.within_bounds(stack_pointer)) return false;
        start(execution, block, stack_pointer);
        return requests_.empty();
    }
    if (execution.last_exit == &kStopped) {
        if (execution.call_uncounted) count_call(execution);
        return true;
    }
    const Exit& exit = *execution.last_exit;
    // Code that is charged to its caller does not note its context each time.
    if (execution.charged_site) execution.last = &blocks_.get(*exit.block, *execution.context);
    if (__builtin_expect(may_change_stack(execution, block, stack_pointer, exit.jump), 0)) {
        if (!execution.within_bounds(stack_pointer)) {
            leave_above(execution, stack_pointer);
            return false;
        }
        if (change_stack(execution, block, stack_pointer, exit.jump)) return requests_.empty();
    }
    execution.stack_pointer = stack_pointer;
    take_step(execution, block, exit, stack_pointer);
    return requests_.empty();
}

// From a block that ended in `exit` to the next one on the same stack.
inline void CallTracker::take_step(Execution& execution, Block& block, const Exit& exit, Address stack_pointer) {
    const auto& calls = execution.calls;
    const Function& running = execution.context->function();
    const bool returns = exit.jump == JumpKind::kReturn && !calls.empty();
    const std::size_t for_caller =
        returns && block.function != &running ? calls_left_for_caller(execution, block, stack_pointer) : 0;
    const Transition step{
        .jump = exit.jump,
        .has_open_calls = !calls.empty(),
        .calls_returned = returns ? calls_left_by_return(execution, block.address, stack_pointer, for_caller) : 0,
        .leaves_frames = !calls.empty() && calls.back().stack_pointer < stack_pointer,
        .stays_in_function = block.function == &running && !block.is_entry && !execution.charged_site,
        .enters_function = block.is_entry,
        .repeats_instruction = block.is_entry && repeats_itself(exit, block),
        .changes_section = block.section != exit.block->section,
        .leaves_resolver = running.left_by_jump && !calls.empty() && !execution.charged_site,
    };
    CallSite site{execution.last, exit.index};
    switch (decide(step)) {
        case CallDecision::kReturnToRoot:
            start(execution, block, stack_pointer);
            return;
        case CallDecision::kReturn:
            leave(execution, step.calls_returned);
            leave_above(execution, stack_pointer);
            if (has_left_root(execution, block, stack_pointer)) start(execution, block, stack_pointer);
            return;
        case CallDecision::kCall:
            leave_above(execution, stack_pointer);
            call(execution, block, site, stack_pointer, exit.return_address);
            return;
        case CallDecision::kContinue:
            leave_above(execution, stack_pointer);
            return;
        case CallDecision::kCallByResolver:
            site = arcs_[calls.back().arc].site;
            leave(execution, 1);
            break;
        case CallDecision::kTailCall:
        case CallDecision::kStrayReturn:
            break;
    }
    // The call has the stack pointer of the one below, so that a single return leaves both.
    call(execution, block, site, calls.empty() ? stack_pointer : calls.back().stack_pointer, 0);
}

void CallTracker::enter_by_jump(Execution& execution, Block& block, Address stack_pointer) {
    if (running_ != &execution) switch_to(execution);
    open_stub(execution);
    if (execution.last_exit == nullptr) {
        start(execution, block, stack_pointer);
        return;
    }
    if (may_change_stack(execution, block, stack_pointer, JumpKind::kJump) &&
        change_stack(execution, block, stack_pointer, JumpKind::kJump)) {
        return;
    }
    leave(execution, calls_left_for_caller(execution, block, stack_pointer));
    leave_above(execution, stack_pointer);
    execution.stack_pointer = stack_pointer;
}

void CallTracker::stop(Execution& execution) {
    execution.last_exit = &kStopped;
}

// The current stack is at its root: `block` has no known caller.
void CallTracker::start(Execution& execution, Block& block, Address stack_pointer) {
    ++changes_;
    leave_root(execution);
    if (execution.context != nullptr) --open_calls_[execution.context->function().id];
    ++open_calls_[block.function->id];
    execution.context = &own_context(execution, contexts_.of(*block.function));
    execution.charged_site = {};
    execution.stack_pointer = stack_pointer;
    execution.base = stack_pointer;
    execution.update_stack();
    if (context_tree_ != nullptr) begin_path(execution);
    if (scopes_ != nullptr) scopes_->start(execution.scopes);
    if (flow_ != nullptr) flow_->begin(execution.flow, *execution.context);
    if (block.is_entry && block.function->triggers.any()) {
        execution.triggering_root = block.function;
        fire_entry_triggers(execution, *block.function);
    }
}

void CallTracker::leave_root(CallStack& stack) {
    if (core_costs_ != nullptr) core_costs_->add_running(stack.core, stack.running, &stack.counted);
    if (context_tree_ != nullptr) charge_path(stack);
    if (flow_ != nullptr) flow_->leave_root(stack.flow);
    const Function* const left = std::exchange(stack.triggering_root, nullptr);
    if (left != nullptr) fire_exit_triggers(*running_, *left);
}

void CallTracker::call(Execution& execution, Block& block, const CallSite& from, Address stack_pointer,
                       Address return_address) {
    ++changes_;
    const Function& callee = *block.function;
    const CallSite site = execution.charged_site ? execution.charged_site : from;
    if (callee.skipped) {
        open_skipped(execution, site, stack_pointer, return_address);
    } else {
        const bool is_special = execution.charged_site || !callee.is_plain();
        if (is_special) execution.special_calls.push_back({execution.calls.size(), execution.charged_site, nullptr});
        execution.charged_site = {};
        const ArcId arc = open(execution, block, site, stack_pointer, return_address);
        if (return_address == 0) {
            if (const std::size_t repeated = calls_since_same(execution); repeated != 0) {
                if (context_tree_ != nullptr) extend_path_nowhere(execution);
                leave(execution, repeated + 1);
                call(execution, block, site, stack_pointer, return_address);
                return;
            }
        }
        if (context_tree_ != nullptr) extend_path(execution, arc);
    }
    execution.update_top();
    if (__builtin_expect(callee.triggers.any(), 0)) {
        execution.special_calls.back().triggering = &callee;
        fire_entry_triggers(execution, callee);
    }
    if (__builtin_expect(requests_.empty(), 1)) {
        count_call(execution);
    } else {
        execution.call_uncounted = true;  // it is counted in the part that its costs go to
    }
}

void CallTracker::count_call(Execution& execution) {
    execution.call_uncounted = false;
    const ArcId arc = execution.calls.back().arc;
    if (arc == kNoArc || !execution.collecting) return;
    ++arcs_[arc].calls;
    if (context_tree_ != nullptr) context_tree_->count_call(execution.path.node);
}

[[gnu::noinline]] void CallTracker::fire_entry_triggers(Execution& execution, const Function& function) {
    if (execution.open_triggering[&function]++ != 0) return;
    if (function.triggers.dump_before) {
        requests_.push_back({RequestKind::kDumpBefore, &function, execution.thread});
    } else if (function.triggers.zero_before) {
        requests_.push_back({RequestKind::kZero, &function, execution.thread});
    }
    if (function.triggers.toggle_collect) execution.collecting = !execution.collecting;
}

[[gnu::noinline]] void CallTracker::fire_exit_triggers(Execution& execution, const Function& function) {
    if (--execution.open_triggering[&function] != 0) return;
    if (function.triggers.dump_after) {
        requests_.push_back({RequestKind::kDumpAfter, &function, execution.thread});
    }
    if (function.triggers.toggle_collect) execution.collecting = !execution.collecting;
}

// The context of a callee if contexts also differ in callers.
[[gnu::noinline]] const Context& CallTracker::context_by_callers(CallStack& stack, const Function& callee,
                                                                 std::uint32_t level) {
    const Function& caller = stack.context->function();
    if (&caller != &callee) stack.callers.push_back(&caller);
    const std::size_t count = std::min<std::size_t>(callee.caller_count, stack.callers.size());
    callers_.assign(stack.callers.rbegin(), stack.callers.rbegin() + static_cast<std::ptrdiff_t>(count));
    return contexts_.of(callee, level, callers_);
}

// Leaves the innermost call.
void CallTracker::leave(CallStack& stack) {
    ++changes_;
    const OpenCall& open = stack.calls.back();
    const NodeId node = open.node;
    const bool has_node = stack.nodes == stack.calls.size();
    if (__builtin_expect(context_tree_ != nullptr, 0)) shorten_path(stack);
    if (__builtin_expect(scopes_ != nullptr, 0)) scopes_->leave(stack.scopes);
    if (open.arc != kNoArc) {
        if (__builtin_expect(flow_ != nullptr, 0)) flow_->leave(stack.flow);
        add_running(arcs_.costs(open.arc), stack.running);
        const Function& callee = stack.context->function();
        const Function& caller = open.caller->function();
        if (is_deeper(caller, callee)) --open_calls_[callee.id];
        if (rules_.separate_callers && &callee != &caller) stack.callers.pop_back();
    }
    stack.context = open.caller;
    stack.calls.pop_back();
    const Function* triggering = nullptr;
    if (!stack.special_calls.empty() && stack.special_calls.back().index == stack.calls.size()) {
        stack.charged_site = stack.special_calls.back().caller_charged_site;
        triggering = stack.special_calls.back().triggering;
        stack.special_calls.pop_back();
    }
    if (has_node) {
        --stack.nodes;
        tree_.release(node);
    }
    if (__builtin_expect(triggering != nullptr, 0)) fire_exit_triggers(*running_, *triggering);
}

void CallTracker::leave(Execution& execution, std::size_t count) {
    for (; count != 0; --count) leave(execution);
    execution.update_top();
}

std::size_t CallTracker::leave_above(Execution& execution, Address stack_pointer) {
    std::size_t left = 0;
    while (!execution.calls.empty() && execution.calls.back().stack_pointer < stack_pointer) {
        leave(execution);
        ++left;
    }
    if (left != 0) execution.update_top();
    return left;
}

NodeId CallTracker::make_nodes(Execution& execution) {
    NodeId node = execution.nodes == 0 ? execution.root : execution.calls[execution.nodes - 1].node;
    for (; execution.nodes < execution.calls.size(); ++execution.nodes) {
        OpenCall& open = execution.calls[execution.nodes];
        if (open.arc == kNoArc) {
            tree_.acquire(node);  // a call that is not shown has its caller's node
        } else {
            node = tree_.acquire_child(node, open.arc);
            if (context_tree_ != nullptr) follow_path(execution, node, execution.nodes);
        }
        open.node = node;
    }
    return node;
}

void CallTracker::leave_all(Execution& execution) {
    if (running_ != &execution) switch_to(execution);
    open_stub(execution);
    while (!execution.others.empty()) drop_stack(execution, execution.others.size() - 1);
    leave(execution, execution.calls.size());
    leave_root(execution);
    count_open_calls(execution, -1);
    running_ = nullptr;
}

void CallTracker::abandon(Execution& execution) {
    const std::size_t asked_before = requests_.size();
    leave_all(execution);
    requests_.resize(asked_before);
    execution.context = nullptr;
    execution.charged_site = {};
    execution.last = nullptr;
    execution.last_exit = nullptr;
}

void CallTracker::settle(Execution& execution) {
    settle_stack(execution);
    for (const auto& other : execution.others) settle_stack(*other);
}

void CallTracker::settle_stack(CallStack& stack) {
    for (const OpenCall& open : stack.calls) {
        if (open.arc != kNoArc) add_running(arcs_.costs(open.arc), stack.running);
    }
    if (context_tree_ != nullptr) charge_path(stack);
    if (core_costs_ != nullptr) core_costs_->add_running(stack.core, stack.running, &stack.counted);
    stack.running = {};
    stack.counted = {};
    stack.path.charged = {};
}

void CallTracker::move_to(Execution& execution, std::uint32_t core) {
    if (execution.core == core) return;
    const auto move = [&](CallStack& stack) {
        core_costs_->add_running(stack.core, stack.running, &stack.counted);
        stack.core = core;
    };
    move(execution);
    for (const auto& other : execution.others) move(*other);
}

void CallTracker::switch_to(Execution& execution) {
    if (running_ != nullptr) count_open_calls(*running_, -1);
    count_open_calls(execution, 1);
    running_ = &execution;
}

void CallTracker::count_open_calls(const CallStack& stack, int by) {
    if (stack.context == nullptr) return;
    const auto count = [this, by](const Context& context) {
        open_calls_[context.function().id] += static_cast<std::uint32_t>(by);
    };
    const Context* context = stack.context;
    for (auto call = stack.calls.rbegin(); call != stack.calls.rend(); ++call) {
        if (call->arc != kNoArc && is_deeper(call->caller->function(), context->function())) count(*context);
        context = call->caller;
    }
    count(*context);
}

}  // namespace bd
