// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1, which runs ahead of everything else (L1Stage). Its contents depend only on the guest's addresses, not on calls or
// on other caches. Therefore, it simulates a chunk of the trace at once, in a loop that does nothing else than that and
// what I1 does, and leaves a list of its misses. The replay of the chunk finds them there, knows what will miss next,
// and need not look at other accesses.
//
// With traits that ask why, D1 also counts the other lines touched since the last touch of a line that misses.
//
// If there are several cores, each has a D1, and chunks are all of one core. A write takes the line from the others. A
// hit does not ask them: a line that others may have, too, has no hint, so it is found by the slow path only, which
// does.
//
// If LL is inclusive, lines are lost to it between records: the stage says which (note_lost).
//
// One thing is lost: the use of a line at the replay's position, as D1 is ahead. In the rare cases where that is
// needed, use_before() reconstructs it from the trace and from saved uses.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/cache/cache_traits.h"
#include "engine/cache/data_chunk.h"
#include "engine/cache/data_cores.h"
#include "engine/cache/l1_cache.h"
#include "engine/cache/late_reuses.h"
#include "engine/cache/reuse.h"
#include "engine/trace/trace.h"

namespace bd {

// Where fetches are not simulated.
struct NoFetches {
    static constexpr int kRecordsAhead = 0;
    void run(const Exit&, const Word*) {}
    void stop() {}
};

// With traits that write back, lines that were written to since they were loaded are dirty.
template <CacheTraits kTraits>
class DataCache {
    struct CleanUse : LineUse<kTraits> {};
    struct DirtyUse : LineUse<kTraits> {
        bool dirty = false;
    };

public:
    using Use = std::conditional_t<kTraits.write_back, DirtyUse, CleanUse>;
    using LineReuse = std::conditional_t<kTraits.why, Reuse, NoReuse>;
    using Miss = DataMiss<Use, LineReuse>;
    using Chunk = DataChunk<Use, LineReuse>;

    using Cores = DataCores<DataCache>;

    // `notes_writes`: only has an effect with traits that write back. Without it, no line is dirty. `cores`: where this
    // is the D1 of `core`, not with traits that ask why; null: there is only one. It must live as long.
    DataCache(const CacheGeometry& geometry, std::size_t chunk_words, bool notes_writes, ReuseRules rules = {},
              Cores* cores = nullptr, std::uint32_t core = 0)
        : lines_(geometry),
          chunk_words_(chunk_words),
          notes_writes_(kTraits.write_back && notes_writes),
          by_group_(may_be_far_ahead() && lines_.size() > 1 && !notes_writes_),
          cores_(cores),
          core_(core),
          is_shared_(cores == nullptr ? 0 : lines_.size()),
          reuses_(rules, lines_.size()) {
        BD_CHECK(!kTraits.why || cores == nullptr);
    }

    unsigned line_bits() const { return lines_.line_bits(); }
    unsigned line_bytes() const { return lines_.line_bytes(); }
    std::uint32_t size() const { return lines_.size(); }
    LineNumber line_of(Address address) const { return LineNumber{address >> line_bits()}; }

    // Simulates records from the beginning of `batch`, but stops behind a marker that empties the caches: flush() must
    // be called then. `fetches` simulates what each of them fetches: run(exit, record), and stop() at the end. It
    // prefetches exits, on the host, kRecordsAhead before they are needed; 0: never.
    template <class Fetches = NoFetches>
    void run(Batch batch, Chunk* chunk, Fetches fetches = {});

    // Whether more chunks may be run before use_before() is asked about one.
    bool may_be_far_ahead() const { return StartUses<Use>::are_copied(lines_.size()); }

    // The use of `line`, which was in `slot` then, until `position` in that chunk.
    Use use_before(const Chunk& chunk, const DataPosition& position, std::uint32_t slot, LineNumber line);

    // The uses of all slots, between chunks.
    void copy_uses(std::vector<Use>* to) { lines_.copy_uses(to); }

