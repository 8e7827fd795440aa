// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_engine.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bd::test {
namespace {

struct Site {
    unsigned block;
    ContextKey context;
    unsigned exit;
};

struct Call {
    Address stack_pointer;
    std::optional<Address> return_address;
    std::optional<ArcKey> arc;  // none: the callee is skipped
    ContextKey caller_context;
    std::optional<Site> caller_charged_site;
    unsigned function;  // that was called
    unsigned long number;  // no other call has it
};

// A call of a function that allocates.
struct Allocation {
    unsigned long call;
    Address stack_pointer;
    unsigned function;
    Address arguments[3];
    std::string group;
    Address allocated = 0;
};

struct HeapBlock {
    Address base;
    Address size;
    std::string group;
};

// What runs on one stack.
struct Stack {
    std::vector<Call> calls;
    ContextKey context{};
    std::optional<Site> charged_site;  // while a skipped function runs: the call that is charged for it
    std::optional<Site> last;   // the latest block, in its context, and its exit
    std::optional<unsigned> root;  // the function that it began with, where it did with its first block
    Address base = 0;           // the stack pointer of the root
    Address stack_pointer = 0;  // at the start of the latest block

    static constexpr Address kMargin = 1024;
    bool has(Address pointer) const {
        return stack_pointer <= pointer + kMargin && pointer <= base + kMargin;
    }
};

// A thread, or a signal handler on it.
struct Execution : Stack {
    Address thread = 0;
    bool is_handler = false;
    Address signal = 0;
    Address lowest = 0;  // where the stack pointer may be while a handler runs
    Address highest = 0;
    std::vector<Stack> others;  // that it ran on before, lowest base first
    bool collecting = true;
    std::map<unsigned, unsigned> open;  // how many calls of a function are, on all stacks
    std::vector<Allocation> allocations;  // the outermost first

    bool can_have(Address pointer) const {
        return !is_handler || (lowest <= pointer && pointer <= highest);
    }
};

struct Line {
    Address number;
    std::uint64_t accesses = 0;
    std::bitset<256> touched{};
    bool collected = false;
    bool dirty = false;
    bool is_data = false;  // an access to data loaded it, not a fetch
    InstructionKey loader{};
    std::vector<ArcKey> chain{};
    PathKey path{};
    std::string group{};  // of the byte that it was loaded for
};

// Every set is a list, most recently used line first.
struct Cache {
    explicit Cache(const CacheGeometry& geometry)
        : line_bytes(geometry.line_bytes), ways(geometry.ways),
          sets(geometry.size_bytes / geometry.line_bytes / geometry.ways) {}

    std::list<Line>& set_of(Address number) { return sets[number % sets.size()]; }

    Line* find(Address number) {
        for (Line& line : set_of(number)) {
            if (line.number == number) return &line;
        }
        return nullptr;
    }
    // Makes a line the most recently used one, if it is there.
    Line* use(Address number) {
        std::list<Line>& set = set_of(number);
        for (auto line = set.begin(); line != set.end(); ++line) {
            if (line->number != number) continue;
            set.splice(set.begin(), set, line);
            return &set.front();
        }
        return nullptr;
    }

    Address line_bytes;
    std::size_t ways;
    std::vector<std::list<Line>> sets;
};

class NaiveEngine {
public:
    NaiveEngine(const Scenario& scenario, const std::optional<PathRules>& paths, unsigned object_depth)
        : scenario_(scenario), paths_(paths), object_depth_(object_depth),
          i1_(scenario.caches.i1), d1_(scenario.caches.d1), ll_(scenario.caches.ll) {}

    void run(const Scenario::Record& record) {
        if (record.is_marker) {
            mark(record);
            return;
        }
        on_indirect_branch(record);
        const std::size_t handlers = executions_[thread_].size();
        const std::optional<Site> last = execution().last;
        changes_ = 0;
        find_calls(record);
        if (last && changes_ == 0 && handlers == executions_[thread_].size()) on_jump(*last, record);
        execute(record);
        execution().last = Site{record.block, execution().context, record.exit};
    }

