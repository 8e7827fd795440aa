// SPDX-License-Identifier: GPL-2.0-or-later
//
// I1: the lines that it holds, and the use of each of them. Lines that miss are loaded by the owner of the caches
// behind it (Hierarchy).
//
// Fetches that hit are not credited to their lines one by one, as most blocks run again and again while their lines
// stay in I1. Each exit counts how often it was taken, and the lines get the credit when it is needed: before one of
// them leaves I1, or when its use is asked for. That count is the sum of ExitNotes::taken, which is incremented anyway,
// and ExitNotes::uncredited, which compensates for what was credited already, and for what `taken` does not count.
//
// To that end, each line has a list of the fetches that blocks have made from it since it was loaded. The slot of the
// line that lists a fetch is CachedFetch::i1_slot. Once all fetches up to an exit are listed, which means that they
// hit, its block may take the fast path, until one of the lines leaves I1.
//
// A block that is not on the fast path is credited when it has run. If the use of a line is asked for meanwhile, it is
// credited as far as it has run, as LL may lose a line whose copy in I1 is being executed.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/cache/absent_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/l1_cache.h"
#include "engine/program/block.h"

namespace bd {

template <CacheTraits kTraits>
class InstructionCache {
public:
    using Use = LineUse<kTraits>;
    using Time = std::conditional_t<kTraits.why, TouchTime, std::uint64_t>;
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

    explicit InstructionCache(const CacheGeometry& geometry, ReuseRules rules = {})
        : lines_(geometry), lists_(lines_.size()), absent_(rules) {}

    // Blocks may outlive this object and be run by another engine.
    ~InstructionCache() {
        for (List& list : lists_) unlist(list);
    }
    InstructionCache(const InstructionCache&) = delete;
    InstructionCache& operator=(const InstructionCache&) = delete;

    unsigned line_bits() const { return lines_.line_bits(); }
    std::uint32_t ways() const { return lines_.ways(); }
    std::uint32_t size() const { return lines_.size(); }

    // The line in a slot; kNoLine if it is empty.
    LineNumber operator[](std::uint32_t slot) const { return lines_[slot]; }
    // The slot of a line; kAbsent if I1 does not hold it.
    std::uint32_t find(LineNumber line) { return lines_.find(line); }

    // --- Blocks whose lines are all present. Each hit increments the time; a loop over many keeps it in a register.

    Time time() const { return clock_; }
    void set_time(Time time) { clock_ = time; }

    // Simulates the fetches of a block up to `exit`, all of which must be listed.
    [[gnu::always_inline]] void hit(const TracedExit& exit, Time* now) {
        if (__builtin_expect(exit.has_more_lines, 0)) {
            for (const CachedFetch& fetch : exit.block->fetches().first(exit.fetches)) {
                lines_.time_of(fetch.i1_slot) = ++*now;
            }
            return;
        }
        hit_two_lines(exit, now);
    }
    // The same, if they lie in two lines at most.
    [[gnu::always_inline]] void hit_two_lines(const TracedExit& exit, Time* now) {
        lines_.time_of(exit.first_slot) = *now + 1;
        lines_.time_of(exit.last_slot) = *now += 2;
    }

    // Lists the fetches up to `exit`, in order, until a line is absent. Returns whether none is.
    bool list_present(TracedExit& exit) {
        for (CachedFetch& fetch : exit.block->fetches().first(exit.fetches)) {
            if (fetch.i1_slot != CachedFetch::kNoSlot) continue;
            const std::uint32_t slot = find(fetch.line);
            if (slot == kAbsent) return false;
            list(*exit.block, fetch, slot);
        }
        return true;
    }
    // Prepares hit(), once all fetches are listed.
    static void note_slots(TracedExit& exit) {
        exit.first_slot = exit.block->fetches_[0].i1_slot;
        exit.last_slot = exit.block->fetches_[exit.fetches - 1].i1_slot;
    }

    // --- The block that runs, if it is not on the fast path

    // It runs to `exit`, whose count includes this run already.
    void start_block(TracedExit& exit) {
        block_exit_ = &exit;
        fetched_ = 0;
        --exit.uncredited;
    }
    // That many of its instructions have been fetched.
    void set_fetched(std::size_t instructions) { fetched_ = instructions; }
    // All have been, each line by hit() or hit_listing(). Mostly its exit gets the credit, as on the fast path.
    void finish_block() {
        if constexpr (kTraits.line_use) {
            if (__builtin_expect(credited_ == 0, 1)) {
                ++block_exit_->uncredited;
            } else {
                credit_until(block_exit_->instructions);
                credited_ = 0;
            }
        }
        fetched_ = 0;
    }

    // Simulates a fetch from the line in `slot`, which may be the first one of this block since the line was loaded.
    void hit_listing(CachedFetch& fetch, std::uint32_t slot) {
        if (fetch.i1_slot == CachedFetch::kNoSlot) list(*block_exit_->block, fetch, slot);
        hit_line(slot);
    }

    // --- Single fetches

    // A hit of the line in `slot`, and the credit for fetches from it.
    void hit_line(std::uint32_t slot) { lines_.time_of(slot) = ++clock_; }
    void credit(std::uint32_t slot, unsigned first_byte, unsigned bytes, std::uint64_t fetches) {
        if constexpr (kTraits.line_use) lines_.use_of(slot).touch(Mask::range(first_byte, bytes), fetches);
    }
    // Whether the block that runs is credited fetch by fetch, so that it needs no other credit.
    void set_single_fetches(bool single) {
        single_fetches_ = single;
        fetched_ = 0;
    }

    // Cuts an instruction at the borders of lines, and calls function(line, offset in the line, bytes).
    template <class Function>
    void for_each_part(Address address, std::uint32_t size, Function function) const {
        lines_.for_each_part(address, size, function);
    }