    // A line leaves, if it is here, as an inclusive LL has evicted it; tells the slot where it was, else kAbsent, and
    // its use, which also stays in the slot, as the chunk may still need it.
    std::uint32_t lose(LineNumber line, Use* use);
    // What lose() returns of a line that is not here.
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
    // Notes in the chunk what L1 of a core loses behind a record: see DataMiss for `slot`.
    void note_lost(std::uint32_t record, Address address, std::uint32_t core, std::uint32_t slot, const Use& use) {
        add_miss({record, Miss::kBehindAccesses, address}, core, slot, use);
    }

    // Empties the cache, and calls function(slot, use) for each line. To be called at the end of a chunk.
    template <class Function>
    void flush(Function function) {
        for (std::uint32_t slot = 0; slot < lines_.size(); ++slot) {
            if (lines_[slot] == kNoLine) continue;
            function(slot, static_cast<const Use&>(lines_.use_of(slot)));
            lines_.clear(slot);
            if constexpr (kTraits.why) lines_.time_of(slot) = 0;
        }
        if constexpr (kTraits.why) reuses_.clear();
    }

private:
    using Mask = LineMask<kTraits>;
    using Lines = L1Cache<kTraits, Use, std::conditional_t<kTraits.why, TouchTime, std::uint64_t>>;
    using Time = typename Lines::Time;
    struct NoLines {
        NoLines(ReuseRules, std::size_t) {}
    };

    static constexpr bool kSaves = kTraits.line_use || kTraits.write_back;

    void touch(Use& use, Mask bytes, std::uint64_t accesses, bool writes) const {
        use.touch(bytes, accesses);
        if constexpr (kTraits.write_back) use.dirty |= notes_writes_ && writes;
    }

    void add_miss(const DataPosition& at, std::uint32_t bytes, std::uint32_t slot, const Use& evicted);
    bool touch_both(const Exit& exit, const AccessGroup& group, Address address);
    std::uint32_t find_or_load(const DataPosition& at, std::uint32_t bytes, bool writes);
    void set_shared(std::uint32_t slot, bool is_shared);
    void note_hit(const DataPosition& at, std::uint32_t slot, bool writes);
    void note_writes(const Word* record, const AccessGroup& group, Word address, std::uint32_t slot);
    void ask_others(const DataPosition& at, LineNumber line, std::uint32_t slot_here, bool writes);
    void take_from_others(const DataPosition& at, LineNumber line);
    template <bool kByGroup, class Fetches>
    const Word* run_records(Fetches fetches);
    void simulate(const Word* record, const AccessGroup& group, Word address);
    void start_times();
    void note_reuse(LineNumber line, std::uint32_t slot);
    void note_touch(std::uint32_t slot);
    void note_old_hit(const DataPosition& at, std::uint32_t bytes, std::uint32_t slot);
    bool tells_hit(std::uint32_t slot);
    void age();
    // Stores the reuses of the chunk's misses.
    auto tell_reuse() {
        return [chunk = chunk_](std::uint32_t miss, const Reuse& reuse) {
            static_cast<Reuse&>(chunk->misses[miss]) = reuse;
        };
    }

