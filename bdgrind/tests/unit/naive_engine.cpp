// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_engine.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/sharing/coherence_marks.h"
#include "naive_branches.h"
#include "naive_caches.h"
#include "naive_execution.h"
#include "naive_objects.h"

namespace bd::test {
namespace {

class NaiveEngine {
public:
    NaiveEngine(const Scenario& scenario, const std::optional<PathRules>& paths, unsigned object_depth, bool why,
                std::uint64_t whole_reuses)
        : scenario_(scenario), paths_(paths), objects_(scenario, object_depth), whole_reuses_(whole_reuses),
          caches_(scenario.caches, scenario.prefetch, why,
                  [this](Address address, bool is_data) { return loader_of(address, is_data); },
                  [this](Event event, std::uint64_t cost, const ChargeTarget& target) {
                      charge(event, cost, target);
                  },
                  [this](Address begin, Address bytes, const NaiveCaches::Touched& used, const ChargeTarget& loader) {
                      count_patterns(begin, bytes, used, loader);
                      count_stays(begin, bytes, used, loader);
                  }) {
        if (why) caches_.on_data([this](const NaiveCaches::DataTouch& touch) { on_data(touch); });
    }

    void run(const Scenario::Record& record) {
        ++now_;
        if (record.is_marker) {
            mark(record);
            return;
        }
        on_indirect_branch(record);
        const std::size_t handlers = executions_[thread_].size();
        const std::optional<Site> last = execution().last;
        changes_ = 0;
        find_calls(record);
        if (last && changes_ == 0 && handlers == executions_[thread_].size()) {
            on_jump(*last, record);
            on_step(*last, record);
        }
        execute(record);
        execution().last = Site{record.block, execution().context, record.exit};
    }

    RunCosts finish() {
        caches_.flush();
        costs_.stays = lines_.stays();
        return std::move(costs_);
    }

private:
    // Larger blocks are looked at in part.
    static constexpr Address kMostWhole = 65536;

    const Scenario::Block& block_of(const Site& site) const { return scenario_.blocks[site.block]; }
    const Scenario::Exit& exit_of(const Site& site) const { return block_of(site).exits[site.exit]; }
    const Scenario::Function& function_of(const Scenario::Block& block) const {
        return scenario_.functions[block.function];
    }
    NaiveExecution& execution() { return executions_[thread_].back(); }

    // --- Threads, handlers, collection ---------------------------------------------------------------------

    void mark(const Scenario::Record& record) {
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
            case Marker::kZero:
                zero();
                break;
            case Marker::kStop:
                caches_.flush();
                for (auto& [thread, executions] : executions_) {
                    for (NaiveExecution& each : executions) {
                        for (Stack& other : each.others) drop(each, other);
                        each.others.clear();
                        drop(each, each);
                        each.last.reset();
                    }
                }
                break;
            case Marker::kSystemCall:
                begin(value);
                system_call(executions_[value].back(), record.values[1], record.values[2]);
                break;
            case Marker::kThreadCreate:  // costs nothing
                begin(value);
                break;
            case Marker::kSignal:
                begin(value);
                signal_ = record.values[1];
                break;
            case Marker::kAllocatorEntered:
            case Marker::kAllocatorLeft:
                if (has_run()) objects_.on_allocator(execution(), record);
                break;
            case Marker::kFreed:
                objects_.free(value);
                break;
            case Marker::kMapped:
                objects_.map(value, record.values[1], has_run() ? &execution() : nullptr);
                break;
            case Marker::kUnmapped:
                objects_.unmap(value, record.values[1]);
                break;
            case Marker::kCoherence:
                on_coherence(CoherenceMark::of({{record.values[0], record.values[1], record.values[2]}}));
                break;
            case Marker::kCoreUse:  // costs nothing
            case Marker::kCount:
                break;
        }
    }

    bool has_run() { return !executions_[thread_].empty() && execution().last; }

    // A thread that is not known yet.
    void begin(Address thread) {
        if (!executions_[thread].empty()) return;
        executions_[thread].push_back({});
        executions_[thread].back().thread = thread;
        executions_[thread].back().collecting = collect_at_start_;
    }

