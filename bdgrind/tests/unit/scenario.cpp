// SPDX-License-Identifier: GPL-2.0-or-later

#include "scenario.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "engine/sharing/coherence_marks.h"

namespace bd::test {

BuiltScenario::BuiltScenario(const Scenario& scenario) : program_(scenario.caches.i1.line_bits()) {
    // By their numbers, as functions and blocks are.
    unsigned objects = 0;
    for (const Scenario::Function& function : scenario.functions) objects = std::max(objects, function.object + 1);
    for (unsigned i = 0; i < objects; ++i) program_.symbols.object("object" + std::to_string(i));
    std::vector<const Function*> functions;
    for (std::size_t i = 0; i < scenario.functions.size(); ++i) {
        const std::string number = std::to_string(i);
        Function& function = program_.function("f" + number, "file" + std::to_string(i / 2) + ".c",
                                               "object" + std::to_string(scenario.functions[i].object));
        function.skipped = scenario.functions[i].skipped;
        function.left_by_jump = scenario.functions[i].left_by_jump;
        function.recursion_levels = scenario.functions[i].recursion_levels;
        function.caller_count = scenario.functions[i].caller_count;
        function.triggers = scenario.functions[i].triggers;
        function.allocator = scenario.functions[i].allocator;
        function.wraps_allocators = scenario.functions[i].wraps_allocators;
        functions.push_back(&function);
    }
    std::vector<const Block*> blocks;
    for (const Scenario::Block& block : scenario.blocks) {
        Code code(program_.blocks, *functions[block.function], block.address, block.is_entry, block.section,
                  0);
        std::size_t access = 0;
        std::size_t exit = 0;
        for (unsigned i = 0; i < block.instruction_sizes.size(); ++i) {
            code.op(block.instruction_sizes[i], static_cast<std::uint32_t>(block.address / 16 + i / 2));
            // What belongs to this instruction: exits come behind the accesses that they count.
            for (;;) {
                const bool more_exits =
                    exit + 1 < block.exits.size() && block.exits[exit].instructions == i + 1;
                if (more_exits && block.exits[exit].accesses == access) {
                    code.may_exit(block.exits[exit].jump, block.exits[exit].branch);
                    ++exit;
                } else if (access < block.accesses.size() && block.accesses[access].instruction == i) {
                    const Scenario::Access& what = block.accesses[access++];
                    if (what.joins) {
                        code.joins(what.size, what.kind, what.distance);
                    } else {
                        code.access(what.size, what.kind, what.guarded);
                    }
                } else {
                    break;
                }
            }
        }
        blocks.push_back(&code.ends(block.exits.back().jump, block.exits.back().branch));
        EXPECT_EQ(blocks.back()->id, blocks.size() - 1) << "blocks of a scenario must differ";
        EXPECT_EQ(blocks.back()->exits().size(), block.exits.size());
    }
    for (const Scenario::Record& record : scenario.records) {
        if (record.is_marker) {
            trace_.mark(record.marker, record.values[0], record.values[1], record.values[2]);
        } else {
            std::vector<Word> addresses;
            for (std::size_t i = 0; i < record.addresses.size(); ++i) {
                if (!scenario.blocks[record.block].accesses[i].joins) addresses.push_back(record.addresses[i]);
            }
            trace_.run_to(*blocks[record.block], record.exit, record.stack_pointer, addresses);
        }
    }
}

namespace {

class Generator {
public:
    explicit Generator(unsigned seed) : random_(seed) {}

    Scenario generate() {
        choose_caches();
        choose_code();
        choose_data();
        run();
        return std::move(scenario_);
    }

private:
    // A thread or a handler, roughly: good enough to choose stack pointers that make sense.
    struct Execution {
        Address stack_pointer;
        using Frames = std::vector<std::pair<Address, Address>>;  // stack pointer at entry, return address
        Frames frames;
        const Scenario::Block* block = nullptr;           // the latest
        const Scenario::Exit* exit = nullptr;
        std::vector<std::pair<Address, Frames>> others{};  // stacks: stack pointer, frames
    };
    using Executions = std::vector<Execution>;

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }
    bool chance(unsigned percent) { return below(100) < percent; }
    template <class T>
    const T& one_of(const std::vector<T>& choice) {
        return choice[below(choice.size())];
    }