    Lines lines_;
    Time clock_ = 0;
    std::size_t chunk_words_;
    bool notes_writes_;
    bool by_group_;
    Cores* cores_;
    std::uint32_t core_;
    std::vector<std::uint8_t> is_shared_;  // by slot, with several cores: whether others may have the line, too
    Chunk* chunk_ = nullptr;               // the latest
    Time chunk_start_ = 0;
    [[no_unique_address]] std::conditional_t<kTraits.why, LateReuses, NoLines> reuses_;
};

template <CacheTraits kTraits>
template <class Fetches>
void DataCache<kTraits>::run(Batch batch, Chunk* chunk, Fetches fetches) {
    chunk_ = chunk;
    chunk->misses.clear();
    if constexpr (kTraits.why) start_times();
    chunk_start_ = clock_;
    if constexpr (kSaves) chunk->at_start.start(lines_);
    chunk->words = batch.first(std::min(batch.size(), chunk_words_));
    const Word* const end = by_group_ ? run_records<true>(fetches) : run_records<false>(fetches);
    chunk->words = batch.first(static_cast<std::size_t>(end - batch.data()));
    if constexpr (kTraits.why) reuses_.settle(tell_reuse());
    add_miss({~std::uint32_t{0}, 0, 0}, 0, 0, {});
}

// Starts the times of a new chunk.
template <CacheTraits kTraits>
void DataCache<kTraits>::start_times() {
    chunk_->touches.more.clear();
    chunk_->touches.renumbering.reset();
    if (clock_ >= reuses_.last_time()) {
        chunk_->touches.renumbering = std::make_unique<TickRanks>(reuses_.renumber(lines_.times(), &clock_));
        lines_.changed_times();
    }
    chunk_->touches.start = clock_;
}

// Simulates the records that begin in the chunk, and returns the end of the last one. The time is counted in a
// register, or follows from the position of a word.
template <CacheTraits kTraits>
template <bool kByGroup, class Fetches>
[[gnu::noinline, gnu::aligned(64)]] const Word* DataCache<kTraits>::run_records(Fetches fetches) {
    const Word stop = marker_word(Marker::kStop);
    const Word* at = chunk_->words.data();
    const Word* const begin = at;
    const Word* const end = at + chunk_->words.size();
    const auto number = [](const Word* word) {
        return static_cast<Time>(reinterpret_cast<std::uintptr_t>(word) / sizeof(Word));
    };
    Time now = clock_ - (kTraits.why ? number(begin) : 0);  // relative to the word's number, if it follows from that
    const auto word_time = [&](const Word* word) { return number(word) + now; };
    Word first = 0;
    const Word* ahead = at;
    for (int i = 0; i < Fetches::kRecordsAhead && ahead < end; ++i) ahead += record_words(ahead[0]);
    for (; at < end && first != stop; at += record_words(first)) {
        first = at[0];
        if (Fetches::kRecordsAhead != 0 && ahead < end) {
            __builtin_prefetch(&exit_of(ahead[0]));
            ahead += record_words(ahead[0]);
        }
        TracedExit& exit = exit_of(first);
        fetches.run(exit, at);
        const AccessGroup* group = exit.first_group;
        const AccessGroup* const last = group + exit.groups;
        for (const Word* address = at + kHeaderWords; group != last; ++group, ++address) {
            const std::uint32_t slot = kByGroup ? lines_.guess(*address, *group) : Lines::kAbsent;
            if (__builtin_expect(slot != Lines::kAbsent, 1)) {
                lines_.time_of(slot) = kTraits.why ? word_time(address) + 1 : ++now;
                lines_.use_of(slot).touch(lines_.bytes_of(*address, *group), group->accesses);
            } else {
                clock_ = kTraits.why ? word_time(address) : now;
                if (!kByGroup || lines_.is_within(*address, *group) || !touch_both(exit, *group, *address)) {
                    simulate(at, *group, *address);
                }
                if constexpr (kTraits.why) {
                    const Time next = word_time(address + 1);
                    if (clock_ <= next) continue;
                    now += clock_ - next;
                    chunk_->touches.more.push_back(
                        {static_cast<std::uint32_t>(address - begin), now + number(begin) - chunk_->touches.start});
                } else {
                    now = clock_;
                }
            }
        }
    }
    fetches.stop();
    clock_ = kTraits.why ? word_time(at) : now;
    chunk_->empties_caches = first == stop;
    return at;
}

// Simulates a group of which some part is absent, or that cannot be touched at once.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::simulate(const Word* record, const AccessGroup& group, Word address) {
    const Access* access = &exit_of(*record).block->accesses()[group.first];
    DataPosition at{static_cast<std::uint32_t>(record - chunk_->words.data()), group.first, address};
    if (address == 0 && access->guarded) {
        add_miss(at, 0, Miss::kNoAccess, {});
        return;
    }
    if (by_group_ && lines_.is_within(address, group)) {
        // If the first access misses, the others hit.
        const std::uint32_t slot = find_or_load(at, access->size, is_write(access->kind));
        lines_.use_of(slot).touch(lines_.bytes_of(address, group), group.accesses);
        if (__builtin_expect(cores_ != nullptr, 0)) note_writes(record, group, address, slot);
        return;
    }
    for (const Access* const end = access + group.accesses; access != end; ++access, ++at.access) {
        const Address start = address + static_cast<Address>(std::int64_t{access->distance});
        lines_.for_each_part(start, access->size, [&](LineNumber line, unsigned offset, unsigned bytes) {
            at.address = (static_cast<Address>(line) << line_bits()) + offset;
            const bool writes = is_write(access->kind);
            touch(lines_.use_of(find_or_load(at, bytes, writes)), Mask::range(offset, bytes), 1, writes);
        });
    }
}

