// SPDX-License-Identifier: GPL-2.0-or-later
//
// The simulated caches, and the use of each line in them: I1 and D1, which several cores have of their own, in front of
// the next level, which is LL, or an L2 with LL behind it (last_level.h, middle_level.h). docs/simulation.md is the
// specification.
//
// Its sink is told what happens to lines: see cache_sink.h.
//
// I1 and D1 are ahead of the others, see L1Stage. The replay reports when it reaches one of their misses.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/level.h"
#include "engine/base/types.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_sink.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/data_cache.h"
#include "engine/cache/instruction_cache.h"
#include "engine/cache/l1_cache.h"
#include "engine/cache/l1_stage.h"
#include "engine/cache/last_level.h"
#include "engine/cache/line_overlap.h"
#include "engine/cache/middle_level.h"
#include "engine/cache/page_placement.h"
#include "engine/cache/placements.h"
#include "engine/cache/reuse.h"

namespace bd {

template <CacheTraits kTraits, class Sink>
class Hierarchy {
public:
    using Stage = L1Stage<traits_of_l1(kTraits)>;
    using Chunk = typename Stage::Chunk;
    using Instructions = typename Stage::Instructions;
    using FetchMiss = typename Instructions::Miss;
    using Data = typename Stage::Data;
    using DataMiss = typename Data::Miss;

    // `cores`: how many there may be, from 1; with traits that ask why, there is one.
    Hierarchy(const CacheGeometries& caches, Sink& sink, const NextLevelConfig& config = {}, ReuseRules rules = {},
              std::uint32_t cores = 1)
        : sink_(sink),
          stage_(caches, chunk_words(caches), config, rules, cores, kTraits.middle_level),
          i1_(stage_.instructions()),
          d1_(stage_.data()),
          caches_(caches),
          pages_(caches.pages),
          next_(caches, &pages_, *this, config, rules),
          cores_(cores) {
        if constexpr (kTraits.line_use) static_assert(CacheSink<Sink, decltype(DataUse::bytes)>);
        BD_CHECK(!kTraits.common_lines || has_common_lines(caches));
        BD_CHECK(kTraits.middle_level == caches.has_l2());
        BD_CHECK(caches.allow(caches.ll_inclusion));
        BD_CHECK(!kTraits.why || cores == 1);
        run_on(0);
    }

    // From now on, what L1 misses is looked for there, too. They must live as long.
    void set_placements(Placements* placements) {
        placements_ = placements;
        if (placements != nullptr) stage_.set_stacks(&placements->stacks());
    }

    // I1 and D1. The misses of each chunk must be passed to follow_fetch() and follow_data() one after the other, when
    // the replay reaches them. Before each, the position in the other cache must be set.
    Stage& stage() { return stage_; }
    void set_chunk(const Chunk& chunk) {
        chunk_ = &chunk;
        if (__builtin_expect(placements_ != nullptr, 0)) placements_->note_stacks(chunk.moved);
        run_on(chunk.core);
    }
    void set_data_position(const DataPosition& position) { data_position_ = position; }
    void set_fetch_position(const FetchPosition& position) { fetch_position_ = position; }

    // Follows I1, which has loaded a line.
    Outcome follow_fetch(const FetchMiss& miss) {
        // The position is behind the part that misses.
        fetch_position_ = miss.at;
        ++fetch_position_.address;
        Core& core = *here_;
        Load& load = core.i1.use_of(miss.slot);
        // Before anything is evicted, so that a tree node in use is not dropped and made anew.
        const ChargeTarget target = target_of_load(Reference::kFetch, miss.at.address, load.target);
        if constexpr (kTraits.why) cause_ = std::max(cause_, miss.cause);
        const LineNumber line = i1_.line_of(miss.at.address);
        const LineNumber evicted = core.i1.replace(core.i1.set_of(line), miss.slot, line);
        if (evicted != kNoLine) retire_fetched(core, evicted, miss.evicted, load);
        load.target = target;
        return load_behind_l1(Reference::kFetch, miss.at.address, miss.bytes, &load.next_index);
    }