    // --- Lines that come and go

    // The use of the line in `slot` until now.
    const Use& use_of(std::uint32_t slot) {
        settle(lists_[slot]);
        if (!single_fetches_) credit_until(fetched_);
        return lines_.use_of(slot);
    }

    // The slot for `line`, which must be absent.
    std::uint32_t slot_for(LineNumber line) { return lines_.slot_for(line); }
    // With traits that ask why: the cause of the miss. To be called before the line is loaded.
    Cause note_reuse(std::uint32_t slot, LineNumber line) requires(kTraits.why) {
        if (__builtin_expect(clock_ >= absent_.last_time(), 0)) renumber();
        const Cause cause = absent_.load(line, std::span<const Time>(lines_.times())).cause(size());
        if (lines_[slot] != kNoLine) absent_.evict(lines_[slot], lines_.time_of(slot));
        return cause;
    }
    // Bounds the times if nothing misses for long; to be called with each chunk of the trace. (Counting takes memory in
    // proportion to the time.)
    void bound_times() requires(kTraits.why) {
        if (clock_ >= std::min(absent_.last_time() * 8, std::uint64_t{ReuseRules::kMostTimes})) renumber();
    }
    // Puts `line` into `slot`, not used yet, as the line used last. Calls evict(line, use) for the line that was there,
    // if any.
    template <class Evict>
    void load(std::uint32_t slot, LineNumber line, Evict evict) {
        const LineNumber evicted = lines_.replace(slot, line, ++clock_);
        if (evicted != kNoLine) retire(slot, evicted, evict);
        lines_.use_of(slot) = Use{};
    }
    // The slot that will probably be replaced next in the set of `line`.
    std::uint32_t next_slot(LineNumber line) const { return lines_.next_to_go(line); }

    // Prefetches, on the host, what an eviction from `slot` reads.
    [[gnu::always_inline]] void host_prefetch_eviction(std::uint32_t slot) const {
        for (const Listed& listed : lists_[slot]) {
            __builtin_prefetch(listed.first_exit, 1);
            __builtin_prefetch(listed.fetches + listed.fetch, 1);
        }
    }

    // Empties the cache, and calls evict(slot, line, use) for each line.
    template <class Evict>
    void flush(Evict evict) {
        for (std::uint32_t slot = 0; slot < size(); ++slot) {
            const LineNumber line = lines_[slot];
            if (line == kNoLine) continue;
            retire(slot, line, [&](LineNumber evicted, const Use& use) { evict(slot, evicted, use); });
            lines_.clear(slot);
            if constexpr (kTraits.why) lines_.time_of(slot) = 0;
        }
        if constexpr (kTraits.why) absent_.clear();
    }

private:
    using Mask = LineMask<kTraits>;
    struct NoLines {
        explicit NoLines(ReuseRules) {}
    };

    [[gnu::noinline]] void renumber() requires(kTraits.why) {
        absent_.renumber(lines_.times(), &clock_);
        lines_.changed_times();
    }

    // The parts of a block that are needed. The block itself is mostly no longer in the host's cache.
    struct Listed {
        TracedExit* first_exit;
        CachedFetch* fetches;
        std::uint16_t exit_count;
        std::uint16_t fetch;  // an index into `fetches`

        std::span<TracedExit> exits() const { return {first_exit, exit_count}; }
    };
    using List = std::vector<Listed>;

    void list(Block& block, CachedFetch& fetch, std::uint32_t slot) {
        lists_[slot].push_back(
            {block.exits_, block.fetches_, block.exit_count, static_cast<std::uint16_t>(&fetch - block.fetches_)});
        fetch.i1_slot = slot;
    }

    static void unlist(List& list) {
        for (const Listed& listed : list) {
            listed.fetches[listed.fetch].i1_slot = CachedFetch::kNoSlot;
            for (TracedExit& exit : listed.exits()) {
                exit.fast_path_context = nullptr;
                exit.uncredited = -exit.taken;
            }
        }
        list.clear();
    }

    template <class Evict>
    void retire(std::uint32_t slot, LineNumber line, Evict evict) {
        settle(lists_[slot]);
        unlist(lists_[slot]);
        evict(line, static_cast<const Use&>(lines_.use_of(slot)));
    }

    // Gives the credit of all blocks on a list, also to the other lines that they were fetched from.
    void settle(const List& list) {
        for (const Listed& listed : list) {
            for (TracedExit& exit : listed.exits()) {
                const std::uint64_t times = exit.uncredited + exit.taken;
                if (times == 0) continue;
                exit.uncredited = -exit.taken;
                for (const CachedFetch& fetch : std::span(listed.fetches, exit.fetches)) {
                    credit(fetch.i1_slot, fetch.first_byte, fetch.size, times * fetch.count);
                }
            }
        }
    }

    // Credits the first `instructions` instructions of the block that runs.
    void credit_until(std::size_t instructions) {
        for (; credited_ < instructions; ++credited_) {
            const Block& block = *block_exit_->block;
            for_each_part(
                block.instruction_address(credited_), block.instructions_[credited_].size,
                [this](LineNumber line, unsigned offset, unsigned bytes) { credit(find(line), offset, bytes, 1); });
        }
    }

    L1Cache<kTraits, Use, Time> lines_;
    Time clock_ = 0;
    std::vector<List> lists_;  // by slot
    [[no_unique_address]] std::conditional_t<kTraits.why, AbsentLines, NoLines> absent_;

    TracedExit* block_exit_ = nullptr;
    std::size_t fetched_ = 0;   // how many of its instructions have been fetched
    std::size_t credited_ = 0;  // how many of them have been credited before the others
    bool single_fetches_ = false;
};

}  // namespace bd