    RunCosts finish() {
        flush();
        return std::move(costs_);
    }

private:
    void flush() {
        for (Cache* cache : {&i1_, &d1_}) {
            for (auto& set : cache->sets) {
                while (!set.empty()) evict_first(*cache, set);
            }
        }
        for (auto& set : ll_.sets) {
            while (!set.empty()) evict_last(set);
        }
        streams_.clear();
    }

    const Scenario::Block& block_of(const Site& site) const { return scenario_.blocks[site.block]; }
    const Scenario::Exit& exit_of(const Site& site) const { return block_of(site).exits[site.exit]; }
    const Scenario::Function& function_of(const Scenario::Block& block) const {
        return scenario_.functions[block.function];
    }
    Execution& execution() { return executions_[thread_].back(); }

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
                Execution handler;
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
                    for (Execution& each : executions) each.collecting = collect_at_start_;
                }
                break;
            case Marker::kToggleCollect: {
                begin(value);
                bool& collecting = executions_[value].back().collecting;
                collecting = !collecting;
                break;
            }
            case Marker::kZero:
                costs_ = {};
                break;
            case Marker::kStop:
                flush();
                for (auto& [thread, executions] : executions_) {
                    for (Execution& each : executions) {
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
                if (has_run()) mark_allocator(execution(), record);
                break;
            case Marker::kMapped:
                unmap(value, record.values[1]);
                mapped_.push_back({value, record.values[1] - value,
                                   has_run() && object_depth_ != 0 ? mapping_group(execution()) : "mapping "});
                break;
            case Marker::kUnmapped:
                unmap(value, record.values[1]);
                break;
            case Marker::kCount:
                break;
        }
    }

    // --- Data objects: docs/objects.md. Blocks do not overlap, unless one lies within another.

    bool has_run() { return !executions_[thread_].empty() && execution().last; }

    static const Call* open_call(const Execution& execution, const Allocation& allocation) {
        for (const Call& call : execution.calls) {
            if (call.number == allocation.call) return &call;
        }
        return nullptr;
    }

    void mark_allocator(Execution& now, const Scenario::Record& record) {
        if (object_depth_ == 0) return;
        auto& open = now.allocations;
        std::erase_if(open, [&](const Allocation& each) { return open_call(now, each) == nullptr; });
        if (record.marker == Marker::kAllocatorLeft) {
            while (!open.empty() && open.back().stack_pointer <= record.values[1]) {
                Allocation call = open.back();
                open.pop_back();
                if (call.stack_pointer != record.values[1]) continue;
                allocate(call, record.values[0]);
                if (!open.empty()) open.back().allocated = call.allocated;
            }
            return;
        }
        const unsigned function = block_of(*now.last).function;
        const AllocatorRole& role = scenario_.functions[function].allocator;
        if (role.kind == AllocatorKind::kFrees) free(record.values[role.block - 1]);
        if (role.kind == AllocatorKind::kFrees || role.kind == AllocatorKind::kNone || now.calls.empty()) return;
        const Call& call = now.calls.back();
        std::erase_if(open, [&](const Allocation& each) { return each.call == call.number; });
        Allocation allocation{call.number, call.stack_pointer, function, {}, {}};
        for (int i = 0; i < 3; ++i) allocation.arguments[i] = record.values[i];
        allocation.group = open.empty() ? "heap " + place_of(now) : open.back().group;
        open.push_back(allocation);
    }

    void allocate(Allocation& call, Address result) {
        const AllocatorRole& role = scenario_.functions[call.function].allocator;
        if (role.kind == AllocatorKind::kWraps || result == 0 || call.allocated == result) return;
        Address size = call.arguments[role.size - 1];
        if (role.count != 0) size *= call.arguments[role.count - 1];
        if (role.block != 0) free(call.arguments[role.block - 1]);
        call.allocated = result;
        heap_.push_back({result, size, call.group});
    }

    void free(Address base) {
        std::erase_if(heap_, [base](const HeapBlock& block) { return block.base == base; });
    }

