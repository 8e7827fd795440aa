// SPDX-License-Identifier: GPL-2.0-or-later
//
// I1, which runs ahead of everything else, as D1 does (L1Stage): its contents depend only on the exits in the trace. It
// simulates a chunk record by record and leaves a list of its misses.
//
// Where many fetches miss, each record touches its lines. Where few do, records are only counted, by exit, and the
// lines get what was counted before the next miss, and at the end of the chunk. That is an *epoch*: I1 holds the same
// lines all the time, so a block whose lines were present once needs no other look. (bzip2: 16 % less replay.)
//
// As with D1, the use of a line at the replay's position is reconstructed where it is needed, see use_before().

#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
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
#include "engine/cache/reuse.h"
#include "engine/cache/start_uses.h"
#include "engine/program/block.h"
#include "engine/trace/trace.h"

namespace bd {

// A point within a chunk of the trace: before the part of an instruction that begins at an address.
struct FetchPosition {
    std::uint32_t record = 0;       // the index of its first word in the chunk
    std::uint32_t instruction = 0;  // an index into the instructions of its block
    Address address = 0;

    auto operator<=>(const FetchPosition&) const = default;
};

struct KnownCause {
    Cause cause = Cause::kNone;
};
struct UnknownCause {};

// The part of an instruction that misses one line. `Use`: the use of a line. `MissCause`: KnownCause, or UnknownCause
// without traits that ask why.
template <class Use, class MissCause>
struct FetchMiss : MissCause {
    FetchPosition at;
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0;
    Use evicted;  // the use of the line that was there
};

template <CacheTraits kTraits>
class InstructionCache {
    using Lines = L1Cache<kTraits, LineUse<kTraits>, std::conditional_t<kTraits.why, TouchTime, std::uint64_t>>;
    using Mask = LineMask<kTraits>;

public:
    using Use = LineUse<kTraits>;
    using Time = typename Lines::Time;
    using Miss = FetchMiss<Use, std::conditional_t<kTraits.why, KnownCause, UnknownCause>>;

    struct Chunk {
        Batch words;
        std::vector<Miss> misses;  // followed by a sentinel that is behind all records
        StartUses<Use> at_start;
    };

    explicit InstructionCache(const CacheGeometry& geometry, ReuseRules rules = {})
        : lines_(geometry), is_small_(StartUses<Use>::are_copied(lines_.size())), absent_(rules) {}

    unsigned line_bits() const { return lines_.line_bits(); }
    std::uint32_t size() const { return lines_.size(); }
    LineNumber line_of(Address address) const { return LineNumber{address >> line_bits()}; }

    // A chunk has at most so many words that records begin with.
    static constexpr std::size_t kMostWords = 1 << 16;

    // Simulates a chunk, which begins with the first record of `batch`. `run_records` gets something that simulates
    // each record with run(exit, record), and must be told with stop() that it was the last; it returns the chunk's
    // words.
    template <class RunRecords>
    void run(Batch batch, Chunk* chunk, RunRecords run_records) {
        start(batch, chunk);
        if (counts_) {
            finish(run_records(Counting(*this)));
        } else if (is_small_) {
            finish(run_records(Touching(*this)));
        } else {
            finish(run_records(TouchingEach(*this)));
        }
    }
    // The same, but no record is counted, so that lines may leave between records. All chunks must be run by one of the
    // two functions.
    template <class RunRecords>
    void run_each(Batch batch, Chunk* chunk, RunRecords run_records) {
        start(batch, chunk);
        finish(run_records(TouchingEach(*this)));
        counts_ = false;
    }
    // A line leaves, if it is here; tells the slot where it was, else kAbsent, and its use, which also stays in the
    // slot, as the chunk may still need it.
    std::uint32_t lose(LineNumber line, Use* use);
    // What lose() returns of a line that is not here.
    static constexpr std::uint32_t kAbsent = Lines::kAbsent;

    // Whether the records of the next chunk will be counted, as the latest had few misses.
    bool counts() const { return counts_; }

    // Whether more chunks may be run before use_before() is asked about one.
    bool may_be_far_ahead() const { return is_small_; }

    // The use of `line`, which was in `slot` then, until `position` in that chunk.
    Use use_before(const Chunk& chunk, const FetchPosition& position, std::uint32_t slot, LineNumber line);

    // The uses of all slots, between chunks.
    void copy_uses(std::vector<Use>* to) { lines_.copy_uses(to); }

