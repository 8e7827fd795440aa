// SPDX-License-Identifier: GPL-2.0-or-later
//
// A level between L1 and LL: the L2s of all cores, and LL behind them. It is asked for what L1 misses as a LastLevel is
// where there is no L2, and asks the same of its Front (see last_level.h), and in addition:
//
//   struct Front {
//       // Adds the use of copies that one core has in front of L2.
//       void take_over_from(std::uint32_t core, unsigned bits, LineNumber, LineUse& to);
//   };

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/level.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/l1_cache.h"
#include "engine/cache/last_level.h"
#include "engine/cache/line_overlap.h"
#include "engine/cache/next_level_config.h"
#include "engine/cache/page_placement.h"
#include "engine/cache/prefetchers.h"
#include "engine/cache/prefetching.h"
#include "engine/cache/reuse.h"

namespace bd {

template <CacheTraits kTraits, class Front>
class MiddleLevel {
    using Use = LineUse<traits_of_l1(kTraits)>;
    using Overlap = LineOverlap<kTraits.common_lines, Use>;
    using Last = LastLevel<kTraits, MiddleLevel>;
    using LastUse = typename Last::UseInSlot;
    friend Last;

public:
    // `front` and `pages` must live as long.
    MiddleLevel(const CacheGeometries& caches, PagePlacement* pages, Front& front, const NextLevelConfig& config,
                ReuseRules rules)
        : front_(front),
          geometry_(caches.l2),
          line_bits_(caches.l2.line_bits()),
          pages_(pages),
          rules_(rules),
          is_exclusive_(caches.is_exclusive()),
          write_back_(config.write_back),
          prefetchers_(config.l2_prefetchers),
          last_(caches, pages, *this, config, rules) {
        run_on(0);
    }

    // From now on, this core runs.
    void run_on(std::uint32_t core) {
        last_.run_on(core);
        if (core >= l2s_.size()) l2s_.resize(core + 1);
        std::unique_ptr<L2>& l2 = l2s_[core];
        if (l2 == nullptr) l2 = std::make_unique<L2>(*this, core);
        here_ = l2.get();
    }

    // What L1 misses is looked for here. Tells where it is, of several lines the last.
    Outcome load(Reference reference, Address address, std::uint32_t size, std::uint32_t* index) {
        Outcome outcome = Outcome::kL1Miss;
        L2& l2 = *here_;
        const Address end = address + (size - 1);
        for (Address number = address >> line_bits(); number <= end >> line_bits(); ++number) {
            const LineNumber line{number};
            *index = l2.lines.use(line);
            const bool misses = *index == Lines::kAbsent;
            if (!misses && prefetches()) settle_prefetched(l2, *index, true);
            if constexpr (kTraits.why) {
                const Cause cause = l2.touched.touch(line, misses);
                if (misses) cause_ = std::max(cause_, cause);
            }
            const Address begin = std::max(address, number << line_bits());
            if (misses) {
                const Address behind = std::min(end, ((number + 1) << line_bits()) - 1);
                outcome = std::max(outcome, __builtin_expect(is_exclusive_, 0)
                                                ? move_up(reference, line, begin, index)
                                                : load_from_last(reference, line, begin, behind, index));
            }
            if (prefetches()) prefetch_after(reference, line, misses, begin);
            if (kTraits.common_lines) break;
        }
        return outcome;
    }

    // A line of 1 << `bits` bytes leaves L1 of a core: its use is added to that of the lines that have the same memory.
    // `index`: where its L2 held the line once. The bytes that L2 does not hold may be in LL.
    void merge(std::uint32_t core, unsigned bits, LineNumber line, const Use& use, std::uint32_t index) {
        L2& l2 = *l2s_[core];
        Use rest = use;
        Overlap::for_each_line(bits, line, line_bits(), [&](LineNumber whole) {
            const std::uint32_t found = l2.lines[index] == whole ? index : l2.lines.find(whole);
            if (found == Lines::kAbsent) return;
            Overlap::merge(bits, line, use, line_bits(), whole, l2.lines.use_of(found));
            rest.bytes = Overlap::without(rest.bytes, bits, line, line_bits(), whole);
        });
        if (!rest.bytes.empty()) last_.merge(core, bits, line, rest, 0);
    }