    void unmap(Address begin, Address end) {
        std::vector<HeapBlock> kept;
        for (const HeapBlock& range : mapped_) {
            const Address range_end = range.base + range.size;
            if (range.base < begin) kept.push_back({range.base, std::min(begin, range_end) - range.base, range.group});
            if (range_end > end) {
                const Address from = std::max(end, range.base);
                kept.push_back({from, range_end - from, range.group});
            }
        }
        mapped_ = kept;
    }

    std::string mapping_group(Execution& now) {
        for (const Allocation& each : now.allocations) {
            if (open_call(now, each) != nullptr) return "unused";
        }
        return "mapping " + place_of(now);
    }

    std::string name_of_instruction(const Site& site) const {
        const Address address = block_of(site).instruction_address(exit_of(site).instructions - 1);
        return " f" + std::to_string(site.context.function) + "@" + std::to_string(address);
    }

    // Where what runs was called from, and its callers.
    std::string place_of(const Execution& now) const {
        if (now.calls.empty() || !now.calls.back().arc) {
            if (!now.charged_site) return "";
            return "f" + std::to_string(block_of(*now.last).function) + name_of_instruction(*now.charged_site);
        }
        std::string place = "f" + std::to_string(now.calls.back().arc->callee_context.function);
        unsigned depth = 0;
        for (auto call = now.calls.rbegin(); call != now.calls.rend() && depth < object_depth_; ++call) {
            if (!call->arc) continue;
            place += name_of_instruction({call->arc->block, call->arc->context, call->arc->exit});
            ++depth;
        }
        return place;
    }

    static const HeapBlock* innermost(const std::vector<HeapBlock>& blocks, Address address) {
        const HeapBlock* found = nullptr;
        for (const HeapBlock& block : blocks) {
            if (address - block.base >= block.size) continue;
            if (found == nullptr || block.base > found->base) found = &block;
        }
        return found;
    }

    static std::string frame_at(const Stack& stack, Address address) {
        unsigned function = stack.calls.empty() ? stack.context.function : stack.calls[0].caller_context.function;
        for (std::size_t i = 0; i < stack.calls.size() && stack.calls[i].stack_pointer > address; ++i) {
            function = i + 1 < stack.calls.size() ? stack.calls[i + 1].caller_context.function : stack.context.function;
        }
        return "stack f" + std::to_string(function);
    }

    static bool has_on_stack(const Stack& stack, Address address) {
        return stack.last && address + 128 >= stack.stack_pointer && address < stack.base;
    }

    // Whose byte an instruction loads a line for.
    std::string group_at(Address address, bool is_data) {
        if (object_depth_ == 0) return "";
        if (!is_data) return "code object" + std::to_string(function_of(block_of_running_).object);
        const Execution& now = execution();
        if (address + 128 >= now.stack_pointer && address < now.base) return frame_at(now, address);
        if (const HeapBlock* const block = innermost(heap_, address)) return block->group;
        const HeapBlock* const range = innermost(mapped_, address);
        const bool is_below = range != nullptr ? now.stack_pointer - range->base < range->size
                                               : now.stack_pointer - address < 1 << 20;
        if (address < now.stack_pointer && is_below) return frame_at(now, address);
        for (const auto& [thread, executions] : executions_) {
            for (const Execution& each : executions) {
                if (has_on_stack(each, address)) return frame_at(each, address);
                for (const Stack& other : each.others) {
                    if (has_on_stack(other, address)) return frame_at(other, address);
                }
            }
        }
        return range != nullptr ? range->group : "unknown";
    }

    // A thread that is not known yet.
    void begin(Address thread) {
        if (!executions_[thread].empty()) return;
        executions_[thread].push_back({});
        executions_[thread].back().thread = thread;
        executions_[thread].back().collecting = collect_at_start_;
    }

    // By the instruction that ended the latest block.
    void system_call(const Execution& execution, std::uint64_t time, std::uint64_t cpu_time) {
        if (!execution.collecting || !execution.last) return;
        const InstructionKey charged =
            last_instruction(execution.charged_site ? *execution.charged_site : *execution.last);
        charge(Event::ksysCount, 1, charged, open_arcs(execution), path_of(execution));
        charge(Event::ksysTime, time, charged, open_arcs(execution), path_of(execution));
        charge(Event::ksysCpuTime, cpu_time, charged, open_arcs(execution), path_of(execution));
    }