    // Empties the cache, and calls function(slot, use) for each line. To be called at the end of a chunk.
    template <class Function>
    void flush(Function function) {
        for (std::uint32_t slot = 0; slot < size(); ++slot) {
            if (lines_[slot] == kNoLine) continue;
            function(slot, static_cast<const Use&>(lines_.use_of(slot)));
            lines_.use_of(slot) = Use{};
            lines_.clear(slot);
            if constexpr (kTraits.why) lines_.time_of(slot) = 0;
        }
        if constexpr (kTraits.why) absent_.clear();
    }

private:
    // Touches the lines of each record. Keeps the time in a register.
    class Touching {
    public:
        static constexpr int kRecordsAhead = 12;  // the host is told of exits as early as that

        explicit Touching(InstructionCache& cache) : cache_(&cache), now_(cache.clock_) {}
        [[gnu::always_inline]] void run(const Exit& exit, const Word* at) {
            Lines& lines = cache_->lines_;
            const std::uint32_t first = lines.guess(exit.line);
            const std::uint32_t second = lines.guess(exit.second_line());
            if (__builtin_expect(first == Lines::kAbsent || second == Lines::kAbsent, 0)) {
                now_ = cache_->touch_each(exit, at, now_);
                return;
            }
            lines.time_of(first) = now_ + 1;
            lines.time_of(second) = now_ += 2;
            lines.use_of(first).touch(Mask::of(exit.bytes[0], 0, 64), exit.instructions_in_line[0]);
            lines.use_of(second).touch(Mask::of(exit.bytes[1], 0, 64), exit.instructions_in_line[1]);
        }
        void stop() { cache_->clock_ = now_; }

    private:
        InstructionCache* cache_;
        Time now_;
    };

    // The same in a large cache.
    class TouchingEach {
    public:
        static constexpr int kRecordsAhead = 0;

        explicit TouchingEach(InstructionCache& cache) : cache_(&cache) {}
        void run(const Exit& exit, const Word* at) { cache_->touch_each(exit, at, cache_->clock_); }
        void stop() {}

    private:
        InstructionCache* cache_;
    };

    // Counts records by exit. The time follows from the position in the chunk.
    class Counting {
    public:
        static constexpr int kRecordsAhead = 0;

        explicit Counting(InstructionCache& cache) : cache_(&cache), begin_(cache.begin_), epoch_(cache.epoch_) {}
        [[gnu::always_inline]] void run(Exit& exit, const Word* at) {
            if (__builtin_expect(exit.epoch == epoch_, 1)) {
                ++exit.times;
                exit.latest = static_cast<std::uint16_t>(at - begin_);
            } else {
                epoch_ = cache_->count_first(exit, at);
            }
        }
        void stop() {}

    private:
        InstructionCache* cache_;
        const Word* begin_;
        std::uint32_t epoch_;
    };

    struct NoLines {
        explicit NoLines(ReuseRules) {}
    };

    // Records are counted if the chunk before has at most one miss in so many words.
    static constexpr std::size_t kFewMisses = 1500;
    // While records are counted, each word of the trace takes this time, so that the fetches of a record follow each
    // other.
    static constexpr Time kTimePerWord = 4;

    // While records are counted: the time before a word.
    Time time_at(const Word* at) const { return base_ + static_cast<Time>(at - begin_) * kTimePerWord; }
    void set_time_at(const Word* at, Time time) { base_ = time - static_cast<Time>(at - begin_) * kTimePerWord; }

    // Calls function(line, bytes, instructions) for the fetches of a block up to `exit`, in order.
    template <class Function>
    [[gnu::always_inline]] static void for_each_line(const Exit& exit, Function function) {
        if (exit.line == Exit::kOtherLines) {
            for (const Fetch& fetch : exit.block->fetches().first(exit.fetches)) {
                function(fetch.line, Mask::range(fetch.first_byte, fetch.size), fetch.count);
            }
            return;
        }
        function(exit.line, Mask::of(exit.bytes[0], 0, 64), exit.instructions_in_line[0]);
        if (exit.bytes[1] == 0) return;
        function(exit.second_line(), Mask::of(exit.bytes[1], 0, 64), exit.instructions_in_line[1]);
    }

    std::uint32_t find(LineNumber line) {
        const std::uint32_t slot = is_small_ ? lines_.guess(line) : Lines::kAbsent;
        return slot != Lines::kAbsent ? slot : lines_.find(line);
    }