    // L1 of a core writes these bytes back.
    void write_back(std::uint32_t core, Address first, Address last) {
        L2& l2 = *l2s_[core];
        Overlap::for_each_line_between(first, last, line_bits(), [&](LineNumber line) {
            const std::uint32_t index = l2.lines.find(line);
            if (index != Lines::kAbsent) {
                l2.dirty[index] = true;
            } else {
                last_.write_back(core, std::max(first, Overlap::first_byte(line_bits(), line)),
                                 std::min(last, Overlap::last_byte(line_bits(), line)));
            }
        });
    }

    // A core loses its copy of a line of 1 << `bits` bytes to another one.
    void lose(std::uint32_t core, unsigned bits, LineNumber line) {
        L2& l2 = *l2s_[core];
        for_each_copy(l2, bits, line, [&](LineNumber copy, std::uint32_t index) {
            retire(l2, copy, index);
            l2.lines.remove(index);
        });
    }

    bool last_level_has(LineNumber line) const { return last_.last_level_has(line); }

    // All lines leave, those of L2 first.
    [[gnu::cold]] void flush() {
        is_flushing_ = true;
        for_each_l2([this](L2& l2) {
            l2.lines.for_each([&](std::uint32_t index) {
                retire(l2, l2.lines[index], index);
                l2.lines.clear(index);
            });
            if constexpr (kTraits.why) l2.touched.clear();
            if (l2.prefetching != nullptr) l2.prefetching->clear();
        });
        is_flushing_ = false;
        last_.flush();
    }

    // Calls function(charge target) for all lines. Requires kTraits.line_use.
    template <class Function>
    void for_each_target(Function function) {
        for_each_l2([&](L2& l2) {
            l2.lines.for_each([&](std::uint32_t index) { function(l2.lines.use_of(index).target); });
            for (LastUse& use : l2.last_uses) function(use.target);
        });
        last_.for_each_target(function);
    }

    // With kTraits.why: the greatest cause of a miss of each level since this was last called.
    void take_causes(Causes* causes) {
        (*causes)[Level::kL2] = std::exchange(cause_, Cause::kNone);
        last_.take_causes(causes);
    }

    // Prefetch, on the host, what is read when this address is looked for, in two steps.
    [[gnu::always_inline]] void host_prefetch_far(Address address) const {
        here_->lines.host_prefetch_set(line_of(address));
        last_.host_prefetch_touch(address);
    }
    [[gnu::always_inline]] void host_prefetch_near(Address address) {
        here_->lines.host_prefetch_line(line_of(address));
        last_.host_prefetch_set(address);
        last_.host_prefetch_tick(address);
    }
    // What merge() needs of a line that the L2 of the core that runs has held.
    [[gnu::always_inline]] void host_prefetch_at(std::uint32_t index) {
        __builtin_prefetch(&here_->lines.use_of(index), 1);
    }

private:
    struct NoUse {};
    struct LoadedUse : LastLevelUse<kTraits> {
        std::uint32_t next_index = 0;  // where LL held the line when it was loaded
    };
    using Lines = CacheLines<std::conditional_t<kTraits.line_use, LoadedUse, NoUse>>;
    using Touched = typename Last::Touched;

    // That of one core.
    struct L2 {
        L2(const MiddleLevel& level, std::uint32_t of_core)
            : core(of_core),
              lines(level.geometry_, level.pages_),
              touched(lines.size(), level.rules_),
              last_uses(kTraits.line_use && level.is_exclusive_ ? lines.size() : 0),
              dirty(level.write_back_ ? lines.size() : 0) {
            if (level.prefetches()) prefetching = std::make_unique<Prefetching>(level.geometry_, level.prefetchers_);
        }

        std::uint32_t core;
        Lines lines;
        [[no_unique_address]] Touched touched;
        // By index, if LL is exclusive: the use of a line since it was loaded from memory, without that in L2 and in
        // front.
        ZeroedArray<LastUse> last_uses;
        ZeroedArray<bool> dirty;  // by index: whether it was written to, and not written back to LL or memory yet
        std::unique_ptr<Prefetching> prefetching;  // null: without prefetchers
    };

    unsigned line_bits() const { return kTraits.common_lines ? 6 : line_bits_; }
    LineNumber line_of(Address address) const { return LineNumber{address >> line_bits()}; }

    bool prefetches() const { return __builtin_expect(prefetchers_.any(), 0); }

    // Those of the cores that something has run on.
    template <class Function>
    void for_each_l2(Function function) {
        for (const std::unique_ptr<L2>& l2 : l2s_) {
            if (l2 != nullptr) function(*l2);
        }
    }