    InstructionKey last_instruction(const Site& site) {
        return {site.block, site.context, exit_of(site).instructions - 1};
    }

    // --- Triggers: only a function's outermost call in an execution counts. Dumps change nothing: all parts together
    // --- are what is asked for.

    void entered(Execution& execution, unsigned function) {
        const FunctionTriggers& triggers = scenario_.functions[function].triggers;
        if (execution.open[function]++ != 0) return;
        if (triggers.zero_before && !triggers.dump_before) costs_ = {};
        if (triggers.toggle_collect) execution.collecting = !execution.collecting;
    }

    void left(Execution& execution, unsigned function) {
        if (--execution.open[function] != 0) return;
        if (scenario_.functions[function].triggers.toggle_collect) execution.collecting = !execution.collecting;
    }

    void leave_root(Execution& execution, Stack& stack) {
        if (stack.root) left(execution, *stack.root);
        stack.root.reset();
    }

    // A stack is over.
    void drop(Execution& execution, Stack& stack) {
        while (!stack.calls.empty()) leave(execution, stack);
        leave_root(execution, stack);
    }

    // --- Calls: docs/simulation.md, rules 15 to 21 ----------------------------------------------------------

    void find_calls(const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        const Address stack_pointer = record.stack_pointer;

        // 6. Out of a handler by a jump: what it interrupted goes on.
        bool left_handler = false;
        if (!execution().can_have(stack_pointer)) {
            left_handler = true;
            while (!execution().can_have(stack_pointer)) executions_[thread_].pop_back();
        }
        Execution& now = execution();
        if (!now.last) {
            begin_at_root(now, record);
            return;
        }
        if (is_on_another_stack(now, record, left_handler ? JumpKind::kJump : exit_of(*now.last).jump)) return;
        now.stack_pointer = stack_pointer;
        if (left_handler) {
            leave_above(now, stack_pointer);
            return;
        }

        JumpKind jump = exit_of(*now.last).jump;
        bool return_without_call = false;
        if (jump == JumpKind::kReturn) {
            // 5.
            if (now.calls.empty()) {
                begin_at_root(now, record);
                return;
            }
            // 1.
            if (stack_pointer > now.calls.back().stack_pointer) {
                leave_above(now, stack_pointer);
                return;
            }
            for (std::size_t i = now.calls.size(); i-- > 0 && now.calls[i].stack_pointer == stack_pointer;) {
                if (now.calls[i].return_address != block.address) continue;
                while (now.calls.size() > i) leave(now, now);
                return;
            }
            jump = JumpKind::kJump;
            return_without_call = block.function != now.context.function || block.is_entry || now.charged_site;
        }

        // 3.
        const bool left_any = leave_above(now, stack_pointer);
        const Scenario::Block& from = block_of(*now.last);
        const Scenario::Exit& exit = exit_of(*now.last);
        if (jump == JumpKind::kCall) {
            call(now, record.block, *now.last, stack_pointer, from.instruction_address(exit.instructions));
            return;
        }
        if (left_any) return;

        // 2.
        const bool repeats = from.instruction_address(exit.instructions - 1) == block.address;
        const bool elsewhere =
            function_of(from).object != function_of(block).object || from.section != block.section;
        if (!return_without_call && !elsewhere && (!block.is_entry || repeats)) return;
        // 4.
        Site site = *now.last;
        if (scenario_.functions[now.context.function].left_by_jump && !now.calls.empty() && !now.charged_site) {
            const ArcKey& arc = *now.calls.back().arc;
            site = {arc.block, arc.context, arc.exit};
            leave(now, now);
        }
        call(now, record.block, site, now.calls.empty() ? stack_pointer : now.calls.back().stack_pointer, {});
    }

