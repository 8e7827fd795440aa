// SPDX-License-Identifier: GPL-2.0-or-later

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "choice.h"
#include "engine/cache/cache_traits.h"
#include "random_code.h"
#include "scenario.h"

namespace bd::test {
namespace {

// Runs code at random.
class RunGenerator {
public:
    explicit RunGenerator(Choice& choice) : choice_(choice), scenario_(random_code(choice)) {
        for (unsigned i = 0; i < scenario_.blocks.size(); ++i) starts_[scenario_.blocks[i].address] = i;
    }

    Scenario generate() {
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

    std::uint64_t below(std::uint64_t limit) { return choice_.below(limit); }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return choice_.between(first, last); }
    bool chance(unsigned percent) { return choice_.chance(percent); }

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
        scenario_.records.push_back(marker_record(marker, a, b, c));
    }

    // The values are chosen in their order, whatever the compiler's for arguments is.
    void mark_with(Marker marker, const std::array<Address, 3>& values) {
        mark(marker, values[0], values[1], values[2]);
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
            if (chance(1)) mark_with(Marker::kThreadCreate, {below(threads), below(threads), 0});
            if (chance(calls_system)) mark_with(Marker::kSystemCall, {below(threads), below(1000), below(100)});
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

    // For a while nothing is observed: what is open is not known.
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
            const unsigned block = an_entry();
            record(block, near(execution.stack_pointer));
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
            const unsigned block = any_block();
            Address stack_pointer = execution->stack_pointer + 8 * below(4);
            if (!execution->frames.empty() && chance(50))
                stack_pointer = of_a_frame(*execution, 2);
            record(block, stack_pointer);
            return;
        }
        if (execution->exit == nullptr) {
            record(any_block(), execution->stack_pointer);
        } else if (chance(3)) {
            const unsigned block = any_block();
            record(block, near(execution->stack_pointer));
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

    unsigned any_block() { return static_cast<unsigned>(below(scenario_.blocks.size())); }

    Address near(Address stack_pointer) {
        const Address above = stack_pointer + 8 * below(12);
        return above - 8 * below(12);
    }

    // The stack pointer of one of the calls, or less than so many words above it.
    Address of_a_frame(const Execution& execution, std::uint64_t words) {
        const Address first = choice_.one_of(execution.frames).first;
        return first + 8 * below(words);
    }

    unsigned block_of_function(unsigned function) {
        std::vector<unsigned> own;
        for (unsigned i = 0; i < scenario_.blocks.size(); ++i) {
            if (scenario_.blocks[i].function == function) own.push_back(i);
        }
        return choice_.one_of(own);
    }

    unsigned an_entry() {
        for (;;) {
            const unsigned block = any_block();
            if (scenario_.blocks[block].is_entry || chance(10)) return block;
        }
    }

    void jump(Execution& execution) {
        if (chance(15) && !execution.frames.empty()) {  // longjmp
            const unsigned block = any_block();
            record(block, of_a_frame(execution, 3));
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

    // A return: to the caller, to a caller further up, or to anywhere else.
    void give_back(Execution& execution) {
        if (execution.frames.empty() || chance(15)) {
            const unsigned block = any_block();
            record(block, chance(50) ? execution.stack_pointer : near(execution.stack_pointer));
            return;
        }
        const std::size_t up = chance(80) ? 0 : below(execution.frames.size());
        const auto [stack_pointer, return_address] = execution.frames[execution.frames.size() - 1 - up];
        const auto found = starts_.find(return_address);
        const unsigned block = found == starts_.end() ? any_block() : found->second;
        record(block, stack_pointer + (chance(30) ? 0 : 8));
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


    Choice& choice_;
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
    Choice choice(seed);
    return RunGenerator(choice).generate();
}

Scenario with_l2(Scenario plain, unsigned seed) {
    Choice choice(seed);
    const bool common = has_common_lines(plain.caches);
    const std::uint64_t ways = choice.chance(10) ? choice.between(5, 24) : choice.between(1, 4);
    const std::uint64_t line_bytes = common ? 64 : std::uint64_t{16} << choice.below(5);
    plain.caches.l2 = {choice.between(1, 9) * ways * line_bytes, static_cast<std::uint32_t>(ways),
                       static_cast<std::uint32_t>(line_bytes)};
    EXPECT_EQ(geometry_error(plain.caches.l2), nullptr);
    return plain;
}

Scenario with_policies(Scenario plain, unsigned seed) {
    Choice choice(seed + 1);
    const auto change = [&](CacheGeometry& cache, bool is_first) {
        if (!is_first) cache.index = choice.chance(50) ? SetIndex::kHash : SetIndex::kBits;
        Replacement& rules = cache.replacement;
        rules.policy = static_cast<ReplacementPolicy>(choice.below(7));
        rules.seed = choice.below(1000);
        const auto digit = [&](std::uint64_t last) { return static_cast<std::uint8_t>(choice.below(last + 1)); };
        QuadAges& ages = rules.ages;
        ages.hit_at_3 = digit(2);
        ages.hit_at_2 = digit(std::min<std::uint64_t>(ages.hit_at_3, 1));
        ages.loaded = digit(3);
        ages.replace = digit(2);
        ages.update = digit(ages.replace == 1 ? 3 : 1);
        ages.update_on_misses = choice.chance(30);
        if (is_first && !rules.follows_from_times()) rules.policy = ReplacementPolicy::kTreePlru;
        if (geometry_error(cache) == nullptr) return;
        // As many ways as the policy needs: a power of two, or twelve.
        const std::uint64_t sets = cache.sets();
        cache.ways = rules.policy == ReplacementPolicy::kTreePlru ? 1u << choice.below(5) : 12;
        cache.size_bytes = sets * cache.ways * cache.line_bytes;
    };
    if (choice.chance(50)) {
        change(plain.caches.i1, true);
        change(plain.caches.d1, true);
    }
    if (plain.caches.has_l2()) change(plain.caches.l2, false);
    change(plain.caches.ll, false);
    plain.caches.pages = {.frames = static_cast<PageFrames>(choice.below(3)), .seed = choice.below(1000)};
    for (const CacheGeometry& cache : {plain.caches.i1, plain.caches.d1, plain.caches.ll, plain.caches.l2}) {
        EXPECT_TRUE(cache.size_bytes == 0 || geometry_error(cache) == nullptr);
    }
    return plain;
}

Scenario with_exclusive_ll(Scenario plain, unsigned seed) {
    plain = with_l2(std::move(plain), seed);
    CacheGeometry& l2 = plain.caches.l2;
    l2.size_bytes = l2.lines() * plain.caches.ll.line_bytes;
    l2.line_bytes = plain.caches.ll.line_bytes;
    plain.caches.ll_inclusion = Inclusion::kExclusive;
    return plain;
}

Scenario with_inclusive_ll(Scenario plain, unsigned seed) {
    if (seed % 2 != 0) plain = with_l2(std::move(plain), seed);
    CacheGeometry& ll = plain.caches.ll;
    const std::uint64_t lines = ll.lines();
    // Some have an L1 of more lines than a random one has, or of so many that their uses are not copied.
    const auto resize = [](CacheGeometry& cache, std::uint64_t more_than) {
        cache.size_bytes = (more_than / cache.ways + 1) * cache.ways * cache.line_bytes;
    };
    if (seed % 5 == 0) {
        resize(plain.caches.i1, seed % 3 == 0 ? 4096 : 100);
        resize(plain.caches.d1, seed % 3 == 1 ? 4096 : 100);
    }
    for (const CacheGeometry& other : {plain.caches.i1, plain.caches.d1, plain.caches.l2}) {
        ll.line_bytes = std::max(ll.line_bytes, other.line_bytes);
    }
    ll.size_bytes = lines * ll.line_bytes;
    plain.caches.ll_inclusion = Inclusion::kInclusive;
    return plain;
}

Scenario with_prefetchers(Scenario plain, unsigned seed) {
    const auto rules = [](unsigned which) {
        return PrefetchRules{.adjacent = which % 2 != 0,
                             .next = which / 8 != 0,
                             .stream = which / 2 % 2 != 0,
                             .stride = which / 4 % 2 != 0};
    };
    plain.prefetchers = rules(1 + seed % 15);
    plain.l2_prefetchers = rules(seed / 15 % 16);
    return plain;
}

Scenario with_tlbs(Scenario plain, unsigned seed) {
    Choice choice(seed);
    const auto tlb = [&](unsigned most_ways) {
        const auto ways = static_cast<std::uint32_t>(choice.between(1, most_ways));
        return TlbGeometry{static_cast<std::uint32_t>(choice.between(1, 4)) * ways, ways};
    };
    const auto tlbs_of = [&](std::uint64_t page_bits) {
        PageTlbs tlbs{static_cast<std::uint32_t>(page_bits), tlb(2), tlb(3), tlb(5)};
        if (choice.chance(50)) tlbs.i2 = tlb(4);
        return tlbs;
    };
    const std::uint64_t bits = choice.between(4, 8);
    plain.tlbs = {tlbs_of(bits), tlbs_of(bits + choice.between(1, 4))};
    return plain;
}

}  // namespace bd::test