    // The lines in an L2 that have bytes of a line of 1 << `bits` bytes, and where they are.
    template <class Function>
    void for_each_copy(L2& l2, unsigned bits, LineNumber line, Function function) {
        Overlap::for_each_line(bits, line, line_bits(), [&](LineNumber copy) {
            const std::uint32_t index = l2.lines.find(copy);
            if (index != Lines::kAbsent) function(copy, index);
        });
    }

    // Of the bytes that are asked for, those in a line that L2 misses.
    Outcome load_from_last(Reference reference, LineNumber line, Address begin, Address end, std::uint32_t* index) {
        *index = insert(reference, line, begin);
        std::uint32_t next_index = 0;
        const Outcome outcome = last_.load(reference, begin, static_cast<std::uint32_t>(end - begin + 1), &next_index);
        if constexpr (kTraits.line_use) here_->lines.use_of(*index).next_index = next_index;
        return outcome;
    }

    // With an exclusive LL: what L2 misses comes from there, else from memory. Then it is in L2, and what that has
    // evicted in LL.
    [[gnu::noinline]] Outcome move_up(Reference reference, LineNumber line, Address address, std::uint32_t* index) {
        typename Last::ExclusiveUse use;
        const bool misses = last_.take(reference, line, address, &use);
        *index = insert_exclusive(reference, line, address, use);
        const bool is_dirty_miss = kTraits.write_back && last_.evicted_dirty();
        last_.prefetch_after_take(reference, line, misses, address);
        if (!misses) return Outcome::kL2Miss;
        return is_dirty_miss ? Outcome::kLLDirtyMiss : Outcome::kLLMiss;
    }

    // The prefetchers of L2 look at a line that has been looked for because of `address`.
    [[gnu::noinline, gnu::cold]] void prefetch_after(Reference reference, LineNumber line, bool missed,
                                                     Address address) {
        L2& l2 = *here_;
        const auto load_absent = [&](LineNumber wanted) {
            if (l2.lines.find(wanted) != Lines::kAbsent) return;
            if constexpr (kTraits.why) l2.touched.touch(wanted, false);
            l2.prefetching->note_loaded(prefetch(reference, wanted));
        };
        l2.prefetching->after(
            reference, line, missed, address, [this] { return front_.data_instruction(); }, load_absent);
    }

    // Loads an absent line, which is no miss of any level. Tells where it is.
    std::uint32_t prefetch(Reference reference, LineNumber line) {
        const Address first = Overlap::first_byte(line_bits(), line);
        if (is_exclusive_) {
            typename Last::ExclusiveUse use;
            last_.take_for_prefetch(reference, line, first, &use);
            return insert_exclusive(reference, line, first, use);
        }
        const std::uint32_t index = insert(reference, line, first);
        const std::uint32_t next_index =
            last_.load_for_prefetch(reference, first, Overlap::last_byte(line_bits(), line));
        if constexpr (kTraits.line_use) here_->lines.use_of(index).next_index = next_index;
        return index;
    }

    // A line that was prefetched is used, or leaves.
    void settle_prefetched(L2& l2, std::uint32_t index, bool is_used) {
        if (!l2.prefetching->settle(index)) return;
        if constexpr (kTraits.line_use) front_.prefetched(Level::kL2, l2.core, l2.lines.use_of(index).target, is_used);
    }

    // Makes room for an absent line, which is not loaded yet.
    std::uint32_t insert(Reference reference, LineNumber line, Address address) {
        const ChargeTarget target = target_of_load(reference, address);
        L2& l2 = *here_;
        const auto slot = l2.lines.insert(line);
        if (slot.evicted != kNoLine) retire(l2, slot.evicted, slot.index);
        if constexpr (kTraits.line_use) l2.lines.use_of(slot.index) = LoadedUse{{{}, target}};
        if constexpr (kTraits.write_back) {
            if (write_back_) l2.dirty[slot.index] = false;
        }
        return slot.index;
    }

    // The same of one that has come from an exclusive LL, or memory.
    std::uint32_t insert_exclusive(Reference reference, LineNumber line, Address address,
                                   const typename Last::ExclusiveUse& use) {
        const std::uint32_t index = insert(reference, line, address);
        if constexpr (kTraits.line_use) here_->last_uses[index] = use.use;
        if constexpr (kTraits.write_back) {
            if (write_back_) here_->dirty[index] = use.dirty;
        }
        return index;
    }