    // `batch` begins with the records of the chunk; `words` are these.
    void start(Batch batch, Chunk* chunk);
    void finish(Batch words);
    Time touch_each(const Exit& exit, const Word* at, Time now);
    std::uint32_t find_or_load(const Exit& exit, const Word* at, const Fetch& fetch);
    void load(const FetchPosition& at, std::uint32_t bytes, std::uint32_t slot);
    std::uint32_t count_first(Exit& exit, const Word* at);
    void start_epoch();
    void settle();

    Lines lines_;
    bool is_small_;
    Time clock_ = 0;
    [[no_unique_address]] std::conditional_t<kTraits.why, AbsentLines, NoLines> absent_;

    // Of the latest chunk.
    Chunk* chunk_ = nullptr;
    const Word* begin_ = nullptr;
    Time start_ = 0;

    // While records are counted.
    bool counts_ = false;
    Time base_ = 0;            // the time before the first word, if nothing had missed
    std::uint32_t epoch_ = 0;  // the present one
    std::vector<const Exit*> counted_;

    // Blocks may be run by other engines, so epochs of all engines have different numbers. Records are no longer
    // counted once these have run out. (That takes days.)
    static constexpr std::uint32_t kLastEpoch = ~std::uint32_t{0} - kMostWords;
    static inline std::atomic<std::uint32_t> latest_epoch{0};
};

template <CacheTraits kTraits>
void InstructionCache<kTraits>::start(Batch batch, Chunk* chunk) {
    chunk_ = chunk;
    chunk->misses.clear();
    if constexpr (kTraits.why) {
        if (clock_ >= absent_.last_time()) {
            absent_.renumber(lines_.times(), &clock_);
            lines_.changed_times();
        }
    }
    if constexpr (kTraits.line_use) chunk->at_start.start(lines_);
    begin_ = batch.data();
    start_ = clock_;
    base_ = clock_;
    counts_ = counts_ && latest_epoch.load(std::memory_order_relaxed) < kLastEpoch;
    if (counts_) start_epoch();
}

template <CacheTraits kTraits>
void InstructionCache<kTraits>::finish(Batch words) {
    if (counts_) {
        settle();
        clock_ = time_at(begin_ + words.size());
    }
    chunk_->words = words;
    counts_ = is_small_ && chunk_->misses.size() * kFewMisses <= words.size();
    chunk_->misses.emplace_back().at.record = ~std::uint32_t{0};
}

// Simulates the fetches of a record, some of which may miss or cannot be touched at once. `now` is the time before
// them; returns that behind them.
template <CacheTraits kTraits>
[[gnu::noinline]] typename InstructionCache<kTraits>::Time InstructionCache<kTraits>::touch_each(const Exit& exit,
                                                                                                 const Word* at,
                                                                                                 Time now) {
    if (exit.block == nullptr) return now;
    clock_ = now;
    for (const Fetch& fetch : exit.block->fetches().first(exit.fetches)) {
        const std::uint32_t slot = find_or_load(exit, at, fetch);
        lines_.use_of(slot).touch(Mask::range(fetch.first_byte, fetch.size), fetch.count);
    }
    return clock_;
}

template <CacheTraits kTraits>
std::uint32_t InstructionCache<kTraits>::find_or_load(const Exit& exit, const Word* at, const Fetch& fetch) {
    std::uint32_t slot = find(fetch.line);
    const bool is_here = slot != Lines::kAbsent;
    if (!is_here) slot = lines_.slot_for(fetch.line);
    if (!is_small_ && lines_.time_of(slot) <= start_) chunk_->at_start.save(slot, lines_.use_of(slot));
    ++clock_;
    if (is_here) {
        lines_.time_of(slot) = clock_;
        return slot;
    }
    const Block& block = *exit.block;
    const Address address = (static_cast<Address>(fetch.line) << line_bits()) + fetch.first_byte;
    const Address end = block.instruction_address(fetch.instruction) + block.instructions_[fetch.instruction].size;
    load({static_cast<std::uint32_t>(at - begin_), fetch.instruction, address},
         static_cast<std::uint32_t>(std::min<Address>(end - address, fetch.size)), slot);
    return slot;
}

template <CacheTraits kTraits>
void InstructionCache<kTraits>::load(const FetchPosition& at, std::uint32_t bytes, std::uint32_t slot) {
    const LineNumber line = line_of(at.address);
    Miss& miss = chunk_->misses.emplace_back();
    miss.at = at;
    miss.bytes = bytes;
    miss.slot = slot;
    miss.evicted = lines_.use_of(slot);
    if constexpr (kTraits.why) {
        miss.cause = absent_.load(line, std::span<const Time>(lines_.times())).cause(size());
        if (lines_[slot] != kNoLine) absent_.evict(lines_[slot], lines_.time_of(slot));
    }
    lines_.use_of(slot) = Use{};
    lines_.replace(slot, line, clock_);
}

template <CacheTraits kTraits>
[[gnu::noinline, gnu::cold]] std::uint32_t InstructionCache<kTraits>::lose(LineNumber line, Use* use) {
    const std::uint32_t slot = lines_.look_for(line);
    if (slot == Lines::kAbsent) return kAbsent;
    *use = lines_.use_of(slot);
    if constexpr (kTraits.why) absent_.leave(line, lines_.time_of(slot));
    lines_.remove(slot);
    return slot;
}

// Counts the first record of an exit in an epoch. Returns the epoch behind it.
template <CacheTraits kTraits>
[[gnu::noinline]] std::uint32_t InstructionCache<kTraits>::count_first(Exit& exit, const Word* at) {
    if (exit.block == nullptr) return epoch_;
    bool may_count = exit.fetches <= record_words(at[0]) * kTimePerWord;
    for_each_line(
        exit, [&](LineNumber line, const Mask&, unsigned) { may_count = may_count && find(line) != Lines::kAbsent; });
    if (may_count) {
        static_cast<FetchNotes&>(exit) = {epoch_, 1, static_cast<std::uint16_t>(at - begin_)};
        counted_.push_back(&exit);
    } else {
        settle();
        const Word* const next = at + record_words(at[0]);
        set_time_at(next, touch_each(exit, at, time_at(at)));
        start_epoch();
    }
    return epoch_;
}

template <CacheTraits kTraits>
void InstructionCache<kTraits>::start_epoch() {
    epoch_ = latest_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Gives the lines what was counted in this epoch.
template <CacheTraits kTraits>
void InstructionCache<kTraits>::settle() {
    for (const Exit* const exit : counted_) {
        Time now = time_at(begin_ + exit->latest);
        for_each_line(*exit, [&](LineNumber line, const Mask& bytes, std::uint64_t instructions) {
            const std::uint32_t slot = find(line);
            lines_.time_of(slot) = std::max(lines_.time_of(slot), ++now);
            lines_.use_of(slot).touch(bytes, instructions * exit->times);
        });
    }
    counted_.clear();
}

template <CacheTraits kTraits>
typename InstructionCache<kTraits>::Use InstructionCache<kTraits>::use_before(const Chunk& chunk,
                                                                              const FetchPosition& position,
                                                                              std::uint32_t slot, LineNumber line) {
    // The line was loaded in this chunk, or was there when it began.
    const Miss* load = nullptr;
    for (const Miss& miss : chunk.misses) {
        if (miss.at >= position) break;
        if (miss.slot == slot) load = &miss;
    }
    const FetchPosition begin = load == nullptr ? FetchPosition{} : load->at;
    Use use = load == nullptr ? chunk.at_start.of(slot, lines_) : Use{};
    const Word* const end = chunk.words.data() + chunk.words.size();
    for (const Word* at = chunk.words.data() + begin.record; at != end; at += record_words(*at)) {
        const auto record = static_cast<std::uint32_t>(at - chunk.words.data());
        if (record > position.record) break;
        const Exit& exit = exit_of(*at);
        if (exit.block == nullptr) continue;
        if (exit.line != Exit::kOtherLines && exit.line != line && exit.second_line() != line) continue;
        FetchPosition part{record, 0, 0};
        for (const Instruction& instruction : exit.block->instructions().first(exit.instructions)) {
            const Address address = exit.block->address + instruction.offset;
            lines_.for_each_part(address, instruction.size, [&](LineNumber touched, unsigned offset, unsigned bytes) {
                if (touched != line) return;
                part.address = (static_cast<Address>(touched) << line_bits()) + offset;
                if (part >= position || part < begin) return;
                use.touch(Mask::range(offset, bytes), 1);
            });
            ++part.instruction;
        }
    }
    return use;
}

}  // namespace bd