    CacheGeometry cache(std::uint64_t sets, std::uint64_t ways, std::uint64_t line_bytes) {
        const CacheGeometry geometry{sets * ways * line_bytes, static_cast<std::uint32_t>(ways),
                                     static_cast<std::uint32_t>(line_bytes)};
        EXPECT_EQ(geometry_error(geometry), nullptr);
        return geometry;
    }

    void choose_caches() {
        const bool common = chance(30);
        const auto ways = [this] { return chance(5) ? between(5, 20) : between(1, 4); };
        const auto l1_cache = [&] {
            return common ? cache(std::uint64_t{1} << below(3), ways(), 64)
                          : cache(between(1, 7), ways(), std::uint64_t{16} << below(5));
        };
        scenario_.caches.i1 = l1_cache();
        scenario_.caches.d1 = l1_cache();
        // So large that DataCache keeps only what it needs of the past.
        if (chance(3)) scenario_.caches.d1 = cache(2049, 2, scenario_.caches.d1.line_bytes);
        scenario_.caches.ll = cache(between(1, 12), ways(), common ? 64 : std::uint64_t{16} << below(5));
        scenario_.prefetch = chance(40);
    }

    void choose_code() {
        const std::uint64_t functions = between(2, 8);
        const bool skips = chance(40);
        const bool resolves = chance(30);
        const unsigned levels = chance(50) ? 3 : 1;
        const unsigned callers = chance(40) ? 3 : 0;
        scenario_.skip_direct_recursion = chance(30);
        const unsigned triggers = chance(40) ? 15 : 0;
        for (unsigned i = 0; i < functions; ++i) {
            scenario_.functions.push_back({.object = static_cast<unsigned>(below(3)),
                                           .skipped = skips && chance(30),
                                           .left_by_jump = resolves && chance(30),
                                           .recursion_levels = static_cast<unsigned>(between(1, levels)),
                                           .caller_count = static_cast<unsigned>(between(0, callers)),
                                           .triggers = {.dump_before = chance(triggers),
                                                        .zero_before = chance(triggers / 5),
                                                        .dump_after = chance(triggers),
                                                        .toggle_collect = chance(triggers)}});
        }
        Address address = 0x10000 + below(256);
        for (unsigned i = 0; i < functions; ++i) {
            address += chance(50) ? below(64) : below(8192);
            const auto section = static_cast<unsigned>(chance(20) ? below(3) : 0);
            const std::uint64_t blocks = between(1, 6);
            for (std::uint64_t b = 0; b < blocks; ++b) {
                scenario_.blocks.push_back(choose_block(address, i, section, b == 0 && chance(90)));
                const Scenario::Block& block = scenario_.blocks.back();
                starts_[block.address] = static_cast<unsigned>(scenario_.blocks.size() - 1);
                // Code goes on behind it: that is where a call from its end returns to.
                address = block.instruction_address(static_cast<unsigned>(block.instruction_sizes.size()));
            }
        }
    }

    Scenario::Block choose_block(Address address, unsigned function, unsigned section, bool is_entry) {
        Scenario::Block block{.address = address,
                              .function = function,
                              .section = section,
                              .is_entry = is_entry,
                              .instruction_sizes = {},
                              .accesses = {},
                              .exits = {}};
        const auto instructions = static_cast<unsigned>(between(1, chance(10) ? 20 : 5));
        for (unsigned i = 0; i < instructions; ++i) {
            block.instruction_sizes.push_back(
                static_cast<std::uint32_t>(chance(3) ? between(16, 40) : between(1, 15)));
            const auto may_exit = [&] {
                while (chance(12)) {
                    const Branch branch =
                        one_of(std::vector{Branch::kNone, Branch::kTaken, Branch::kTaken, Branch::kNotTaken});
                    block.exits.push_back(
                        {i + 1, static_cast<unsigned>(block.accesses.size()), choose_jump(), branch});
                }
            };
            may_exit();
            while (chance(40)) {
                const std::uint64_t size = chance(3)    ? between(65, 5000)
                                           : chance(20) ? between(1, 64)
                                                        : std::uint64_t{1} << below(4);
                block.accesses.push_back({i, static_cast<std::uint32_t>(size),
                                          one_of(std::vector{AccessKind::kRead, AccessKind::kRead,
                                                             AccessKind::kWrite, AccessKind::kModify}),
                                          chance(20)});
                if (chance(50)) try_to_join(block);
                if (chance(5)) block.accesses.push_back({i, 1, AccessKind::kBus, true});
                may_exit();
            }
        }
        block.exits.push_back({instructions, static_cast<unsigned>(block.accesses.size()), choose_jump(),
                               chance(30) ? Branch::kIndirect : Branch::kNone});
        return block;
    }