// Touches a group that lies in two lines that are both present. Returns false if it does not, or did not happen.
template <CacheTraits kTraits>
[[gnu::noinline]] bool DataCache<kTraits>::touch_both(const Exit& exit, const AccessGroup& group, Address address) {
    const Address lowest = address - group.before;
    const Address border = (lowest | (line_bytes() - 1)) + 1;
    const auto bytes_low = static_cast<unsigned>(border - lowest);
    if (address == 0 || group.span > std::min(64u, bytes_low + line_bytes())) return false;
    const auto find = [this](LineNumber line) {
        const std::uint32_t guess = lines_.guess(line);
        return guess != Lines::kAbsent ? guess : lines_.find(line);
    };
    const std::uint32_t low = find(line_of(lowest));
    const std::uint32_t high = find(line_of(border));
    if (low == Lines::kAbsent || high == Lines::kAbsent) return false;
    if (cores_ != nullptr && (is_shared_[low] != 0 || is_shared_[high] != 0)) return false;
    if (tells_hit(low) || tells_hit(high)) return false;
    unsigned in_low = 0;
    unsigned in_high = 0;
    bool ends_low = false;
    for (const Access& access : std::span(exit.block->accesses_ + group.first, group.accesses)) {
        const Address start = address + static_cast<Address>(std::int64_t{access.distance});
        ends_low = start + access.size <= border;
        in_low += start < border;
        in_high += !ends_low;
    }
    lines_.use_of(low).touch(Mask::of(group.bytes & AccessGroup::mask(bytes_low), line_bytes() - bytes_low, bytes_low),
                             in_low);
    lines_.use_of(high).touch(Mask::of(group.bytes >> bytes_low, 0, group.span - bytes_low), in_high);
    note_touch(low);
    note_touch(high);
    lines_.time_of(low) = clock_ + (ends_low ? 2 : 1);
    lines_.time_of(high) = clock_ + (ends_low ? 1 : 2);
    clock_ += 2;
    return true;
}

// The miss is written member by member: the compiler would build a whole one in other memory and copy it from there
// before the stores have completed.
template <CacheTraits kTraits>
[[gnu::always_inline]] inline void DataCache<kTraits>::add_miss(const DataPosition& at, std::uint32_t bytes,
                                                                std::uint32_t slot, const Use& evicted) {
    Miss& miss = chunk_->misses.emplace_back();
    miss.at = at;
    miss.bytes = bytes;
    miss.slot = slot;
    miss.evicted = evicted;
}

// Notes that the latest miss is about to load `line` into a slot.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::note_reuse(LineNumber line, std::uint32_t slot) {
    if (reuses_.is_due()) age();
    const auto miss = static_cast<std::uint32_t>(chunk_->misses.size() - 1);
    reuses_.load(miss, line, slot, lines_[slot], lines_.times(), tell_reuse());
}