    // A line leaves an L2: its own use is added to that in LL. The use that copies of it in L1 have recorded so far
    // belongs to it, too.
    void retire(L2& l2, LineNumber line, std::uint32_t index) {
        if (prefetches()) settle_prefetched(l2, index, false);
        if (__builtin_expect(is_exclusive_, 0)) hand_on(l2, line, index);
        if constexpr (kTraits.line_use) {
            LoadedUse& use = l2.lines.use_of(index);
            if (!is_exclusive_) last_.merge(l2.core, line_bits(), line, use, use.next_index);
            front_.take_over_from(l2.core, line_bits(), line, use);
            front_.retire(Level::kL2, l2.core, line_bits(), use);
        }
        if constexpr (kTraits.write_back) {
            if (write_back_ && !is_exclusive_ && l2.dirty[index]) {
                last_.write_back(l2.core, Overlap::first_byte(line_bits(), line),
                                 Overlap::last_byte(line_bits(), line));
            }
        }
    }

    // With an exclusive LL: a line that leaves an L2, where it is at `index`, goes there, unless another L2 has it,
    // which then hands on what is known of it.
    [[gnu::noinline]] void hand_on(L2& from, LineNumber line, std::uint32_t index) {
        typename Last::ExclusiveUse left;
        if constexpr (kTraits.line_use) {
            left.use = std::exchange(from.last_uses[index], {});
            left.use.add(from.lines.use_of(index));
        }
        if constexpr (kTraits.write_back) left.dirty = write_back_ && from.dirty[index];
        for (const std::unique_ptr<L2>& to : l2s_) {
            if (to == nullptr || to.get() == &from) continue;
            const std::uint32_t to_index = to->lines.find(line);
            if (to_index == Lines::kAbsent) continue;
            if constexpr (kTraits.line_use) {
                LastUse& use = to->last_uses[to_index];
                use.add(left.use);
                if (left.use.target.node != kNoNode) use.target = left.use.target;
            }
            if (left.dirty) to->dirty[to_index] = true;
            return;
        }
        if (!is_flushing_) {
            last_.put(line, left, from.core);
        } else if constexpr (kTraits.line_use) {
            front_.retire(Level::kLL, from.core, line_bits(), left.use);
        }
    }

    // What LL asks, as its Front.
    bool has(LineNumber line) {
        return std::ranges::any_of(
            l2s_, [line](const auto& l2) { return l2 != nullptr && l2->lines.find(line) != Lines::kAbsent; });
    }
    void take_over(unsigned bits, LineNumber line, Use& to) {
        for_each_l2([&](L2& l2) {
            for_each_copy(l2, bits, line, [&](LineNumber copy, std::uint32_t index) {
                Overlap::merge(line_bits(), copy, l2.lines.use_of(index), bits, line, to);
            });
        });
        front_.take_over(bits, line, to);
    }
    void lost(unsigned bits, LineNumber line) {
        for_each_l2([&](L2& l2) { lose(l2.core, bits, line); });
        front_.lost(bits, line);
    }
    bool has_dirty_copy(unsigned bits, LineNumber line) {
        bool is_dirty = front_.has_dirty_copy(bits, line);
        for_each_l2([&](L2& l2) {
            for_each_copy(l2, bits, line, [&](LineNumber, std::uint32_t index) { is_dirty |= l2.dirty[index]; });
        });
        return is_dirty;
    }
    ChargeTarget target_of_load(Reference reference, Address address) {
        return front_.target_of_load(reference, address);
    }
    void retire(Level level, std::uint32_t core, unsigned bits, const LastLevelUse<kTraits>& use) {
        front_.retire(level, core, bits, use);
    }
    void prefetched(Level level, std::uint32_t core, const ChargeTarget& target, bool is_used) {
        front_.prefetched(level, core, target, is_used);
    }
    Address data_instruction() { return front_.data_instruction(); }
    bool is_counted() { return front_.is_counted(); }

    Front& front_;
    const CacheGeometry geometry_;
    const unsigned line_bits_;
    PagePlacement* const pages_;
    const ReuseRules rules_;
    const bool is_exclusive_;  // whether LL is
    const bool write_back_;
    const PrefetchRules prefetchers_;
    bool is_flushing_ = false;
    std::vector<std::unique_ptr<L2>> l2s_;  // by core; null: nothing has run there
    L2* here_ = nullptr;                    // of the core that runs
    Cause cause_ = Cause::kNone;
    Last last_;
};

// The level behind L1.
template <CacheTraits kTraits, class Front>
using NextLevel = std::conditional_t<kTraits.middle_level, MiddleLevel<kTraits, Front>, LastLevel<kTraits, Front>>;

}  // namespace bd