    // The last access to those before it, if they are all of one segment of the block and close enough.
    void try_to_join(Scenario::Block& block) {
        auto& accesses = block.accesses;
        Scenario::Access& last = accesses.back();
        const std::size_t segment = block.exits.empty() ? 0 : block.exits.back().accesses;
        std::size_t first = accesses.size() - 1;
        if (first == segment) return;
        while (accesses[--first].joins) {}
        const std::int64_t distance = static_cast<std::int64_t>(below(49)) - 24;
        std::int64_t lowest = distance;
        std::int64_t end = distance + last.size;
        for (std::size_t i = first; i + 1 < accesses.size(); ++i) {
            lowest = std::min(lowest, accesses[i].distance);
            end = std::max(end, accesses[i].distance + accesses[i].size);
        }
        if (last.guarded || accesses[first].guarded || end - lowest > AccessGroup::kMostBytes) return;
        last.joins = true;
        last.distance = distance;
    }

    JumpKind choose_jump() {
        return one_of(std::vector{JumpKind::kJump, JumpKind::kJump, JumpKind::kCall, JumpKind::kReturn});
    }

    // Few enough places for lines to be used again, enough of them to be evicted.
    void choose_data() {
        const CacheGeometries& caches = scenario_.caches;
        const std::uint64_t bytes = std::max(caches.d1.size_bytes, caches.ll.size_bytes);
        data_bytes_ = bytes * between(1, 3) + 64;
        stream_step_ = (chance(50) ? 1 : ~std::uint64_t{0}) * (std::uint64_t{8} << below(6));
        streams_ = static_cast<unsigned>(chance(30) ? 50 : 0);
    }

    Address choose_address() {
        if (chance(streams_)) return stream_ += stream_step_;
        if (chance(2)) return 32 + below(128);  // so low that what an address of 0 would touch is cached
        const Address address = 0x100000 + (chance(50) ? below(256) : below(data_bytes_));
        return chance(5) ? address + (Address{1} << between(30, 44)) : address;
    }

    // --- Running -------------------------------------------------------------------------------------------

    void mark(Marker marker, Address a = 0, Address b = 0, Address c = 0) {
        Scenario::Record record;
        record.is_marker = true;
        record.marker = marker;
        record.values[0] = a;
        record.values[1] = b;
        record.values[2] = c;
        scenario_.records.push_back(record);
    }

    void run() {
        const std::uint64_t threads = chance(50) ? 1 : between(2, 3);
        const std::uint64_t length = between(1, 250);
        const auto signals = static_cast<unsigned>(chance(50) ? between(1, 6) : 0);
        coroutines_ = static_cast<unsigned>(chance(30) ? between(1, 30) : 0);
        const auto collects = static_cast<unsigned>(chance(50) ? between(1, 10) : 0);
        const unsigned steers = chance(25) ? 1 : 0;
        const unsigned calls_system = chance(30) ? 20 : 0;
        switch_to(below(threads));
        if (chance(10)) mark(Marker::kCollect, 0);
        while (scenario_.records.size() < length) {
            if (threads > 1 && chance(8)) {
                if (chance(10)) {
                    const Address ended = below(threads);
                    mark(Marker::kThreadEnd, ended);
                    executions_[ended].clear();
                }
                switch_to(below(threads));
            }
            if (chance(collects)) mark(Marker::kCollect, below(2));
            if (chance(collects)) mark(Marker::kToggleCollect, below(threads));
            if (chance(1)) mark(Marker::kThreadCreate, below(threads), below(threads));
            if (chance(calls_system)) mark(Marker::kSystemCall, below(threads), below(1000), below(100));
            if (chance(steers)) mark(Marker::kZero, below(threads));
            if (chance(steers)) stop();
            if (chance(signals)) enter_handler();
            if (executions().size() > 1 && chance(5)) {
                mark(Marker::kSignalLeave, thread_);
                executions().pop_back();
            }
            run_block();
        }
    }