template <CacheTraits kTraits>
void DataCache<kTraits>::age() {
    reuses_.age(lines_.times(), clock_, tell_reuse(), [this](std::uint32_t old) { lines_.forget_hint(old); });
}

// Whether a touch of this slot is a hit whose distance is told.
template <CacheTraits kTraits>
[[gnu::always_inline]] inline bool DataCache<kTraits>::tells_hit(std::uint32_t slot) {
    if constexpr (kTraits.why) return reuses_.tells_hits() && reuses_.is_old(lines_.time_of(slot));
    return false;
}

// Notes that such a slot is about to be touched.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::note_old_hit(const DataPosition& at, std::uint32_t bytes,
                                                        std::uint32_t slot) {
    if constexpr (kTraits.why) {
        if (reuses_.is_due()) age();
        add_miss(at, bytes, Miss::kHit, {});
        const auto number = static_cast<std::uint32_t>(chunk_->misses.size() - 1);
        reuses_.touch_old(lines_.time_of(slot), tell_reuse(), number);
    }
}

// Notes that a slot is about to be touched, but not by the fast path of the loop.
template <CacheTraits kTraits>
[[gnu::always_inline]] inline void DataCache<kTraits>::note_touch(std::uint32_t slot) {
    if constexpr (kTraits.why) {
        if (reuses_.is_old(lines_.time_of(slot))) reuses_.touch_old(lines_.time_of(slot), tell_reuse());
    }
}

// Returns the slot of the line that is accessed at `at`, after loading it if it is absent.
template <CacheTraits kTraits>
std::uint32_t DataCache<kTraits>::find_or_load(const DataPosition& at, std::uint32_t bytes, bool writes) {
    const LineNumber line = line_of(at.address);
    std::uint32_t slot = lines_.find(line);
    const bool is_here = slot != Lines::kAbsent;
    if (!is_here) slot = lines_.slot_for(line);
    if (!may_be_far_ahead() && lines_.time_of(slot) <= chunk_start_) chunk_->at_start.save(slot, lines_.use_of(slot));
    ++clock_;
    if (is_here) {
        if (tells_hit(slot)) {
            note_old_hit(at, bytes, slot);
        } else {
            note_touch(slot);
        }
        lines_.time_of(slot) = clock_;
        if (__builtin_expect(cores_ != nullptr, 0)) note_hit(at, slot, writes);
        return slot;
    }
    if (__builtin_expect(cores_ != nullptr, 0)) ask_others(at, line, slot, writes);
    Use& use = lines_.use_of(slot);
    add_miss(at, bytes, slot, use);
    if constexpr (kTraits.why) note_reuse(line, slot);
    use = {};
    lines_.replace(slot, line, clock_);
    if (__builtin_expect(cores_ != nullptr, 0)) set_shared(slot, is_shared_[slot] != 0);
    return slot;
}

// --- With several cores

// A line that is shared has no hint. To be called when it may have got one.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::set_shared(std::uint32_t slot, bool is_shared) {
    is_shared_[slot] = is_shared ? 1 : 0;
    if (is_shared) lines_.forget_hint(slot);
}

// The access at `at` hits a line.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::note_hit(const DataPosition& at, std::uint32_t slot, bool writes) {
    if (is_shared_[slot] == 0) return;
    if (writes) take_from_others(at, lines_[slot]);
    set_shared(slot, !writes);
}

// A group of accesses that lies within a line was touched.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::note_writes(const Word* record, const AccessGroup& group, Word address,
                                                       std::uint32_t slot) {
    if (is_shared_[slot] == 0) return;
    const Access* access = &exit_of(*record).block->accesses()[group.first];
    for (std::size_t i = 0; i < group.accesses; ++i, ++access) {
        if (!is_write(access->kind)) continue;
        const DataPosition at{static_cast<std::uint32_t>(record - chunk_->words.data()),
                              static_cast<std::uint16_t>(group.first + i),
                              address + static_cast<Address>(std::int64_t{access->distance})};
        take_from_others(at, lines_[slot]);
        lines_.find(lines_[slot]);
        set_shared(slot, false);
        return;
    }
}