    // Follows D1, which has loaded a line.
    Outcome follow_data(const DataMiss& miss) {
        // The position is behind the access that misses.
        data_position_ = miss.at;
        ++data_position_.address;
        const ChargeTarget target = target_of_load(Reference::kData, miss.at.address);
        if constexpr (kTraits.why) cause_ = std::max(cause_, miss.cause(d1_.size()));
        Core& core = *here_;
        const LineNumber line = d1_.line_of(miss.at.address);
        const LineNumber evicted = core.d1.replace(core.d1.set_of(line), miss.slot, line);
        Load& load = core.d1.use_of(miss.slot);
        if (evicted != kNoLine) retire_data(core, evicted, miss.evicted, load);
        load.target = target;
        return load_behind_l1(Reference::kData, miss.at.address, miss.bytes, &load.next_index);
    }

    // A line is taken from a core, see DataMiss: it leaves its D1 and what it has behind that, or its I1.
    [[gnu::cold, gnu::noinline]] void take(const DataMiss& taken) {
        data_position_ = taken.at;  // before the access goes on
        Core& core = *cores_[taken.other_core()];
        const std::uint32_t slot = taken.taken_slot();
        if (taken.is_fetched()) {
            core.i1.clear(slot);
            retire_fetched(core, i1_.line_of(taken.at.address), taken.evicted, core.i1.use_of(slot));
            return;
        }
        const LineNumber line = d1_.line_of(taken.at.address);
        if (slot != DataMiss::kOnlyFromL2) {
            core.d1.clear(slot);
            retire_data(core, line, taken.evicted, core.d1.use_of(slot));
        }
        next_.lose(core.number, d1_.line_bits(), line);
    }

    // With kTraits.why: the causes of the misses since this was last called.
    Causes take_causes() {
        Causes causes;
        causes[Level::kL1] = std::exchange(cause_, Cause::kNone);
        next_.take_causes(&causes);
        return causes;
    }

    // Prefetch, in two steps, what follow_data() and follow_fetch() will need for a later miss.
    template <class Miss>
    [[gnu::always_inline]] void host_prefetch_set(const Miss& miss) const {
        next_.host_prefetch_far(miss.at.address);
    }
    [[gnu::always_inline]] void host_prefetch_line(const DataMiss& miss) {
        if (miss.loads()) host_prefetch_line(miss.at.address, here_->d1.use_of(miss.slot));
    }
    [[gnu::always_inline]] void host_prefetch_line(const FetchMiss& miss) {
        host_prefetch_line(miss.at.address, here_->i1.use_of(miss.slot));
    }
    // Whose the line is that a later miss will evict from I1, unless an earlier miss evicts it first.
    const ChargeTarget& replaced_by(const FetchMiss& miss) { return here_->i1.use_of(miss.slot).target; }

    // The line that D1 holds in a slot at the replay's position; kNoLine if the slot is empty.
    LineNumber held_at(std::uint32_t slot) const { return here_->d1[slot]; }

    // The address of the line that a later miss will evict from D1, unless an earlier miss evicts it first. Only for
    // host prefetches, as the slot may still be empty.
    Address replaced_by(const DataMiss& miss) const {
        return static_cast<Address>(here_->d1[miss.slot]) << d1_.line_bits();
    }

    // Evicts all lines: of all I1 and D1, then of the levels behind them.
    [[gnu::cold]] void flush() {
        for_each_core([this](Core& core) {
            stage_.instructions(core.number).flush([&](std::uint32_t slot, const Use& use) {
                retire_fetched(core, core.i1[slot], use, core.i1.use_of(slot));
                core.i1.clear(slot);
            });
            stage_.data(core.number).flush([&](std::uint32_t slot, const DataUse& use) {
                retire_data(core, core.d1[slot], use, core.d1.use_of(slot));
                core.d1.clear(slot);
            });
        });
        stage_.flushed();
        next_.flush();
        if (placements_ != nullptr) placements_->flush();
    }