    // For a while nobody looks: what is open, nobody knows.
    void stop() {
        mark(Marker::kStop);
        for (auto& [thread, executions] : executions_) {
            for (Execution& execution : executions) execution = {execution.stack_pointer, {}};
        }
    }

    Executions& executions() { return executions_[thread_]; }

    static constexpr Address kStackBytes = 0x1000;
    static constexpr std::size_t kStacks = 4;
    static Address stack_of(Address thread) { return 0x7f0000000 + thread * 0x100000; }

    void switch_to(Address thread) {
        thread_ = thread;
        mark(Marker::kThread, thread);
        if (executions().empty()) executions().push_back({stack_of(thread), {}});
    }

    void enter_handler() {
        const Address interrupted = executions().back().stack_pointer;
        if (chance(80)) mark(Marker::kSignal, thread_, between(1, 3));
        if (chance(50)) {  // on the same stack
            mark(Marker::kSignalEnter, thread_, 0, interrupted - 8);
            executions().push_back({interrupted - 16, {}});
        } else {  // on a stack of its own, above or below
            const Address begin = stack_of(thread_) + (chance(50) ? 0x40000 : std::uint64_t{0} - 0x40000);
            mark(Marker::kSignalEnter, thread_, begin, begin + kStackBytes);
            executions().push_back({begin + kStackBytes - 8 * between(0, 4), {}});
        }
    }

    // Onto another of the execution's stacks, as coroutines do: for the first time, or where it was left.
    void change_stack(Execution& execution) {
        execution.others.resize(kStacks - 1);
        auto& other = execution.others[below(kStacks - 1)];
        if (other.first == 0 || chance(10)) {
            const auto number = static_cast<Address>(&other - execution.others.data()) + 1;
            other = {stack_of(thread_) - number * kStackBytes - 8 * below(4), {}};
            if (chance(30)) other.first += (kStacks + 1) * kStackBytes;
        }
        std::swap(other.first, execution.stack_pointer);
        std::swap(other.second, execution.frames);
        if (execution.frames.empty() || chance(10)) {
            record(an_entry(), near(execution.stack_pointer));
        } else {
            give_back(execution);
        }
    }

    void run_block() {
        Execution* execution = &executions().back();
        // Out of the handlers by a jump: at least one execution further down.
        if (execution->block != nullptr && executions().size() > 1 && chance(6)) {
            executions().resize(between(1, executions().size() - 1));
            execution = &executions().back();
            unsigned block = static_cast<unsigned>(below(scenario_.blocks.size()));
            Address stack_pointer = execution->stack_pointer + 8 * below(4);
            if (!execution->frames.empty() && chance(50))
                stack_pointer = one_of(execution->frames).first + 8 * below(2);
            record(block, stack_pointer);
            return;
        }
        if (execution->exit == nullptr) {
            record(static_cast<unsigned>(below(scenario_.blocks.size())), execution->stack_pointer);
        } else if (chance(3)) {
            record(static_cast<unsigned>(below(scenario_.blocks.size())), near(execution->stack_pointer));
        } else if (execution->exit->jump != JumpKind::kCall && chance(coroutines_)) {
            change_stack(*execution);
        } else if (execution->exit->jump == JumpKind::kJump) {
            jump(*execution);
        } else if (execution->exit->jump == JumpKind::kCall) {
            call(*execution);
        } else {
            give_back(*execution);
        }
    }

    Address near(Address stack_pointer) { return stack_pointer + 8 * below(12) - 8 * below(12); }

    unsigned block_of_function(unsigned function) {
        std::vector<unsigned> own;
        for (unsigned i = 0; i < scenario_.blocks.size(); ++i) {
            if (scenario_.blocks[i].function == function) own.push_back(i);
        }
        return one_of(own);
    }

    unsigned an_entry() {
        for (;;) {
            const auto block = static_cast<unsigned>(below(scenario_.blocks.size()));
            if (scenario_.blocks[block].is_entry || chance(10)) return block;
        }
    }