    // 9. The block runs on another stack than the one before; it has been entered there, then.
    bool is_on_another_stack(Execution& now, const Scenario::Record& record, JumpKind jump) {
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

    void put_aside(Execution& now) {
        auto above = now.others.begin();
        while (above != now.others.end() && above->base < now.base) ++above;
        now.others.insert(above, static_cast<const Stack&>(now));
    }

    // Leaves the calls that are not open any more if `stack` goes on with `block`, and tells whether it can.
    bool resumes(Execution& execution, Stack& stack, const Scenario::Block& block, Address pointer) {
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

    void begin_at_root(Execution& execution, const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        ++changes_;
        leave_root(execution, execution);
        execution.context = {block.function};
        execution.charged_site.reset();
        execution.base = record.stack_pointer;
        execution.stack_pointer = record.stack_pointer;
        if (block.is_entry) {
            execution.root = block.function;
            entered(execution, block.function);
        }
    }

    void call(Execution& execution, unsigned callee, Site site, Address stack_pointer,
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

    // 2. A tail call is not open twice.
    void leave_repeated(Execution& execution, const ArcKey& arc, Address stack_pointer) {
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

    void leave(Execution& execution, Stack& stack) {
        ++changes_;
        stack.context = stack.calls.back().caller_context;
        stack.charged_site = stack.calls.back().caller_charged_site;
        const unsigned function = stack.calls.back().function;
        stack.calls.pop_back();
        left(execution, function);
    }

    bool leave_above(Execution& execution, Address stack_pointer) {
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
        if (targets_[branch % 512] != target) count(Event::kBim);
        targets_[branch % 512] = target;
    }

    // From where the latest block of this execution ended: neither a call nor a return.
    void on_jump(const Site& from, const Scenario::Record& record) {
        if (exit_of(from).jump != JumpKind::kJump) return;
        const Address behind = block_of(from).instruction_address(exit_of(from).instructions);
        if (scenario_.blocks[record.block].address == behind) return;
        if (execution().charged_site || !execution().collecting) return;
        ++costs_.jumps[{from.block, from.context, from.exit, record.block}];
    }

    // The instruction at `branch` branched, or did not.
    void on_conditional_branch(Address branch, bool taken) {
        std::string index;  // in binary digits
        for (int bit = 6; bit >= 0; --bit) index += (branch >> bit & 1) != 0 ? '1' : '0';
        index += history_;
        int& counter = counters_[index];
        count(Event::kBc);
        if ((counter >= 2) != taken) count(Event::kBcm);
        counter = std::clamp(counter + (taken ? 1 : -1), 0, 3);
        history_ = history_.substr(1) + (taken ? '1' : '0');
    }

    // --- What a block does ---------------------------------------------------------------------------------

    void execute(const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        const Scenario::Exit& exit = block.exits[record.exit];
        block_of_running_ = block;
        unsigned access = 0;
        for (unsigned i = 0; i < exit.instructions; ++i) {
            charged_ = execution().charged_site ? last_instruction(*execution().charged_site)
                                                : InstructionKey{record.block, execution().context, i};
            count(Event::kIr);
            const Missed fetch = touch(i1_, block.instruction_address(i), block.instruction_sizes[i]);
            if (fetch.first) count(Event::kI1mr, fetch.group);
            if (fetch.last) count(Event::kILmr, fetch.group);
            if (fetch.dirty) count(Event::kILdmr, fetch.group);
            for (; access < exit.accesses && block.accesses[access].instruction == i; ++access) {
                const Scenario::Access& what = block.accesses[access];
                if (what.kind == AccessKind::kBus) count(Event::kGe);
                if (what.guarded && record.addresses[access] == 0) continue;
                const bool read = what.kind == AccessKind::kRead;
                count(read ? Event::kDr : Event::kDw);
                const Missed data = touch(d1_, record.addresses[access], what.size, !read);
                if (data.first) count(read ? Event::kD1mr : Event::kD1mw, data.group);
                if (data.last) count(read ? Event::kDLmr : Event::kDLmw, data.group);
                if (data.dirty) count(read ? Event::kDLdmr : Event::kDLdmw, data.group);
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

    std::vector<ArcKey> open_arcs(const Execution& execution) {
        std::vector<ArcKey> arcs;
        for (const Call& call : execution.calls) {
            if (call.arc) arcs.push_back(*call.arc);
        }
        return arcs;
    }

    // --- Paths: docs/contexts.md ----------------------------------------------------------------------------

    PathKey path_of(const Execution& execution) const {
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
        if (execution().collecting) charge(event, 1, charged_, open_arcs(execution()), path_of(execution()), group);
    }

    void charge(Event event, std::uint64_t cost, const InstructionKey& charged_site,
                const std::vector<ArcKey>& chain, const PathKey& path, const std::string& group = {}) {
        if (cost == 0) return;
        if (!group.empty()) costs_.objects[{group, charged_site}][column(event)] += cost;
        if (paths_) costs_.paths[path].self[column(event)] += cost;
        costs_.totals[column(event)] += cost;
        costs_.self[charged_site][column(event)] += cost;
        for (const ArcKey& arc : chain) costs_.arcs[arc].inclusive[column(event)] += cost;
    }

    // --- Caches: docs/simulation.md, rules 1 to 9 -----------------------------------------------------------

    struct Missed {
        bool first = false;
        bool last = false;
        bool dirty = false;  // and wrote a line to memory
        std::string group{};  // of the first byte that missed
    };

    Missed touch(Cache& cache, Address address, Address size, bool writes = false) {
        Missed missed;
        const Address end = address + size;
        for (Address at = address; at < end;) {
            const Address number = at / cache.line_bytes;
            const Address stop = std::min(end, (number + 1) * cache.line_bytes);
            Line* line = cache.use(number);
            const bool absent = line == nullptr;
            if (absent) {
                std::list<Line>& set = cache.set_of(number);
                if (set.size() == cache.ways) evict_first(cache, set);
                line = &load(set, number, &cache == &d1_, at);
                if (!missed.first) missed.group = line->group;
            }
            ++line->accesses;
            if (writes) line->dirty = true;
            for (Address byte = at; byte < stop; ++byte) line->touched.set(byte % cache.line_bytes);
            if (absent) {
                missed.first = true;
                look_in_last(at, stop, &cache == &d1_, missed);
            }
            at = stop;
        }
        return missed;
    }

    Line& load(std::list<Line>& set, Address number, bool is_data, Address address) {
        set.push_front({.number = number});
        Line& line = set.front();
        line.collected = execution().collecting;
        line.is_data = is_data;
        line.loader = charged_;
        line.chain = open_arcs(execution());
        line.path = path_of(execution());
        line.group = group_at(address, is_data);
        return line;
    }

    void look_in_last(Address begin, Address end, bool is_data, Missed& missed) {
        for (Address number = begin / ll_.line_bytes; number * ll_.line_bytes < end; ++number) {
            if (scenario_.prefetch) {
                const std::optional<Address> wanted = wanted_after(number);
                if (wanted && ll_.use(*wanted) == nullptr) load_ll(*wanted, is_data, *wanted * ll_.line_bytes);
            }
            if (ll_.use(number) != nullptr) continue;
            missed.last = true;
            if (load_ll(number, is_data, std::max(begin, number * ll_.line_bytes))) missed.dirty = true;
        }
    }

    // Returns whether a dirty line had to go.
    bool load_ll(Address number, bool is_data, Address address) {
        std::list<Line>& set = ll_.set_of(number);
        const bool drove_out_dirty = set.size() == ll_.ways && evict_last(set);
        load(set, number, is_data, address);
        return drove_out_dirty;
    }

    // What the prefetcher fetches on the occasion that this line is looked for. The lines of a stream so far follow
    // each other in one direction.
    std::optional<Address> wanted_after(Address number) {
        std::vector<Address>& lines = streams_[number * ll_.line_bytes / 4096 % 8];
        if (lines.empty()) lines = {0};
        if (number == lines.back()) return {};
        const bool up = number == lines.back() + 1;
        const bool down = number + 1 == lines.back();
        const bool was_up = lines.size() > 1 && lines[0] < lines[1];
        const bool was_down = lines.size() > 1 && lines[0] > lines[1];
        if ((!up && !down) || (up && was_down) || (down && was_up)) {
            lines = {number};
            return {};
        }
        lines.push_back(number);
        if (lines.size() < 3 || (down && number < 5)) return {};
        return up ? number + 5 : number - 5;
    }

    void evict_first(Cache& cache, std::list<Line>& set) {
        const Line line = set.back();
        set.pop_back();
        retire(line, Event::kAcCost1, cache.line_bytes);
        for (auto& last_set : ll_.sets) {
            for (Line& last : last_set) merge(line, cache.line_bytes, last);
        }
    }

    // Returns whether it was dirty.
    bool evict_last(std::list<Line>& set) {
        Line line = set.back();
        set.pop_back();
        for (Cache* cache : {&i1_, &d1_}) {
            for (const auto& first_set : cache->sets) {
                for (const Line& first : first_set) merge(first, cache->line_bytes, line);
            }
        }
        retire(line, Event::kAcCost2, ll_.line_bytes);
        return line.dirty;
    }

    // Adds the use of an L1 line to an LL line, if they have touched memory in common.
    void merge(const Line& first, Address first_bytes, Line& last) {
        const Address begin = last.number * ll_.line_bytes;
        if ((first.number + 1) * first_bytes <= begin || begin + ll_.line_bytes <= first.number * first_bytes)
            return;
        if (first.dirty) last.dirty = true;
        bool common = false;
        for (Address byte = 0; byte < first_bytes; ++byte) {
            const Address address = first.number * first_bytes + byte;
            if (!first.touched[byte] || address / ll_.line_bytes != last.number) continue;
            last.touched.set(address % ll_.line_bytes);
            common = true;
        }
        if (common) last.accesses += first.accesses;
    }

    void retire(const Line& line, Event first_event, Address line_bytes) {
        if (!line.collected) return;
        retire_as(line, first_event, line_bytes);
        if (line.is_data) {
            retire_as(line, first_event == Event::kAcCost1 ? Event::kAcCostD1 : Event::kAcCostDL, line_bytes);
        }
    }

    void retire_as(const Line& line, Event first_event, Address line_bytes) {
        const auto event = [&](std::size_t offset) {
            return static_cast<Event>(column(first_event) + offset);
        };
        const auto charge_line = [&](std::size_t offset, std::uint64_t cost) {
            charge(event(offset), cost, line.loader, line.chain, line.path, line.group);
        };
        // A line that was never touched is as bad as one touched once.
        charge_line(0, line.accesses == 0 ? 1000 : 1000 / line.accesses);
        charge_line(1, line_bytes - line.touched.count());
        charge_line(2, 1);
        charge_line(3, line.touched.count());
        charge_line(4, line.accesses);
    }

    const Scenario& scenario_;
    const std::optional<PathRules> paths_;
    const unsigned object_depth_;
    std::vector<HeapBlock> heap_;
    std::vector<HeapBlock> mapped_;
    unsigned long calls_made_ = 0;
    Scenario::Block block_of_running_{};
    Cache i1_;
    Cache d1_;
    Cache ll_;
    std::map<Address, std::vector<Execution>> executions_;  // by thread; handlers last
    Address thread_ = 0;
    bool collect_at_start_ = true;  // of executions to come
    Address signal_ = 0;            // of the handler to come
    std::map<std::string, int> counters_;  // how far conditional branches tend to be taken, 0 to 3
    std::map<Address, std::vector<Address>> streams_;  // of lines, for the prefetcher
    std::string history_ = "0000000";     // of them, the latest last; 1: taken
    std::map<Address, Address> targets_;   // of indirect branches
    unsigned changes_ = 0;  // calls, returns and changes of stacks, before the latest block
    InstructionKey charged_{};  // the instruction that runs, or is charged for it
    RunCosts costs_;
};

}  // namespace

RunCosts run_naively(const Scenario& scenario, std::size_t records, const std::optional<PathRules>& paths,
                     unsigned object_depth) {
    NaiveEngine engine(scenario, paths, object_depth);
    for (std::size_t i = 0; i < records; ++i) engine.run(scenario.records[i]);
    return engine.finish();
}

}  // namespace bd::test