    // Keeps all lines in the caches, but without charging them when they are evicted.
    void drop_charges() {
        if constexpr (kTraits.line_use) {
            const auto drop = [this](ChargeTarget& target) { sink_.drop_charges(&target); };
            for_each_core([drop](Core& core) {
                core.i1.for_each([&](std::uint32_t slot) { drop(core.i1.use_of(slot).target); });
                core.d1.for_each([&](std::uint32_t slot) { drop(core.d1.use_of(slot).target); });
            });
            next_.for_each_target(drop);
        }
    }

private:
    using Use = LineUse<traits_of_l1(kTraits)>;
    using DataUse = typename Data::Use;
    using Overlap = LineOverlap<kTraits.common_lines, Use>;

    using Next = NextLevel<kTraits, Hierarchy>;
    friend Next;

    // The charge target of a line in I1 or D1, and the index at which the next level held it when it was loaded.
    struct Load {
        ChargeTarget target;
        std::uint32_t next_index = 0;
    };

    using L1Lines = CacheLines<Load>;

    // What a core has in L1, at the replay's position.
    struct Core {
        Core(std::uint32_t core_number, const CacheGeometries& caches)
            : number(core_number), i1(caches.i1), d1(caches.d1) {}

        std::uint32_t number;
        L1Lines i1;
        L1Lines d1;
    };

    // The length of chunks: as long as is useful, but short if D1 is often asked for the use of lines, as a small LL
    // evicts lines that are in D1. (L2 does so, too, but shorter chunks cost more than that: 1,024 words instead of
    // 8,192 make the replay of perl 16 % longer, and that of an array that is copied 5 %.)
    static std::size_t chunk_words(const CacheGeometries& caches) {
        return static_cast<std::size_t>(std::clamp<std::uint64_t>(caches.ll.lines() / 16, 512, 16384));
    }

    void run_on(std::uint32_t number) {
        std::unique_ptr<Core>& core = cores_[number];
        if (__builtin_expect(core == nullptr, 0)) core = std::make_unique<Core>(number, caches_);
        here_ = core.get();
        next_.run_on(number);
    }
    // Those that something has run on.
    template <class Function>
    void for_each_core(Function function) {
        for (const std::unique_ptr<Core>& core : cores_) {
            if (core != nullptr) function(*core);
        }
    }

    // Prefetches, on the host, what the next level will read when it is asked for this address, and the place at which
    // it may still hold the line that leaves.
    [[gnu::always_inline]] void host_prefetch_line(Address address, const Load& replaced) {
        next_.host_prefetch_near(address);
        if constexpr (kTraits.line_use) next_.host_prefetch_at(replaced.next_index);
    }

    ChargeTarget target_of_load(Reference reference, Address address, const ChargeTarget& replaced = {}) {
        if constexpr (kTraits.line_use) return sink_.on_load({reference, address, replaced});
        return {};
    }

    // What I1 or D1 misses is looked for in the next level: only the accessed bytes, as the rest is not asked for where
    // lines there are shorter. All of them have seen the access then, also where the second line evicts the first.
    // Tells where it is there, of several lines the last.
    Outcome load_behind_l1(Reference reference, Address address, std::uint32_t size, std::uint32_t* index) {
        if (__builtin_expect(placements_ != nullptr, 0)) load_in_placements(reference, address, size);
        return next_.load(reference, address, size, index);
    }

    [[gnu::noinline, gnu::cold]] void load_in_placements(Reference reference, Address address, std::uint32_t size) {
        const bool asks = reference == Reference::kData && placements_->follows_instructions();
        placements_->load(reference, address, size, asks ? data_instruction() : 0);
    }

    // A line leaves I1 or D1 of a core: its use is reported, and added to that in the next level that still holds the
    // memory.
    void retire_fetched(Core& core, LineNumber line, const Use& use, const Load& load) {
        if constexpr (kTraits.line_use) retire_l1(core, i1_.line_bits(), line, use, load);
    }
    void retire_data(Core& core, LineNumber line, const DataUse& use, const Load& load) {
        if constexpr (kTraits.line_use) {
            const Address address = static_cast<Address>(line) << d1_.line_bits();
            sink_.on_evict_data(EvictDataEvent{load.target, address, use.bytes, d1_.line_bytes()});
            retire_l1(core, d1_.line_bits(), line, use, load);
        }
        if constexpr (kTraits.write_back) {
            // It is written back as a whole to the next level that still holds it. (If none does, it is written to
            // memory, which costs no miss.)
            if (use.dirty) {
                next_.write_back(core.number, Overlap::first_byte(d1_.line_bits(), line),
                                 Overlap::last_byte(d1_.line_bits(), line));
            }
        }
    }
    void retire_l1(const Core& core, unsigned bits, LineNumber line, const Use& use, const Load& load) {
        evict(Level::kL1, core.number, bits, load.target, use);
        next_.merge(core.number, bits, line, use, load.next_index);
    }
    void evict(Level level, std::uint32_t core, unsigned bits, const ChargeTarget& target, const Use& use) {
        sink_.on_evict({level, core, target, use.accesses, use.bytes.count(), 1u << bits});
    }