    void jump(Execution& execution) {
        if (chance(15) && !execution.frames.empty()) {  // longjmp
            record(static_cast<unsigned>(below(scenario_.blocks.size())),
                   one_of(execution.frames).first + 8 * below(3));
        } else if (chance(15)) {  // tail call
            const Address entry = execution.frames.empty() ? execution.stack_pointer : execution.frames.back().first;
            record(an_entry(), entry);
        } else if (chance(10)) {  // REP
            const Address last = execution.block->instruction_address(execution.exit->instructions - 1);
            const auto found = starts_.find(last);
            record(found == starts_.end() ? block_of_function(execution.block->function) : found->second,
                   execution.stack_pointer);
        } else {  // with a frame that grows or shrinks, but not beyond the function's
            Address stack_pointer = execution.stack_pointer;
            if (chance(50)) stack_pointer = near(stack_pointer);
            if (!execution.frames.empty()) stack_pointer = std::min(stack_pointer, execution.frames.back().first);
            record(block_of_function(execution.block->function), stack_pointer);
        }
    }

    void call(Execution& execution) {
        const Address return_address = execution.block->instruction_address(execution.exit->instructions);
        const Address stack_pointer = execution.stack_pointer - (chance(20) ? 0 : 8 * between(1, 3));
        record(an_entry(), stack_pointer);
        executions().back().frames.push_back({stack_pointer, return_address});
    }

    // A return: to the caller, or to a caller further up, or to nobody in particular.
    void give_back(Execution& execution) {
        if (execution.frames.empty() || chance(15)) {
            record(static_cast<unsigned>(below(scenario_.blocks.size())),
                   chance(50) ? execution.stack_pointer : near(execution.stack_pointer));
            return;
        }
        const std::size_t up = chance(80) ? 0 : below(execution.frames.size());
        const auto [stack_pointer, return_address] = execution.frames[execution.frames.size() - 1 - up];
        const auto found = starts_.find(return_address);
        record(found == starts_.end() ? static_cast<unsigned>(below(scenario_.blocks.size())) : found->second,
               stack_pointer + (chance(30) ? 0 : 8));
    }

    void record(unsigned block, Address stack_pointer) {
        Execution& execution = executions().back();
        // The first block of a handler is where the kernel puts it.
        if (execution.exit == nullptr) stack_pointer = execution.stack_pointer;
        Scenario::Record record;
        record.block = block;
        const Scenario::Block& code = scenario_.blocks[block];
        record.exit = static_cast<unsigned>(below(code.exits.size()));
        record.stack_pointer = stack_pointer;
        Address first = 0;
        for (unsigned i = 0; i < code.exits[record.exit].accesses; ++i) {
            const Scenario::Access& access = code.accesses[i];
            if (access.joins) {
                record.addresses.push_back(first + static_cast<Address>(access.distance));
                continue;
            }
            const bool absent = access.kind == AccessKind::kBus || (access.guarded && chance(50));
            first = absent ? 0 : choose_address();
            record.addresses.push_back(first);
        }
        while (!execution.frames.empty() && execution.frames.back().first < stack_pointer) execution.frames.pop_back();
        execution.stack_pointer = stack_pointer;
        execution.block = &code;
        execution.exit = &code.exits[record.exit];
        scenario_.records.push_back(std::move(record));
    }

    std::mt19937_64 random_;
    Scenario scenario_;
    std::map<Address, unsigned> starts_;  // blocks by address
    std::uint64_t data_bytes_ = 0;
    Address stream_ = 0x200000;  // walks through memory line by line, up or down
    Address stream_step_ = 0;
    unsigned streams_ = 0;  // percent
    unsigned coroutines_ = 0;  // percent
    std::map<Address, Executions> executions_;  // by thread
    Address thread_ = 0;
};

}  // namespace

Scenario random_scenario(unsigned seed) {
    return Generator(seed).generate();
}

namespace {

// Hands out what is not handed out yet.
class Allocator {
public:
    explicit Allocator(std::mt19937_64& random) : random_(random) {}

