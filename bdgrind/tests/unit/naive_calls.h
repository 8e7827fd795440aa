// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which calls are open, in the most literal way (docs/simulation.md, rules 15 to 21), and what triggers set off.

#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "naive_execution.h"
#include "scenario.h"

namespace bd::test {

class NaiveCalls {
public:
    // `called`: a call that is shown has been opened, as the latest of an execution. `zero`: a trigger asks for that.
    using Called = std::function<void(const NaiveExecution& execution)>;
    using Zero = std::function<void()>;

    NaiveCalls(const Scenario& scenario, Called called, Zero zero)
        : scenario_(scenario), called_(std::move(called)), zero_(std::move(zero)) {}

    // What a marker says of threads, handlers and collection; nothing else.
    void mark(const Scenario::Record& record);
    // A thread that is not known yet.
    void begin(Address thread);

    // Before the block of `record` runs, at `time`. Returns where the execution's latest block ended, if the same call
    // goes on from there.
    std::optional<Site> go_to(const Scenario::Record& record, unsigned long time);
    // The block has run.
    void ran(const Scenario::Record& record) {
        execution().last = Site{record.block, execution().context, record.exit};
    }

    bool has_run() { return !executions_[thread_].empty() && execution().last; }
    NaiveExecution& execution() { return executions_[thread_].back(); }
    NaiveExecution& execution_of(Address thread) { return executions_[thread].back(); }
    const Executions& executions() const { return executions_; }

    const Scenario::Block& block_of(const Site& site) const { return scenario_.blocks[site.block]; }
    const Scenario::Exit& exit_of(const Site& site) const { return block_of(site).exits[site.exit]; }
    InstructionKey last_instruction(const Site& site) const {
        return {site.block, site.context, exit_of(site).instructions - 1};
    }

private:
    void stop();
    void entered(NaiveExecution& execution, unsigned function);
    void left(NaiveExecution& execution, unsigned function);
    void leave_root(NaiveExecution& execution, Stack& stack);
    void drop(NaiveExecution& execution, Stack& stack);
    void find_calls(const Scenario::Record& record);
    bool is_on_another_stack(NaiveExecution& now, const Scenario::Record& record, JumpKind jump);
    void put_aside(NaiveExecution& now);
    bool resumes(NaiveExecution& execution, Stack& stack, const Scenario::Block& block, Address pointer);
    bool goes_far_down(const Stack& now, const Scenario::Block& block, Address pointer, JumpKind jump);
    void begin_if_root_left(NaiveExecution& execution, const Scenario::Record& record);
    void begin_at_root(NaiveExecution& execution, const Scenario::Record& record);
    void call(NaiveExecution& execution, unsigned callee, Site site, Address stack_pointer,
              std::optional<Address> return_address);
    void leave_repeated(NaiveExecution& execution, const ArcKey& arc, Address stack_pointer);
    ContextKey context_of_callee(const Stack& stack, unsigned function);
    void leave(NaiveExecution& execution, Stack& stack);
    bool go_back_to_caller(NaiveExecution& execution, const Scenario::Block& block, Address stack_pointer);
    bool leave_above(NaiveExecution& execution, Address stack_pointer);

    const Scenario& scenario_;
    const Called called_;
    const Zero zero_;
    unsigned long now_ = 0;
    unsigned long calls_made_ = 0;
    unsigned changes_ = 0;  // calls, returns and changes of stacks, before the latest block
    Executions executions_;
    Address thread_ = 0;
    bool collect_at_start_ = true;  // of executions to come
    Address signal_ = 0;            // of the handler to come
};

}  // namespace bd::test