// The access at `at` is about to load a line into a slot.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::ask_others(const DataPosition& at, LineNumber line, std::uint32_t slot_here,
                                                      bool writes) {
    bool is_elsewhere = false;
    cores_->for_each_other(core_, line, [&](std::size_t, DataCache& other) {
        const std::uint32_t slot = other.lines_.look_for(line);
        if (slot == Lines::kAbsent) return;
        is_elsewhere = true;
        other.set_shared(slot, true);
    });
    const bool is_shared = cores_->note_load(core_, line) || is_elsewhere;
    if (is_elsewhere) add_miss(at, 0, Miss::kElsewhere, {});
    if (writes && is_shared) take_from_others(at, line);
    is_shared_[slot_here] = is_shared && !writes ? 1 : 0;
}

// The access at `at` writes to a line that others may have.
template <CacheTraits kTraits>
[[gnu::noinline]] void DataCache<kTraits>::take_from_others(const DataPosition& at, LineNumber line) {
    cores_->for_each_other(core_, line, [&](std::size_t core, DataCache& other) {
        const std::uint32_t slot = other.lines_.look_for(line);
        if (slot == Lines::kAbsent && !cores_->has_l2()) return;
        const bool is_here = slot != Lines::kAbsent;
        add_miss(at, static_cast<std::uint32_t>(core), Miss::kTaken + (is_here ? slot : Miss::kOnlyFromL2),
                 is_here ? static_cast<const Use&>(other.lines_.use_of(slot)) : Use{});
        if (is_here) other.lines_.remove(slot);
    });
    cores_->note_taken(core_, line);
}

// --- With an inclusive LL

template <CacheTraits kTraits>
[[gnu::noinline, gnu::cold]] std::uint32_t DataCache<kTraits>::lose(LineNumber line, Use* use) {
    const std::uint32_t slot = lines_.look_for(line);
    if (slot == Lines::kAbsent) return kAbsent;
    *use = lines_.use_of(slot);
    if constexpr (kTraits.why) reuses_.leave(slot, line, lines_.times(), tell_reuse());
    lines_.remove(slot);
    return slot;
}

// --- The replay's position

template <CacheTraits kTraits>
typename DataCache<kTraits>::Use DataCache<kTraits>::use_before(const Chunk& chunk, const DataPosition& position,
                                                                std::uint32_t slot, LineNumber line) {
    // The line was loaded in this chunk, or was there when it began.
    const Miss* load = nullptr;
    for (const Miss& miss : chunk.misses) {
        if (miss.at >= position) break;
        if (miss.slot == slot) load = &miss;
    }
    Use use = load == nullptr ? chunk.at_start.of(slot, lines_) : Use{};
    const Word* at = chunk.words.data();
    if (load != nullptr) at += load->at.record;
    for (;; at += record_words(*at)) {
        const auto record = static_cast<std::uint32_t>(at - chunk.words.data());
        if (record > position.record) return use;
        const Exit& exit = exit_of(*at);
        if (exit.block == nullptr) continue;
        for (const Access& access : exit.block->accesses().first(exit.accesses)) {
            const Word base = at[kHeaderWords + access.group];
            if (base == 0 && access.guarded) continue;
            DataPosition part{record, static_cast<std::uint16_t>(&access - exit.block->accesses().data()), 0};
            const Address start = base + static_cast<Address>(std::int64_t{access.distance});
            lines_.for_each_part(start, access.size, [&](LineNumber touched, unsigned offset, unsigned bytes) {
                if (touched != line) return;
                part.address = (static_cast<Address>(touched) << line_bits()) + offset;
                if (part >= position || (load != nullptr && part < load->at)) return;
                touch(use, Mask::range(offset, bytes), 1, is_write(access.kind));
            });
        }
    }
}

}  // namespace bd