    // 0: there is no room. `within`: in a block that is there, and not at its beginning.
    Address allocate(std::uint64_t size, bool within) {
        for (int attempt = 0; attempt < 4; ++attempt) {
            Address base = 0x100000 + below((below(2) == 0 ? kBytes : 1024) / 16) * 16;
            if (within && !blocks_.empty()) {
                const auto& [chunk, chunk_size] = *std::next(blocks_.begin(), static_cast<long>(below(blocks_.size())));
                base = chunk + 16 + below(8) * 16;
                if (freed_.contains(chunk) || base + size > chunk + chunk_size) continue;
                if (overlaps(inner_, base, size)) continue;
                inner_[base] = size;
                return base;
            }
            if (overlaps(blocks_, base, size)) continue;
            blocks_[base] = size;
            return base;
        }
        return 0;
    }

    // One of the blocks that has no other within it; 0: none.
    Address any() {
        if (blocks_.empty()) return 0;
        const auto& [base, size] = *std::next(blocks_.begin(), static_cast<long>(below(blocks_.size())));
        const auto inner = inner_.lower_bound(base);
        return inner != inner_.end() && inner->first < base + size ? 0 : base;
    }

    // Unless `reuse`, nothing else is ever put there.
    void free(Address base, bool reuse) {
        if (reuse) {
            blocks_.erase(base);
        } else {
            freed_.insert(base);
        }
    }

    // No pool goes on where its memory was unmapped.
    void unmap(Address begin, Address end) {
        for (auto block = blocks_.lower_bound(begin); block != blocks_.end() && block->first < end; ++block) {
            freed_.insert(block->first);
        }
    }

private:
    using Blocks = std::map<Address, std::uint64_t>;
    static constexpr std::uint64_t kBytes = 1 << 15;

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    static bool overlaps(const Blocks& blocks, Address base, std::uint64_t size) {
        const auto next = blocks.lower_bound(base + size);
        return next != blocks.begin() && std::prev(next)->first + std::max<Address>(std::prev(next)->second, 16) > base;
    }

    std::mt19937_64& random_;
    Blocks blocks_;
    Blocks inner_;
    std::set<Address> freed_;
};

}  // namespace