    // What the levels behind L1 ask, as their Front.
    void retire(Level level, std::uint32_t core, unsigned bits, const LastLevelUse<kTraits>& use) {
        evict(level, core, bits, use.target, use);
    }
    void prefetched(Level level, std::uint32_t core, const ChargeTarget& target, bool is_used) {
        sink_.on_prefetched({level, core, target, is_used});
    }
    bool is_counted() { return sink_.is_counted(); }
    // L1 has noted that in the chunk.
    void lost(unsigned, LineNumber) {}
    Address data_instruction() const {
        const Block& block = *exit_of(chunk_->words[data_position_.record]).block;
        return block.instruction_address(block.accesses()[data_position_.access].instruction);
    }
    // A line of 1 << `bits` bytes leaves: the use that copies of it in L1 have recorded so far belongs to it.
    void take_over(unsigned bits, LineNumber whole, Use& to) {
        for_each_core([&](const Core& core) { take_over_from(core.number, bits, whole, to); });
    }
    void take_over_from(std::uint32_t number, unsigned bits, LineNumber whole, Use& to) {
        Core& core = *cores_[number];
        Overlap::for_each_line(bits, whole, i1_.line_bits(), [&](LineNumber line) {
            const std::uint32_t slot = core.i1.find(line);
            if (slot == L1Lines::kAbsent) return;
            Overlap::merge(i1_.line_bits(), line, fetched_use(core, slot, line), bits, whole, to);
        });
        Overlap::for_each_line(bits, whole, d1_.line_bits(), [&](LineNumber line) {
            const std::uint32_t slot = core.d1.find(line);
            if (slot == L1Lines::kAbsent) return;
            Overlap::merge(d1_.line_bits(), line, data_use(core, slot, line), bits, whole, to);
        });
    }
    bool has_dirty_copy(unsigned bits, LineNumber whole) {
        bool is_dirty = false;
        for_each_core([&](const Core& core) {
            Overlap::for_each_line(bits, whole, d1_.line_bits(), [&](LineNumber line) {
                const std::uint32_t slot = core.d1.find(line);
                if (slot != L1Lines::kAbsent && data_use(core, slot, line).dirty) is_dirty = true;
            });
        });
        return is_dirty;
    }
    // The use of a line until the replay's position.
    Use fetched_use(const Core& core, std::uint32_t slot, LineNumber line) {
        if (&core != here_) return chunk_->others[core.number]->fetched[slot];
        return stage_.instructions(core.number).use_before(chunk_->fetched, fetch_position_, slot, line);
    }
    DataUse data_use(const Core& core, std::uint32_t slot, LineNumber line) {
        if (&core != here_) return chunk_->others[core.number]->data[slot];
        return stage_.data(core.number).use_before(*chunk_, data_position_, slot, line);
    }

    Sink& sink_;
    Stage stage_;
    Instructions& i1_;  // of the first core
    Data& d1_;
    CacheGeometries caches_;
    PagePlacement pages_;
    Next next_;
    std::vector<std::unique_ptr<Core>> cores_;  // null: nothing has run there
    Core* here_ = nullptr;                      // that runs
    const Chunk* chunk_ = nullptr;              // the chunk that is being replayed
    DataPosition data_position_;
    FetchPosition fetch_position_;
    Placements* placements_ = nullptr;  // null: there is only this one
    Cause cause_ = Cause::kNone;        // of what L1 missed since take_causes()
};

}  // namespace bd