    // By the instruction that ended the latest block.
    void system_call(const NaiveExecution& execution, std::uint64_t time, std::uint64_t cpu_time) {
        if (!execution.collecting || !execution.last) return;
        const ChargeTarget charged{last_instruction(execution.charged_site ? *execution.charged_site : *execution.last),
                                   open_arcs(execution), path_of(execution)};
        charge(Event::ksysCount, 1, charged);
        charge(Event::ksysTime, time, charged);
        charge(Event::ksysCpuTime, cpu_time, charged);
    }

    // What an access of the latest block has to do with other cores: docs/simulation.md, rules 36 and 37.
    void on_coherence(const CoherenceMark& mark) {
        if (!has_run() || !execution().collecting) return;
        const Site& last = *execution().last;
        if (mark.access >= exit_of(last).accesses) return;
        const unsigned instruction = block_of(last).accesses[mark.access].instruction;
        charged_ = execution().charged_site ? last_instruction(*execution().charged_site)
                                            : InstructionKey{last.block, last.context, instruction};
        const std::string group = objects_.group_at(mark.address, execution(), executions_);
        if (mark.transferred) count(mark.is_write ? Event::kXferw : Event::kXferr, group);
        if (mark.lost) count(Event::kLost, group);
        for (unsigned i = 0; i < mark.invalidated; ++i) count(Event::kInval, group);
    }

    InstructionKey last_instruction(const Site& site) {
        return {site.block, site.context, exit_of(site).instructions - 1};
    }

    // --- Triggers: only a function's outermost call in an execution counts. Dumps change nothing: all parts together
    // --- are what is asked for.

    void entered(NaiveExecution& execution, unsigned function) {
        const FunctionTriggers& triggers = scenario_.functions[function].triggers;
        if (execution.open[function]++ != 0) return;
        if (triggers.zero_before && !triggers.dump_before) zero();
        if (triggers.toggle_collect) execution.collecting = !execution.collecting;
    }

    void zero() {
        costs_ = {};
        lines_.forget_stays();
    }

    void left(NaiveExecution& execution, unsigned function) {
        if (--execution.open[function] != 0) return;
        if (scenario_.functions[function].triggers.toggle_collect) execution.collecting = !execution.collecting;
    }

    void leave_root(NaiveExecution& execution, Stack& stack) {
        if (stack.root) left(execution, *stack.root);
        stack.root.reset();
    }

    // A stack is over.
    void drop(NaiveExecution& execution, Stack& stack) {
        while (!stack.calls.empty()) leave(execution, stack);
        leave_root(execution, stack);
    }

    // --- Calls: docs/simulation.md, rules 15 to 21 ----------------------------------------------------------

