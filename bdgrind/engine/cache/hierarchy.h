// SPDX-License-Identifier: GPL-2.0-or-later
//
// The simulated caches, and the use of each line in them: I1 and D1, both in front of one LL, or of an L2 that is in
// front of LL. Several cores have these of their own, and share LL, which is in last_level.h. docs/simulation.md is the
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
#include "engine/cache/middle_cache.h"
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
    Hierarchy(const CacheGeometries& caches, Sink& sink, const LastLevelConfig& config = {}, ReuseRules rules = {},
              std::uint32_t cores = 1)
        : sink_(sink),
          stage_(caches, chunk_words(caches), config.write_back, rules, cores, kTraits.middle_level),
          i1_(stage_.instructions()),
          d1_(stage_.data()),
          caches_(caches),
          rules_(rules),
          write_back_(config.write_back),
          pages_(caches.pages),
          last_(caches, &pages_, *this, config, rules) {
        if constexpr (kTraits.line_use) static_assert(CacheSink<Sink, decltype(DataUse::bytes)>);
        BD_CHECK(!kTraits.common_lines || has_common_lines(caches));
        BD_CHECK(kTraits.middle_level == caches.has_l2());
        BD_CHECK(!caches.is_exclusive() || caches.can_be_exclusive());
        BD_CHECK(!kTraits.why || cores == 1);
        cores_.resize(cores);
        here_ = &core(0);
    }

    // From now on, what L1 misses is looked for there, too. They must live as long.
    void set_placements(Placements* placements) { placements_ = placements; }

    // I1 and D1. The misses of each chunk must be passed to follow_fetch() and follow_data() one after the other, when
    // the replay reaches them. Before each, the position in the other cache must be set.
    Stage& stage() { return stage_; }
    void set_chunk(const Chunk& chunk) {
        chunk_ = &chunk;
        here_ = &core(chunk.core);
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
        if constexpr (kTraits.why) causes_[Level::kL1] = std::max(causes_[Level::kL1], miss.cause);
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
        if constexpr (kTraits.why) causes_[Level::kL1] = std::max(causes_[Level::kL1], miss.cause(d1_.size()));
        Core& core = *here_;
        const LineNumber line = d1_.line_of(miss.at.address);
        const LineNumber evicted = core.d1.replace(core.d1.set_of(line), miss.slot, line);
        Load& load = core.d1.use_of(miss.slot);
        if (evicted != kNoLine) retire_data(core, evicted, miss.evicted, load);
        load.target = target;
        return load_behind_l1(Reference::kData, miss.at.address, miss.bytes, &load.next_index);
    }

    // A line is taken from another core, see DataMiss: it leaves that core's D1 and L2.
    [[gnu::cold, gnu::noinline]] void take_data(const DataMiss& taken) {
        data_position_ = taken.at;  // before the access goes on
        Core& core = *cores_[taken.other_core()];
        leaves_ = &core;
        const std::uint32_t slot = taken.taken_slot();
        const LineNumber line = d1_.line_of(taken.at.address);
        if (slot != DataMiss::kOnlyFromL2) {
            core.d1.clear(slot);
            retire_data(core, line, taken.evicted, core.d1.use_of(slot));
        }
        if constexpr (kTraits.middle_level) {
            Overlap::for_each_line(d1_.line_bits(), line, l2_bits(), [&](LineNumber middle) {
                const std::uint32_t index = core.l2.lines.find(middle);
                if (index == L2::Lines::kAbsent) return;
                retire_l2(core, middle, index);
                core.l2.lines.remove(index);
            });
        }
        leaves_ = nullptr;
    }
    // The core whose cache a line leaves; if it leaves LL, any.
    std::uint32_t leaves_core() const { return (leaves_ != nullptr ? leaves_ : here_)->number; }

    // With kTraits.why: the causes of the misses since this was last called.
    Causes take_causes() {
        Causes causes = std::exchange(causes_, {});
        causes[Level::kLL] = last_.take_cause();
        return causes;
    }

    // Prefetch, in two steps, what follow_data() and follow_fetch() will need for a later miss.
    template <class Miss>
    [[gnu::always_inline]] void host_prefetch_set(const Miss& miss) const {
        if constexpr (kTraits.middle_level) {
            here_->l2.lines.host_prefetch_set(here_->l2.line_of(miss.at.address));
        } else {
            last_.host_prefetch_set(miss.at.address);
        }
        last_.host_prefetch_touch(miss.at.address);
    }
    [[gnu::always_inline]] void host_prefetch_line(const DataMiss& miss) {
        if (!miss.loads()) return;
        host_prefetch_behind_l1(miss.at.address);
        host_prefetch_next(here_->d1.use_of(miss.slot));
    }
    [[gnu::always_inline]] void host_prefetch_line(const FetchMiss& miss) {
        host_prefetch_behind_l1(miss.at.address);
        host_prefetch_next(here_->i1.use_of(miss.slot));
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

    // Evicts all lines: of all I1 and D1, L2, then LL.
    [[gnu::cold]] void flush() {
        for_each_core([this](Core& core) {
            leaves_ = &core;
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
        if constexpr (kTraits.middle_level) {
            is_flushing_ = true;
            for_each_core([this](Core& core) { flush_l2(core); });
            is_flushing_ = false;
        }
        leaves_ = nullptr;
        last_.flush();
        if (placements_ != nullptr) placements_->flush();
    }

    // Keeps all lines in the caches, but without charging them when they are evicted.
    void drop_charges() {
        if constexpr (kTraits.line_use) {
            for_each_core([this](Core& core) {
                drop_charges(core.i1);
                drop_charges(core.d1);
                if constexpr (kTraits.middle_level) {
                    drop_charges(core.l2.lines);
                    for (auto& use : core.l2.last_uses) sink_.drop_charges(&use.target);
                }
            });
            drop_charges(last_.lines());
        }
    }

private:
    using Use = LineUse<traits_of_l1(kTraits)>;
    using DataUse = typename Data::Use;
    using Overlap = LineOverlap<kTraits.common_lines, Use>;

    using Last = LastLevel<kTraits, Hierarchy>;
    friend Last;

    struct NoUse {};
    struct L2Use : LastLevelUse<kTraits> {
        std::uint32_t next_index = 0;  // as below
    };
    using L2 = MiddleCache<kTraits, std::conditional_t<kTraits.line_use, L2Use, NoUse>, typename Last::UseInSlot>;
    struct NoL2 {
        NoL2(const CacheGeometries&, PagePlacement*, bool, ReuseRules) {}
    };

    // The charge target of a line in I1 or D1, and the index at which the next level held it when it was loaded.
    struct Load {
        ChargeTarget target;
        std::uint32_t next_index = 0;
    };

    using L1Lines = CacheLines<Load>;

    // The caches that a core does not share, at the replay's position.
    struct Core {
        Core(std::uint32_t core_number, const CacheGeometries& caches, PagePlacement* pages, bool write_back,
             ReuseRules rules)
            : number(core_number), i1(caches.i1), d1(caches.d1), l2(caches, pages, write_back, rules) {}

        std::uint32_t number;
        L1Lines i1;
        L1Lines d1;
        [[no_unique_address]] std::conditional_t<kTraits.middle_level, L2, NoL2> l2;
    };

    // The length of chunks: as long as is useful, but short if D1 is often asked for the use of lines, as a small LL
    // evicts lines that are in D1. (L2 does so, too, but shorter chunks cost more than that: 1,024 words instead of
    // 8,192 make the replay of perl 16 % longer, and that of an array that is copied 5 %.)
    static std::size_t chunk_words(const CacheGeometries& caches) {
        return static_cast<std::size_t>(std::clamp<std::uint64_t>(caches.ll.lines() / 16, 512, 16384));
    }

    Core& core(std::uint32_t number) {
        std::unique_ptr<Core>& core = cores_[number];
        if (__builtin_expect(core == nullptr, 0)) {
            core = std::make_unique<Core>(number, caches_, &pages_, write_back_, rules_);
        }
        return *core;
    }
    // Those that something has run on.
    template <class Function>
    void for_each_core(Function function) {
        for (const std::unique_ptr<Core>& core : cores_) {
            if (core != nullptr) function(*core);
        }
    }

    template <class Lines>
    void drop_charges(Lines& lines) {
        for (std::uint32_t index = 0; index < lines.size(); ++index) {
            if (lines[index] != kNoLine) sink_.drop_charges(&lines.use_of(index).target);
        }
    }

    // Prefetches, on the host, what the next levels will read when they are asked for this address.
    [[gnu::always_inline]] void host_prefetch_behind_l1(Address address) {
        if constexpr (kTraits.middle_level) {
            here_->l2.lines.host_prefetch_line(here_->l2.line_of(address));
            last_.host_prefetch_set(address);
        } else {
            last_.host_prefetch_line(address);
        }
        last_.host_prefetch_tick(address);
    }
    // Prefetches, on the host, the place at which the next level may still hold a line.
    [[gnu::always_inline]] void host_prefetch_next(const Load& load) {
        if constexpr (!kTraits.line_use) return;
        if constexpr (kTraits.middle_level) {
            __builtin_prefetch(&here_->l2.lines.use_of(load.next_index), 1);
        } else {
            last_.host_prefetch_at(load.next_index);
        }
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
        if constexpr (kTraits.middle_level) {
            return load_from_l2(reference, address, size, index);
        } else {
            return last_.load(reference, address, size, index);
        }
    }

    [[gnu::noinline, gnu::cold]] void load_in_placements(Reference reference, Address address, std::uint32_t size) {
        const bool asks = reference == Reference::kData && placements_->follows_instructions();
        placements_->load(reference, address, size, asks ? data_instruction() : 0);
    }

    Outcome load_from_l2(Reference reference, Address address, std::uint32_t size, std::uint32_t* index) {
        Outcome outcome = Outcome::kL1Miss;
        L2& l2 = here_->l2;
        const Address end = address + (size - 1);
        for (Address number = address >> l2_bits(); number <= end >> l2_bits(); ++number) {
            *index = l2.lines.use(LineNumber{number});
            const bool misses = *index == L2::Lines::kAbsent;
            if constexpr (kTraits.why) {
                const Cause cause = l2.touched.touch(LineNumber{number}, misses);
                if (misses) causes_[Level::kL2] = std::max(causes_[Level::kL2], cause);
            }
            if (misses && __builtin_expect(caches_.is_exclusive(), 0)) {
                outcome = std::max(
                    outcome, move_up(reference, LineNumber{number}, std::max(address, number << l2_bits()), index));
            } else if (misses) {
                const Address begin = std::max(address, number << l2_bits());
                const Address behind = std::min(end, ((number + 1) << l2_bits()) - 1);
                *index = make_l2(reference, LineNumber{number}, begin);
                std::uint32_t ll_index = 0;
                outcome = std::max(
                    outcome, last_.load(reference, begin, static_cast<std::uint32_t>(behind - begin + 1), &ll_index));
                if constexpr (kTraits.line_use) l2.lines.use_of(*index).next_index = ll_index;
            }
            if (kTraits.common_lines) break;
        }
        return outcome;
    }

    // With an exclusive LL: what L2 misses comes from there, else from memory. Then it is in L2, and what that has
    // evicted in LL.
    [[gnu::noinline]] Outcome move_up(Reference reference, LineNumber line, Address address, std::uint32_t* index) {
        typename Last::ExclusiveUse use;
        const bool misses = last_.take(reference, line, address, &use);
        *index = make_l2(reference, line, address);
        L2& l2 = here_->l2;
        if constexpr (kTraits.line_use) l2.last_uses[*index] = use.use;
        if constexpr (kTraits.write_back) {
            if (write_back_) l2.dirty[*index] = use.dirty;
        }
        const bool is_dirty_miss = kTraits.write_back && last_.evicted_dirty();
        last_.prefetch_after_take(reference, line, misses, address);
        if (!misses) return Outcome::kL2Miss;
        return is_dirty_miss ? Outcome::kLLDirtyMiss : Outcome::kLLMiss;
    }

    // With an exclusive LL: a line leaves L2, where it is at `index`. It goes there, unless another L2 has it,
    // which then hands on what is known of it.
    [[gnu::noinline]] void leave_l2(Core& from, LineNumber line, std::uint32_t index) {
        typename Last::ExclusiveUse left;
        if constexpr (kTraits.line_use) {
            left.use = std::exchange(from.l2.last_uses[index], {});
            left.use.add(from.l2.lines.use_of(index));
        }
        if constexpr (kTraits.write_back) left.dirty = write_back_ && from.l2.dirty[index];
        Core* to = nullptr;
        std::uint32_t to_index = L2::Lines::kAbsent;
        for_each_core([&](Core& core) {
            if (&core == &from || to_index != L2::Lines::kAbsent) return;
            to = &core;
            to_index = core.l2.lines.find(line);
        });
        if (to_index != L2::Lines::kAbsent) {
            if constexpr (kTraits.line_use) {
                LastLevelUse<kTraits>& use = to->l2.last_uses[to_index];
                use.add(left.use);
                if (left.use.target.node != kNoNode) use.target = left.use.target;
            }
            if (left.dirty) to->l2.dirty[to_index] = true;
        } else if (!is_flushing_) {
            last_.put(line, left, from.number);
        } else if constexpr (kTraits.line_use) {
            retire(left.use);
        }
    }

    // Makes room for an absent line, which is not loaded yet.
    std::uint32_t make_l2(Reference reference, LineNumber line, Address address) {
        const ChargeTarget target = target_of_load(reference, address);
        L2& l2 = here_->l2;
        const auto slot = l2.lines.insert(line);
        if (slot.evicted != kNoLine) retire_l2(*here_, slot.evicted, slot.index);
        if constexpr (kTraits.line_use) l2.lines.use_of(slot.index) = L2Use{{{}, target}};
        if constexpr (kTraits.write_back) {
            if (write_back_) l2.dirty[slot.index] = false;
        }
        return slot.index;
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
            if (use.dirty) write_back(core, line);
        }
    }
    void retire_l1(Core& core, unsigned bits, LineNumber line, const Use& use, const Load& load) {
        sink_.on_evict({Level::kL1, load.target, use.accesses, use.bytes.count(), 1u << bits});
        if constexpr (kTraits.middle_level) {
            merge_into_l2(core.l2, bits, line, use, load.next_index);
        } else {
            last_.merge(bits, line, use, load.next_index);
        }
    }

    // `index`: where L2 held the line once. The bytes that L2 does not hold may be in LL.
    void merge_into_l2(L2& l2, unsigned bits, LineNumber line, const Use& use, std::uint32_t index) {
        Use rest = use;
        Overlap::for_each_line(bits, line, l2_bits(), [&](LineNumber middle) {
            const std::uint32_t found = l2.lines[index] == middle ? index : l2.lines.find(middle);
            if (found == L2::Lines::kAbsent) return;
            Overlap::merge(bits, line, use, l2_bits(), middle, l2.lines.use_of(found));
            rest.bytes = Overlap::without(rest.bytes, bits, line, l2_bits(), middle);
        });
        if (!rest.bytes.empty()) last_.merge(bits, line, rest, 0);
    }
    // A line leaves L2: its own use is added to that in LL. The use that copies of it in L1 have recorded so far
    // belongs to it, too.
    void retire_l2(Core& core, LineNumber middle, std::uint32_t index) {
        if (__builtin_expect(caches_.is_exclusive(), 0)) leave_l2(core, middle, index);
        if constexpr (kTraits.line_use) {
            L2Use& use = core.l2.lines.use_of(index);
            if (!caches_.is_exclusive()) last_.merge(l2_bits(), middle, use, use.next_index);
            take_over_from_l1(core, l2_bits(), middle, use);
            sink_.on_evict({Level::kL2, use.target, use.accesses, use.bytes.count(), 1u << l2_bits()});
        }
        if constexpr (kTraits.write_back) {
            if (write_back_ && !caches_.is_exclusive() && core.l2.dirty[index]) {
                last_.write_back(Overlap::first_byte(l2_bits(), middle), Overlap::last_byte(l2_bits(), middle));
            }
        }
    }
    void flush_l2(Core& core) {
        leaves_ = &core;
        L2& l2 = core.l2;
        for (std::uint32_t index = 0; index < l2.lines.size(); ++index) {
            if (l2.lines[index] == kNoLine) continue;
            retire_l2(core, l2.lines[index], index);
            l2.lines.clear(index);
        }
        l2.touched.clear();
    }

    // What LL asks, as its Front.
    bool has_in_l2(LineNumber line) {
        bool has = false;
        if constexpr (kTraits.middle_level) {
            for_each_core([&](Core& core) { has |= core.l2.lines.find(line) != L2::Lines::kAbsent; });
        }
        return has;
    }
    void retire(const LastLevelUse<kTraits>& use) {
        sink_.on_evict({Level::kLL, use.target, use.accesses, use.bytes.count(), 1u << last_.line_bits()});
    }
    void prefetched(const ChargeTarget& target, bool is_used) { sink_.on_prefetched({target, is_used}); }
    std::uint32_t running_core() const { return here_->number; }
    bool is_counted() { return sink_.is_counted(); }
    Address data_instruction() const {
        const Block& block = *exit_of(chunk_->words[data_position_.record]).block;
        return block.instruction_address(block.accesses()[data_position_.access].instruction);
    }
    // `last` leaves LL: the use that copies of it have recorded so far belongs to it.
    void take_over(LineNumber last, LastLevelUse<kTraits>& to) {
        for_each_core([&](Core& core) {
            if constexpr (kTraits.middle_level) {
                Overlap::for_each_line(last_.line_bits(), last, l2_bits(), [&](LineNumber middle) {
                    const std::uint32_t index = core.l2.lines.find(middle);
                    if (index == L2::Lines::kAbsent) return;
                    Overlap::merge(l2_bits(), middle, core.l2.lines.use_of(index), last_.line_bits(), last, to);
                });
            }
            take_over_from_l1(core, last_.line_bits(), last, to);
        });
    }
    // The same for copies in L1 of a line of 1 << `bits` bytes.
    void take_over_from_l1(Core& core, unsigned bits, LineNumber whole, Use& to) {
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
    // The use of a line until the replay's position.
    Use fetched_use(const Core& core, std::uint32_t slot, LineNumber line) {
        if (&core != here_) return chunk_->others[core.number]->fetched[slot];
        return stage_.instructions(core.number).use_before(chunk_->fetched, fetch_position_, slot, line);
    }
    DataUse data_use(const Core& core, std::uint32_t slot, LineNumber line) {
        if (&core != here_) return chunk_->others[core.number]->data[slot];
        return stage_.data(core.number).use_before(*chunk_, data_position_, slot, line);
    }

    // A dirty line leaves D1, and is written back as a whole to the next level, if that still holds it. (If no level
    // does, it is written to memory, which costs no miss.)
    void write_back(Core& core, LineNumber line) {
        const Address first = Overlap::first_byte(d1_.line_bits(), line);
        const Address last = Overlap::last_byte(d1_.line_bits(), line);
        if constexpr (kTraits.middle_level) {
            Overlap::for_each_line_between(first, last, l2_bits(), [&](LineNumber middle) {
                const std::uint32_t index = core.l2.lines.find(middle);
                if (index != L2::Lines::kAbsent) {
                    core.l2.dirty[index] = true;
                } else {
                    last_.write_back(std::max(first, Overlap::first_byte(l2_bits(), middle)),
                                     std::min(last, Overlap::last_byte(l2_bits(), middle)));
                }
            });
        } else {
            last_.write_back(first, last);
        }
    }

    bool has_dirty_copy(LineNumber last) {
        bool dirty = false;
        for_each_core([&](Core& core) {
            if constexpr (kTraits.middle_level) {
                Overlap::for_each_line(last_.line_bits(), last, l2_bits(), [&](LineNumber middle) {
                    const std::uint32_t index = core.l2.lines.find(middle);
                    if (index != L2::Lines::kAbsent && core.l2.dirty[index]) dirty = true;
                });
            }
            Overlap::for_each_line(last_.line_bits(), last, d1_.line_bits(), [&](LineNumber line) {
                const std::uint32_t slot = core.d1.find(line);
                if (slot != L1Lines::kAbsent && data_use(core, slot, line).dirty) dirty = true;
            });
        });
        return dirty;
    }

    unsigned l2_bits() const { return here_->l2.line_bits(); }

    Sink& sink_;
    Stage stage_;
    Instructions& i1_;  // of the first core
    Data& d1_;
    CacheGeometries caches_;
    ReuseRules rules_;
    std::vector<std::unique_ptr<Core>> cores_;  // null: nothing has run there
    Core* here_ = nullptr;                      // that runs
    const Core* leaves_ = nullptr;              // that lines leave, if that is not the one that runs
    const Chunk* chunk_ = nullptr;              // the chunk that is being replayed
    DataPosition data_position_;
    FetchPosition fetch_position_;
    const bool write_back_;
    bool is_flushing_ = false;
    PagePlacement pages_;
    Placements* placements_ = nullptr;  // null: there is only this one
    Last last_;
    Causes causes_;
};

}  // namespace bd