Scenario with_objects(const Scenario& plain, unsigned seed, bool reuse) {
    using enum AllocatorKind;
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    Scenario scenario = plain;
    scenario.records.clear();
    constexpr AllocatorRole kRoles[]{{.kind = kAllocates, .size = 1},
                                     {.kind = kAllocates, .size = 2, .count = 1},
                                     {.kind = kAllocates, .size = 2, .may_be_within = true},
                                     {.kind = kReallocates, .block = 1, .size = 3},
                                     {.kind = kWraps},
                                     {.kind = kForwards},
                                     {.kind = kFrees, .block = 1}};
    for (Scenario::Function& function : scenario.functions) {
        if (below(2) != 0) function.allocator = kRoles[below(std::size(kRoles))];
        function.wraps_allocators = below(3) == 0;
    }
    Allocator heap(random);
    struct Entered {
        Address stack_pointer;
        const AllocatorRole* role;
        Address arguments[3];
        Address inner = 0;  // the latest block that has been allocated in it
    };
    std::vector<Entered> entered;
    const auto mark = [&](Marker marker, Address a, Address b, Address c) {
        Scenario::Record record;
        record.is_marker = true;
        record.marker = marker;
        record.values[0] = a;
        record.values[1] = b;
        record.values[2] = c;
        scenario.records.push_back(record);
    };
    // Where nothing is mapped, no pool has a block, but within others'.
    if (below(4) != 0) mark(Marker::kMapped, 0x100000, 0x110000, 0);
    for (const Scenario::Record& record : plain.records) {
        if (below(50) == 0 && !scenario.records.empty()) {
            const Address begin = 0x100000 + below(4) * 0x1000;
            const Address end = begin + 0x1000 * (1 + below(3));
            mark(below(2) == 0 ? Marker::kMapped : Marker::kUnmapped, begin, end, 0);
            heap.unmap(begin, end);
        }
        scenario.records.push_back(record);
        if (record.is_marker) continue;
        const Scenario::Block& block = scenario.blocks[record.block];
        const bool any_joins = std::ranges::any_of(block.accesses, &Scenario::Access::joins);
        for (Address& address : scenario.records.back().addresses) {
            if (address != 0 && !any_joins && below(6) == 0) address = record.stack_pointer - 160 + below(1024);
        }
        const AllocatorRole& role = scenario.functions[block.function].allocator;
        if (block.is_entry && role.kind == kFrees) {
            const Address freed = heap.any();
            heap.free(freed, reuse);
            mark(Marker::kFreed, freed, 0, 0);
        } else if (block.is_entry && role.marks_entry()) {
            Entered call{record.stack_pointer, &role, {1 + below(200), 1 + below(200), 1 + below(200)}};
            if (role.count != 0) call.arguments[role.count - 1] = 1 + below(4);
            if (role.size != 0 && reuse && below(20) == 0) call.arguments[role.size - 1] = 70000;
            if (role.block != 0) call.arguments[role.block - 1] = heap.any();
            // What is reallocated is not handed out again, see below.
            if (role.kind == kReallocates && !reuse) heap.free(call.arguments[role.block - 1], reuse);
            mark(Marker::kAllocatorEntered, call.arguments[0], call.arguments[1], call.arguments[2]);
            entered.push_back(call);
        }
        if (block.exits[record.exit].jump != JumpKind::kReturn || entered.empty() || below(8) == 0) continue;
        const Entered call = entered.back();
        entered.pop_back();
        const AllocatorRole& of = *call.role;
        if (of.kind == kWraps) {
            // As where it ends by a jump to an allocator; else nobody tells.
            if (below(4) == 0) mark(Marker::kAllocatorLeft, heap.any(), call.stack_pointer, 0);
            continue;
        }
        // Nobody knows whether the engines find that this is a return of that call. So what it reallocates is not
        // handed out again: what they think is there must not overlap.
        const std::uint64_t size = call.arguments[of.size - 1] * (of.count == 0 ? 1 : call.arguments[of.count - 1]);
        Address result = 0;
        if (of.may_be_within && call.inner != 0 && below(2) == 0) {
            result = call.inner + (below(2) == 0 ? 0 : 16);
        } else if (of.may_be_within && below(8) == 0) {
            result = below(2) == 0 ? 1 + below(0x1000) : call.stack_pointer + below(256);
        } else {
            result = heap.allocate(size, of.may_be_within && below(2) == 0);
        }
        for (Entered& outer : entered) outer.inner = result;
        mark(Marker::kAllocatorLeft, result, call.stack_pointer, 0);
    }
    return scenario;
}

Scenario with_cores(const Scenario& plain, unsigned seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    Scenario scenario = plain;
    scenario.records.clear();
    const auto mark = [&](Marker marker, const std::array<Word, kMarkerValues>& values) {
        Scenario::Record& record = scenario.records.emplace_back();
        record.is_marker = true;
        record.marker = marker;
        std::ranges::copy(values, record.values);
    };
    for (const Scenario::Record& record : plain.records) {
        scenario.records.push_back(record);
        // Now and then what no trace has: an access that is not there, and something that stands behind no block.
        while (below(record.is_marker ? 20 : 4) == 0) {
            const std::size_t accesses = record.addresses.size();
            const std::size_t access = below(accesses + 1);
            CoherenceMark what{.access = static_cast<std::uint16_t>(access),
                               .core = static_cast<std::uint8_t>(below(4)),
                               .invalidated = static_cast<std::uint8_t>(below(3)),
                               .transferred = below(2) == 0,
                               .lost = below(2) == 0,
                               .is_write = below(2) == 0,
                               .is_atomic = below(2) == 0,
                               .is_followed = below(2) == 0,
                               .bytes = static_cast<std::uint32_t>(1 + below(8))};
            what.address = access < accesses ? record.addresses[access] : 0x1000 + below(0x1000);
            mark(Marker::kCoherence, what.to_values());
            if (below(2) == 0) continue;
            mark(Marker::kCoreUse, CoreUseMark{.line = what.address & ~Address{63},
                                               .core = static_cast<std::uint8_t>(below(4)),
                                               .kind = static_cast<SharingKind>(below(4)),
                                               .read = random(),
                                               .written = random()}
                                       .to_values());
        }
    }
    return scenario;
}

}  // namespace bd::test
