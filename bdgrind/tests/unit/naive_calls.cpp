// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_calls.h"

#include <utility>
#include <vector>

namespace bd::test {

void NaiveCalls::mark(const Scenario::Record& record) {
    const Address value = record.values[0];
    switch (record.marker) {
        case Marker::kThread:
            thread_ = value;
            begin(value);
            break;
        case Marker::kThreadEnd:
            executions_[value].clear();
            break;
        case Marker::kSignalEnter: {
            begin(value);
            NaiveExecution handler;
            handler.thread = value;
            handler.signal = std::exchange(signal_, 0);
            handler.collecting = collect_at_start_;
            handler.is_handler = true;
            handler.lowest = record.values[1];
            handler.highest = record.values[2];
            executions_[value].push_back(handler);
            break;
        }
        case Marker::kSignalLeave:
            if (executions_[value].size() > 1) executions_[value].pop_back();
            break;
        case Marker::kCollect:
            collect_at_start_ = value != 0;
            for (auto& [thread, executions] : executions_) {
                for (NaiveExecution& each : executions) each.collecting = collect_at_start_;
            }
            break;
        case Marker::kToggleCollect: {
            begin(value);
            bool& collecting = executions_[value].back().collecting;
            collecting = !collecting;
            break;
        }
        case Marker::kStop:
            stop();
            break;
        case Marker::kSignal:
            begin(value);
            signal_ = record.values[1];
            break;
        default:  // nothing to do with calls
            break;
    }
}

// What is open is not known any more.
void NaiveCalls::stop() {
    for (auto& [thread, executions] : executions_) {
        for (NaiveExecution& each : executions) {
            for (Stack& other : each.others) drop(each, other);
            each.others.clear();
            drop(each, each);
            each.last.reset();
        }
    }
}

void NaiveCalls::begin(Address thread) {
    if (!executions_[thread].empty()) return;
    executions_[thread].push_back({});
    executions_[thread].back().thread = thread;
    executions_[thread].back().collecting = collect_at_start_;
}

std::optional<Site> NaiveCalls::go_to(const Scenario::Record& record, unsigned long time) {
    now_ = time;
    const std::size_t handlers = executions_[thread_].size();
    const std::optional<Site> last = execution().last;
    changes_ = 0;
    find_calls(record);
    return changes_ == 0 && handlers == executions_[thread_].size() ? last : std::nullopt;
}

// --- Triggers: only a function's outermost call in an execution counts. Dumps change nothing: all parts together
// --- are what is asked for.

void NaiveCalls::entered(NaiveExecution& execution, unsigned function) {
    const FunctionTriggers& triggers = scenario_.functions[function].triggers;
    if (execution.open[function]++ != 0) return;
    if (triggers.zero_before && !triggers.dump_before) zero_();
    if (triggers.toggle_collect) execution.collecting = !execution.collecting;
}

void NaiveCalls::left(NaiveExecution& execution, unsigned function) {
    if (--execution.open[function] != 0) return;
    if (scenario_.functions[function].triggers.toggle_collect) execution.collecting = !execution.collecting;
}

void NaiveCalls::leave_root(NaiveExecution& execution, Stack& stack) {
    if (stack.root) left(execution, *stack.root);
    stack.root.reset();
}

// A stack is over.
void NaiveCalls::drop(NaiveExecution& execution, Stack& stack) {
    while (!stack.calls.empty()) leave(execution, stack);
    leave_root(execution, stack);
}

// --- Calls: docs/simulation.md, rules 15 to 21 ----------------------------------------------------------

void NaiveCalls::find_calls(const Scenario::Record& record) {
    const Scenario::Block& block = scenario_.blocks[record.block];
    const Address stack_pointer = record.stack_pointer;

    // 21. Out of a handler by a jump: what it interrupted goes on.
    bool left_handler = false;
    if (!execution().can_have(stack_pointer)) {
        left_handler = true;
        while (!execution().can_have(stack_pointer)) executions_[thread_].pop_back();
    }
    NaiveExecution& now = execution();
    if (!now.last) {
        begin_at_root(now, record);
        return;
    }
    if (is_on_another_stack(now, record, left_handler ? JumpKind::kJump : exit_of(*now.last).jump)) return;
    now.stack_pointer = stack_pointer;
    if (left_handler) {
        go_back_to_caller(now, block, stack_pointer);
        leave_above(now, stack_pointer);
        return;
    }

    JumpKind jump = exit_of(*now.last).jump;
    bool return_without_call = false;
    if (jump == JumpKind::kReturn) {
        // 20.
        if (now.calls.empty()) {
            begin_at_root(now, record);
            return;
        }
        // 16.
        if (stack_pointer > now.calls.back().stack_pointer) {
            if (block.function != now.context.function) go_back_to_caller(now, block, stack_pointer);
            leave_above(now, stack_pointer);
            begin_if_root_left(now, record);
            return;
        }
        for (std::size_t i = now.calls.size(); i-- > 0 && now.calls[i].stack_pointer == stack_pointer;) {
            if (now.calls[i].return_address != block.address) continue;
            while (now.calls.size() > i) leave(now, now);
            begin_if_root_left(now, record);
            return;
        }
        if (block.function != now.context.function && go_back_to_caller(now, block, stack_pointer)) {
            begin_if_root_left(now, record);
            return;
        }
        jump = JumpKind::kJump;
        return_without_call = block.function != now.context.function || block.is_entry || now.charged_site;
    }

    // 18.
    const bool left_any = leave_above(now, stack_pointer);
    const Scenario::Block& from = block_of(*now.last);
    const Scenario::Exit& exit = exit_of(*now.last);
    if (jump == JumpKind::kCall) {
        call(now, record.block, *now.last, stack_pointer, from.instruction_address(exit.instructions));
        return;
    }
    if (left_any) return;

    // 17.
    const bool repeats = from.instruction_address(exit.instructions - 1) == block.address;
    const auto object_of = [&](const Scenario::Block& each) { return scenario_.functions[each.function].object; };
    const bool elsewhere = object_of(from) != object_of(block) || from.section != block.section;
    if (!return_without_call && !elsewhere && (!block.is_entry || repeats)) return;
    // 19.
    Site site = *now.last;
    if (scenario_.functions[now.context.function].left_by_jump && !now.calls.empty() && !now.charged_site) {
        const ArcKey& arc = *now.calls.back().arc;
        site = {arc.block, arc.context, arc.exit};
        leave(now, now);
    }
    call(now, record.block, site, now.calls.empty() ? stack_pointer : now.calls.back().stack_pointer, {});
}

// 20. By the return of a tail call.
void NaiveCalls::begin_if_root_left(NaiveExecution& execution, const Scenario::Record& record) {
    const bool elsewhere = scenario_.blocks[record.block].function != execution.context.function;
    if (execution.calls.empty() && record.stack_pointer > execution.base && elsewhere) {
        begin_at_root(execution, record);
    }
}

void NaiveCalls::begin_at_root(NaiveExecution& execution, const Scenario::Record& record) {
    const Scenario::Block& block = scenario_.blocks[record.block];
    ++changes_;
    leave_root(execution, execution);
    execution.context = {block.function};
    execution.charged_site.reset();
    execution.base = record.stack_pointer;
    execution.stack_pointer = record.stack_pointer;
    execution.root_scope = {now_};
    execution.root_flow = {};
    if (block.is_entry) {
        execution.root = block.function;
        entered(execution, block.function);
    }
}

void NaiveCalls::call(NaiveExecution& execution, unsigned callee, Site site, Address stack_pointer,
          std::optional<Address> return_address) {
    ++changes_;
    if (execution.charged_site) site = *execution.charged_site;
    const unsigned function = scenario_.blocks[callee].function;
    if (!return_address && !scenario_.functions[function].skipped) {
        leave_repeated(execution,
                       ArcKey{site.block, site.context, site.exit, callee, context_of_callee(execution, function)},
                       stack_pointer);
    }
    Call call{stack_pointer, return_address, {}, execution.context, execution.charged_site,
              function,      ++calls_made_};
    call.behind = block_of(site).instruction_address(exit_of(site).instructions);
    call.scope.entered = now_;
    entered(execution, function);
    if (scenario_.functions[function].skipped) {
        execution.charged_site = site;
    } else {
        execution.charged_site.reset();
        execution.context = context_of_callee(execution, function);
        call.arc = ArcKey{site.block, site.context, site.exit, callee, execution.context};
    }
    execution.calls.push_back(call);
    if (call.arc) called_(execution);
}

// 17. A tail call is not open twice.
void NaiveCalls::leave_repeated(NaiveExecution& execution, const ArcKey& arc, Address stack_pointer) {
    for (std::size_t i = execution.calls.size(); i-- > 0;) {
        const Call& call = execution.calls[i];
        if (call.return_address || call.stack_pointer != stack_pointer) return;
        if (call.arc != arc) continue;
        while (execution.calls.size() > i) leave(execution, execution);
        return;
    }
}

// The context of a function that is called now.
ContextKey NaiveCalls::context_of_callee(const Stack& stack, unsigned function) {
    const unsigned caller = stack.context.function;
    if (caller == function && scenario_.skip_direct_recursion) return stack.context;
    // The functions that are open, from the root on.
    std::vector<unsigned> open{stack.calls.empty() ? caller : stack.calls[0].caller_context.function};
    unsigned level = open[0] == function ? 2 : 1;
    for (const Call& call : stack.calls) {
        if (!call.arc) continue;
        const unsigned callee = call.arc->callee_context.function;
        const bool direct = callee == call.caller_context.function;
        if (callee == function && !(direct && scenario_.skip_direct_recursion)) ++level;
        if (!direct) open.push_back(callee);
    }
    if (open.back() == function) open.pop_back();
    ContextKey context{function, std::min(level, scenario_.functions[function].recursion_levels)};
    while (!open.empty() && context.callers.size() < scenario_.functions[function].caller_count) {
        context.callers.push_back(open.back());
        open.pop_back();
    }
    return context;
}

void NaiveCalls::leave(NaiveExecution& execution, Stack& stack) {
    ++changes_;
    stack.context = stack.calls.back().caller_context;
    stack.charged_site = stack.calls.back().caller_charged_site;
    const unsigned function = stack.calls.back().function;
    const Address behind = stack.calls.back().behind;
    stack.calls.pop_back();
    stack.scope().passed.push_back({behind, now_});
    left(execution, function);
}

// 18. A call that took nothing of the stack has been left if its caller goes on, though not behind a call that is
// left anyway.
bool NaiveCalls::go_back_to_caller(NaiveExecution& execution, const Scenario::Block& block, Address stack_pointer) {
    if (block.is_entry) return false;
    std::size_t first = execution.calls.size();
    for (; first > 0 && execution.calls[first - 1].stack_pointer < stack_pointer; --first) {
        if (execution.calls[first - 1].return_address == block.address) return false;
    }
    for (; first > 0 && execution.calls[first - 1].stack_pointer == stack_pointer; --first) {
        const Call& call = execution.calls[first - 1];
        if (!call.return_address || call.caller_context.function != block.function) continue;
        while (execution.calls.size() >= first) leave(execution, execution);
        return true;
    }
    return false;
}

bool NaiveCalls::leave_above(NaiveExecution& execution, Address stack_pointer) {
    bool any = false;
    while (!execution.calls.empty() && execution.calls.back().stack_pointer < stack_pointer) {
        leave(execution, execution);
        any = true;
    }
    return any;
}

}  // namespace bd::test