    void find_calls(const Scenario::Record& record) {
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
        const bool elsewhere =
            function_of(from).object != function_of(block).object || from.section != block.section;
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

    // The block runs on another stack than the one before; it has been entered there, then.
    bool is_on_another_stack(NaiveExecution& now, const Scenario::Record& record, JumpKind jump) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        const Address pointer = record.stack_pointer;
        const bool above = pointer > now.base + Stack::kMargin;
        bool leaves = above || goes_far_down(now, block, pointer, jump);
        for (const Stack& other : now.others) {
            if (other.base < now.base && pointer <= other.base + Stack::kMargin) leaves = true;
        }
        if (!leaves) return false;

        // Back to a stack?
        for (std::size_t i = 0; i < now.others.size(); ++i) {
            Stack& other = now.others[i];
            if (pointer > other.base + Stack::kMargin) continue;
            if (!other.has(pointer)) break;
            Stack trial = other;
            if (!resumes(now, trial, block, pointer)) {
                drop(now, trial);
                now.others.erase(now.others.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
            now.others.erase(now.others.begin() + static_cast<std::ptrdiff_t>(i));
            put_aside(now);
            static_cast<Stack&>(now) = trial;
            ++changes_;
            now.stack_pointer = pointer;
            return true;
        }
        // A new one?
        if ((above && !now.calls.empty()) || goes_far_down(now, block, pointer, jump)) {
            put_aside(now);
            static_cast<Stack&>(now) = Stack{};
            begin_at_root(now, record);
            return true;
        }
        // No, this one has grown.
        if (above) now.base = pointer;
        std::erase_if(now.others, [&](Stack& other) {
            if (other.base < pointer || now.base < other.base) return false;
            drop(now, other);
            return true;
        });
        return false;
    }

    void put_aside(NaiveExecution& now) {
        auto above = now.others.begin();
        while (above != now.others.end() && above->base < now.base) ++above;
        now.others.insert(above, static_cast<const Stack&>(now));
    }

    // Leaves the calls that are not open any more if `stack` goes on with `block`, and tells whether it can.
    bool resumes(NaiveExecution& execution, Stack& stack, const Scenario::Block& block, Address pointer) {
        std::optional<Address> return_address;
        while (!stack.calls.empty() && stack.calls.back().stack_pointer < pointer) {
            return_address = stack.calls.back().return_address;
            leave(execution, stack);
        }
        for (std::size_t i = 0; i < stack.calls.size(); ++i) {
            if (stack.calls[i].stack_pointer != pointer || stack.calls[i].return_address != block.address) continue;
            while (stack.calls.size() > i) leave(execution, stack);
            return true;
        }
        return return_address == block.address || stack.context.function == block.function;
    }

    bool goes_far_down(const Stack& now, const Scenario::Block& block, Address pointer, JumpKind jump) {
        if (jump == JumpKind::kReturn) return pointer + Stack::kMargin < now.stack_pointer;
        return jump == JumpKind::kJump && pointer + 16384 < now.stack_pointer && block.is_entry &&
               block.function != now.context.function;
    }

    // 20. By the return of a tail call.
    void begin_if_root_left(NaiveExecution& execution, const Scenario::Record& record) {
        const bool elsewhere = scenario_.blocks[record.block].function != execution.context.function;
        if (execution.calls.empty() && record.stack_pointer > execution.base && elsewhere) {
            begin_at_root(execution, record);
        }
    }

    void begin_at_root(NaiveExecution& execution, const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        ++changes_;
        leave_root(execution, execution);
        execution.context = {block.function};
        execution.charged_site.reset();
        execution.base = record.stack_pointer;
        execution.stack_pointer = record.stack_pointer;
        execution.root_scope = {now_};
        if (block.is_entry) {
            execution.root = block.function;
            entered(execution, block.function);
        }
    }

    void call(NaiveExecution& execution, unsigned callee, Site site, Address stack_pointer,
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
            if (execution.collecting) ++costs_.arcs[*call.arc].calls;
        }
        execution.calls.push_back(call);
        if (paths_ && call.arc && execution.collecting) ++costs_.paths[path_of(execution)].calls;
    }

    // 17. A tail call is not open twice.
    void leave_repeated(NaiveExecution& execution, const ArcKey& arc, Address stack_pointer) {
        for (std::size_t i = execution.calls.size(); i-- > 0;) {
            const Call& call = execution.calls[i];
            if (call.return_address || call.stack_pointer != stack_pointer) return;
            if (call.arc != arc) continue;
            while (execution.calls.size() > i) leave(execution, execution);
            return;
        }
    }

    // What a function that is called now is kept apart by.
    ContextKey context_of_callee(const Stack& stack, unsigned function) {
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

    void leave(NaiveExecution& execution, Stack& stack) {
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
    bool go_back_to_caller(NaiveExecution& execution, const Scenario::Block& block, Address stack_pointer) {
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

    bool leave_above(NaiveExecution& execution, Address stack_pointer) {
        bool any = false;
        while (!execution.calls.empty() && execution.calls.back().stack_pointer < stack_pointer) {
            leave(execution, execution);
            any = true;
        }
        return any;
    }

    // --- Branches ------------------------------------------------------------------------------------------

    // The latest block of this execution may have ended in a jump to an address that was computed: to this one.
    void on_indirect_branch(const Scenario::Record& record) {
        const std::optional<Site>& last = execution().last;
        if (!last || exit_of(*last).branch != Branch::kIndirect) return;
        charged_ = last_instruction(execution().charged_site ? *execution().charged_site : *last);
        const Address branch = block_of(*last).instruction_address(exit_of(*last).instructions - 1);
        const Address target = scenario_.blocks[record.block].address;
        count(Event::kBi);
        if (branches_.mispredicts_indirect(branch, target)) count(Event::kBim);
    }

    // From where the latest block of this execution ended: neither a call nor a return.
    void on_jump(const Site& from, const Scenario::Record& record) {
        if (exit_of(from).jump != JumpKind::kJump) return;
        const Address behind = block_of(from).instruction_address(exit_of(from).instructions);
        if (scenario_.blocks[record.block].address == behind) return;
        if (execution().charged_site || !execution().collecting) return;
        ++costs_.jumps[{from.block, from.context, from.exit, record.block}];
    }

    // --- Scopes and reuse: docs/simulation.md, rules 22 to 27 -----------------------------------------------

    // The latest call goes on, from the beginning of one block to that of the next.
    void on_step(const Site& from, const Scenario::Record& record) {
        const Address to = scenario_.blocks[record.block].address;
        if (to > block_of(from).address || execution().charged_site) return;
        execution().scope().jump_back(block_of(from).address, record.block, to, now_);
    }

    std::optional<ScopeKey> carrier(unsigned long last_touch) {
        NaiveExecution& now = execution();
        Address address = scenario_.blocks[running_].address;
        ContextKey context = now.context;
        for (std::size_t i = now.calls.size() + 1; i-- > 0;) {
            const NaiveScope& scope = i == 0 ? now.root_scope : now.calls[i - 1].scope;
            const bool is_shown = i == 0 || now.calls[i - 1].arc;
            if (is_shown && scope.entered <= last_touch) {
                for (auto loop = scope.loops.rbegin(); loop != scope.loops.rend(); ++loop) {
                    if (loop->entered <= last_touch && loop->has(address)) return ScopeKey{context, loop->begin};
                }
                return ScopeKey{context, {}};
            }
            if (i == 0) return {};
            address = now.calls[i - 1].behind;
            context = now.calls[i - 1].caller_context;
        }
        return {};
    }

    void on_data(const NaiveCaches::DataTouch& touch) {
        const bool collecting = execution().collecting;
        if (touch.absent) {
            ReuseKey key =
                lines_.load(touch.line, touch.evicted, collecting ? std::optional(charged_) : std::nullopt);
            if (!touch.distance) {
                key = {key.missed, {}, {}, {}, "first touch"};
            } else {
                key.scope = carrier(lines_.last_touch(touch.line));
                key.cause = *touch.distance < scenario_.caches.d1.lines() ? "conflict" : "capacity";
            }
            if (collecting) count_reuse(key, touch);
        }
        lines_.touch(touch.line, now_);
    }

    // Once many lines have been loaded, one in eight stands for all that had been touched before.
    void count_reuse(const ReuseKey& key, const NaiveCaches::DataTouch& touch) {
        const bool counts_all = loaded_lines_++ < whole_reuses_ || !touch.distance;
        const bool is_one_in_eight = touch.line * 11400714819323198485u < std::uint64_t{1} << 61;
        if (!counts_all && !is_one_in_eight) return;
        const unsigned times = counts_all ? 1 : 8;
        ReuseCounts& counts = costs_.reuses[key];
        counts.misses += times;
        counts.ll_misses += touch.missed_last ? times : 0;
        counts.distance += times * touch.distance.value_or(0);
    }

    void count_stays(Address begin, Address bytes, const NaiveCaches::Touched& used, const ChargeTarget& loader) {
        for (Address first = 0; first < bytes; first += 64) {
            std::string text;
            for (Address byte = first; byte < std::min(bytes, first + 64); ++byte) text += used[byte] ? '#' : '.';
            lines_.leave(begin + first, text, loader.instruction);
        }
    }

    // The instruction at `branch` branched, or did not.
    void on_conditional_branch(Address branch, bool taken) {
        count(Event::kBc);
        if (branches_.mispredicts_conditional(branch, taken)) count(Event::kBcm);
    }

    // --- What a block does ---------------------------------------------------------------------------------

    void execute(const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        const Scenario::Exit& exit = block.exits[record.exit];
        running_ = record.block;
        unsigned access = 0;
        for (unsigned i = 0; i < exit.instructions; ++i) {
            charged_ = execution().charged_site ? last_instruction(*execution().charged_site)
                                                : InstructionKey{record.block, execution().context, i};
            count(Event::kIr);
            const auto fetch = caches_.fetch(block.instruction_address(i), block.instruction_sizes[i]);
            if (fetch.first) count(Event::kI1mr, fetch.group);
            if (fetch.last) count(Event::kILmr, fetch.group);
            if (fetch.dirty) count(Event::kILdmr, fetch.group);
            count_cause(fetch.first_causes, Event::kI1first, Event::kI1conf, fetch.group);
            count_cause(fetch.last_causes, Event::kILfirst, Event::kILconf, fetch.group);
            for (; access < exit.accesses && block.accesses[access].instruction == i; ++access) {
                const Scenario::Access& what = block.accesses[access];
                if (what.kind == AccessKind::kBus) count(Event::kGe);
                if (what.guarded && record.addresses[access] == 0) continue;
                const bool read = what.kind == AccessKind::kRead;
                count(read ? Event::kDr : Event::kDw);
                const auto data = caches_.access(record.addresses[access], what.size, !read);
                if (data.first) count(read ? Event::kD1mr : Event::kD1mw, data.group);
                if (data.last) count(read ? Event::kDLmr : Event::kDLmw, data.group);
                if (data.dirty) count(read ? Event::kDLdmr : Event::kDLdmw, data.group);
                count_cause(data.first_causes, Event::kD1first, Event::kD1conf, data.group);
                count_cause(data.last_causes, Event::kDLfirst, Event::kDLconf, data.group);
                count_distances(data.lines);
            }
            for (unsigned e = 0; e <= record.exit; ++e) {
                const Branch branch = block.exits[e].branch;
                if (block.exits[e].instructions != i + 1) continue;
                if (branch != Branch::kTaken && branch != Branch::kNotTaken) continue;
                const bool passed_by = e != record.exit;
                on_conditional_branch(block.instruction_address(i), (branch == Branch::kTaken) != passed_by);
            }
        }
    }

    std::vector<ArcKey> open_arcs(const NaiveExecution& execution) {
        std::vector<ArcKey> arcs;
        for (const Call& call : execution.calls) {
            if (call.arc) arcs.push_back(*call.arc);
        }
        return arcs;
    }

    // --- Paths: docs/contexts.md ----------------------------------------------------------------------------

    PathKey path_of(const NaiveExecution& execution) const {
        PathKey path{execution.thread, execution.is_handler, execution.signal};
        if (!paths_) return path;
        path.steps.push_back({execution.calls.empty() ? execution.context : execution.calls[0].caller_context});
        for (const Call& call : execution.calls) {
            if (!call.arc) continue;
            const Scenario::Block& block = scenario_.blocks[call.arc->block];
            const unsigned caller = block.exits[call.arc->exit].instructions - 1;
            const PathStep step{call.arc->callee_context, paths_->by_site ? block.instruction_address(caller) : 0};
            const auto same = std::ranges::find(path.steps, step.context, &PathStep::context);
            if (paths_->folded && same != path.steps.end()) {
                path.steps.erase(same + 1, path.steps.end());
            } else {
                path.steps.push_back(step);
            }
        }
        return path;
    }

    void count(Event event, const std::string& group = {}) {
        if (execution().collecting) charge(event, 1, {charged_, open_arcs(execution()), path_of(execution()), group});
    }

    // A first touch of any line counts most, conflicts least; capacity is what is left.
    void count_cause(const NaiveCaches::Causes& causes, Event first, Event conflict, const std::string& group) {
        if (causes.first) {
            count(first, group);
        } else if (causes.conflict && !causes.capacity) {
            count(conflict, group);
        }
    }

    void count_distances(const std::vector<NaiveCaches::MissedLine>& lines) {
        if (!execution().collecting) return;
        for (const NaiveCaches::MissedLine& line : lines) {
            unsigned bucket = 0;
            if (line.distance) {
                // The greatest one whose quarter power of two, 2^((bucket - 1) / 4), is not above the distance.
                using Wide = unsigned __int128;
                const Wide number = *line.distance == 0 ? 1 : *line.distance;
                while (Wide{1} << bucket <= number * number * number * number) ++bucket;
            }
            const auto add = [&](DistanceCounts& counts) {
                ++counts.misses;
                if (line.last) ++counts.last_misses;
            };
            add(costs_.distances[{charged_, bucket}]);
            if (!line.group.empty()) add(costs_.object_distances[{line.group, bucket}]);
            if (!paths_) continue;
            // Each function on the path once, and each that one of them has called there.
            const std::vector<PathStep> steps = path_of(execution()).steps;
            std::set<std::pair<ContextKey, std::optional<ContextKey>>> open;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                open.insert({steps[i].context, {}});
                if (i > 0) open.insert({steps[i - 1].context, steps[i].context});
            }
            for (const auto& [function, callee] : open) add(costs_.inclusive_distances[{function, callee, bucket}]);
        }
    }

    void count_patterns(Address begin, Address bytes, const NaiveCaches::Touched& used, const ChargeTarget& loader) {
        const auto is_used = [&](Address address) { return used[address - begin]; };
        for (const NaiveObjects::Pattern& each : objects_.patterns_of(begin, bytes, is_used, loader.group)) {
            const PatternKey key{each.group, loader.instruction, each.offset, each.used};
            if (each.may_be_forgotten) {
                ++costs_.forgettable_patterns[key];
            } else if (each.block_size > kMostWhole) {
                ++costs_.large_patterns[{each.block_size, key}];
            } else {
                ++costs_.patterns[key];
            }
        }
    }

    void charge(Event event, std::uint64_t cost, const ChargeTarget& target) {
        if (cost == 0) return;
        if (!target.group.empty()) costs_.objects[{target.group, target.instruction}][column(event)] += cost;
        if (paths_) costs_.paths[target.path].self[column(event)] += cost;
        costs_.totals[column(event)] += cost;
        costs_.self[target.instruction][column(event)] += cost;
        for (const ArcKey& arc : target.chain) costs_.arcs[arc].inclusive[column(event)] += cost;
    }

    std::optional<ChargeTarget> loader_of(Address address, bool is_data) {
        const NaiveExecution& now = execution();
        if (!now.collecting) return {};
        return ChargeTarget{charged_, open_arcs(now), path_of(now),
                            is_data ? objects_.group_at(address, now, executions_)
                                    : objects_.group_of_code(scenario_.blocks[running_])};
    }

    const Scenario& scenario_;
    const std::optional<PathRules> paths_;
    NaiveObjects objects_;
    std::uint64_t whole_reuses_;
    std::uint64_t loaded_lines_ = 0;  // that were charged
    NaiveBranches branches_;
    NaiveCaches caches_;
    NaiveLines lines_;
    unsigned long now_ = 0;  // the number of the record
    unsigned long calls_made_ = 0;
    unsigned running_ = 0;  // the block
    Executions executions_;
    Address thread_ = 0;
    bool collect_at_start_ = true;  // of executions to come
    Address signal_ = 0;            // of the handler to come
    unsigned changes_ = 0;  // calls, returns and changes of stacks, before the latest block
    InstructionKey charged_{};  // the instruction that runs, or is charged for it
    RunCosts costs_;
};

}  // namespace

RunCosts run_naively(const Scenario& scenario, std::size_t records, const std::optional<PathRules>& paths,
                     unsigned object_depth, bool why, std::uint64_t whole_reuses) {
    NaiveEngine engine(scenario, paths, object_depth, why, whole_reuses);
    for (std::size_t i = 0; i < records; ++i) engine.run(scenario.records[i]);
    return engine.finish();
}

}  // namespace bd::test
