// SPDX-License-Identifier: GPL-2.0-or-later
//
// The last level of the simulated caches, LL, with the prefetchers that load into it. It has what the levels in front
// of it miss, and does not know how many these are.
//
//   struct Front {
//       // Who is charged for the line that is being loaded because of this address in it.
//       ChargeTarget target_of_load(Reference, Address);
//       // Whether L2 has a line; asked only if there is one, and LL is exclusive.
//       bool has(LineNumber);
//       // A line of 1 << `bits` bytes leaves: adds the use of copies in front of LL to `to`; whether one of these is
//       // dirty.
//       void take_over(unsigned bits, LineNumber, LineUse& to);
//       bool has_dirty_copy(unsigned bits, LineNumber);
//       // A line has left a level; `core`: whose it was, if cores do not share that level.
//       void retire(Level, std::uint32_t core, unsigned bits, const LastLevelUse&);
//       // A line of 1 << `bits` bytes has left an inclusive LL, so that what is in front must lose it.
//       void lost(unsigned bits, LineNumber);
//       // A line that was prefetched into a level is used for the first time, or has left without that.
//       void prefetched(Level, std::uint32_t core, const ChargeTarget&, bool is_used);
//       // The address of the instruction whose access to data is being simulated.
//       Address data_instruction();
//       // Whether what happens is counted; asked only if cores share LL.
//       bool is_counted();
//   };

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/base/geometry.h"
#include "engine/base/level.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/callgrind_prefetcher.h"
#include "engine/cache/l1_cache.h"
#include "engine/cache/line_overlap.h"
#include "engine/cache/next_level_config.h"
#include "engine/cache/page_placement.h"
#include "engine/cache/prefetching.h"
#include "engine/cache/reuse.h"
#include "engine/cache/touched_lines.h"

namespace bd {

// The use of a line, and who loaded it.
template <CacheTraits kTraits>
struct LastLevelUse : LineUse<traits_of_l1(kTraits)> {
    ChargeTarget target{};
};

template <CacheTraits kTraits, class Front>
class LastLevel {
    using Use = LineUse<traits_of_l1(kTraits)>;
    using Overlap = LineOverlap<kTraits.common_lines, Use>;
    struct NoUse {};
    struct NotTouched {
        NotTouched(std::uint32_t, ReuseRules) {}
    };

public:
    using LoadedUse = LastLevelUse<kTraits>;
    using UseInSlot = std::conditional_t<kTraits.line_use, LoadedUse, NoUse>;
    using Lines = CacheLines<UseInSlot>;
    using Touched = std::conditional_t<kTraits.why, TouchedLines, NotTouched>;

    // What is known of a line that goes between L2 and an exclusive LL.
    struct ExclusiveUse {
        [[no_unique_address]] UseInSlot use{};
        bool dirty = false;
    };

    // `front` and `pages` must live as long.
    LastLevel(const CacheGeometries& caches, PagePlacement* pages, Front& front, const NextLevelConfig& config,
              ReuseRules rules)
        : front_(front),
          lines_(caches.ll, pages),
          line_bits_(caches.ll.line_bits()),
          is_exclusive_(caches.is_exclusive()),
          is_inclusive_(caches.is_inclusive()),
          shares_(config.shares),
          touched_(lines_.size() + (is_exclusive_ ? static_cast<std::uint32_t>(caches.l2.lines()) : 0), rules),
          dirty_(config.write_back ? lines_.size() : 0) {
        BD_CHECK(kTraits.write_back || !config.write_back);
        BD_CHECK(shares_ == nullptr || shares_->lines() == lines_.size());
        if (config.callgrind_prefetcher) callgrind_ = std::make_unique<CallgrindPrefetcher>(line_bits_);
        if (config.prefetchers.any()) prefetching_ = std::make_unique<Prefetching>(caches.ll, config.prefetchers);
    }

    // From now on, this core runs.
    void run_on(std::uint32_t core) { core_ = core; }

    // What a level in front misses is looked for here, if this level is not exclusive. Tells where it is, of several
    // lines the last.
    Outcome load(Reference reference, Address address, std::uint32_t size, std::uint32_t* index) {
        Outcome outcome = kTraits.middle_level ? Outcome::kL2Miss : Outcome::kL1Miss;
        const Address last = (address + size - 1) >> line_bits();
        for (Address number = address >> line_bits(); number <= last; ++number) {
            const LineNumber line{number};
            const Address asked = std::max(address, number << line_bits());
            if (has_callgrind()) prefetch_before(reference, line);
            *index = lines_.use(line);
            const bool misses = *index == Lines::kAbsent;
            if constexpr (kTraits.why) {
                const Cause cause = touched_.touch(line, misses);
                if (misses) cause_ = std::max(cause_, cause);
            }
            if (misses) {
                *index = insert(reference, line, asked);
                Outcome missed = Outcome::kLLMiss;
                if constexpr (kTraits.write_back) {
                    if (evicted_dirty_) missed = Outcome::kLLDirtyMiss;
                }
                outcome = std::max(outcome, missed);
            }
            if (prefetches()) {
                if (!misses) settle_prefetched(*index, true);
                prefetch_after(reference, line, misses, asked);
            }
            if (kTraits.common_lines) break;
        }
        return outcome;
    }

    // A prefetcher of L2 asks for these bytes, if this level is not exclusive. Tells where the last of the lines is.
    [[gnu::noinline, gnu::cold]] std::uint32_t load_for_prefetch(Reference reference, Address first, Address last) {
        std::uint32_t index = 0;
        for (Address number = first >> line_bits(); number <= last >> line_bits(); ++number) {
            const LineNumber line{number};
            if constexpr (kTraits.why) touched_.touch(line, false);
            index = lines_.use(line);
            if (index == Lines::kAbsent) {
                index = insert(reference, line, std::max(first, number << line_bits()));
            } else if (prefetches()) {
                settle_prefetched(index, true);
            }
        }
        return index;
    }

    // Of an exclusive level. What L2 misses is looked for here, and leaves it: `*use` is that of the line since it was
    // loaded from memory. Tells whether it was absent, and has to be loaded. When L2 has it, prefetch_after_take() must
    // be called.
    bool take(Reference reference, LineNumber line, Address address, ExclusiveUse* use) {
        if (has_callgrind()) prefetch_before(reference, line);
        evicted_dirty_ = false;
        const bool misses = take_out(reference, line, address, use);
        if constexpr (kTraits.why) {
            const Cause cause = touched_.touch(line, misses);
            if (misses) cause_ = std::max(cause_, cause);
        }
        return misses;
    }
    void prefetch_after_take(Reference reference, LineNumber line, bool missed, Address address) {
        if (prefetches()) prefetch_after(reference, line, missed, address);
    }
    // The same for a prefetcher of L2, which is no miss.
    [[gnu::noinline, gnu::cold]] void take_for_prefetch(Reference reference, LineNumber line, Address address,
                                                        ExclusiveUse* use) {
        take_out(reference, line, address, use);
        if constexpr (kTraits.why) touched_.touch(line, false);
    }
    // A line that the L2 of a core evicts, and that is absent here, comes to this level.
    void put(LineNumber line, const ExclusiveUse& use, std::uint32_t core) {
        const std::uint32_t index = place(line, use.use, core);
        if constexpr (kTraits.write_back) {
            if (use.dirty) dirty_[index] = true;
        }
    }
    // Whether the last line that came to this level since take() evicted a dirty one.
    bool evicted_dirty() const { return evicted_dirty_; }

    // A line of 1 << `bits` bytes leaves a level in front of any core: its use is added to that of the lines that have
    // the same memory. `index`: where it was here once.
    void merge(std::uint32_t, unsigned bits, LineNumber line, const Use& use, std::uint32_t index) {
        Overlap::for_each_line(bits, line, line_bits(), [&](LineNumber whole) {
            const std::uint32_t found = lines_[index] == whole ? index : lines_.find(whole);
            if (found != Lines::kAbsent) Overlap::merge(bits, line, use, line_bits(), whole, lines_.use_of(found));
        });
    }

    // These bytes are written back from any core.
    void write_back(std::uint32_t, Address first, Address last) {
        Overlap::for_each_line_between(first, last, line_bits(), [this](LineNumber line) {
            const std::uint32_t index = lines_.find(line);
            if (index != Lines::kAbsent) dirty_[index] = true;
        });
    }

    bool last_level_has(LineNumber line) const { return lines_.find(line) != Lines::kAbsent; }

    // A core loses its copy of a line to another one: it stays here, as they share this level.
    void lose(std::uint32_t, unsigned, LineNumber) {}

    // All lines leave. What is loaded next is clean, whatever it replaces.
    [[gnu::cold]] void flush() {
        lines_.for_each([this](std::uint32_t index) {
            if constexpr (kTraits.line_use) retire(index);
            lines_.clear(index);
        });
        if constexpr (kTraits.why) touched_.clear();
        if (callgrind_ != nullptr) callgrind_->clear();
        if (prefetching_ != nullptr) prefetching_->clear();
        if (shares_ != nullptr) shares_->clear_lines();
    }

    // Calls function(charge target) for all lines. Requires kTraits.line_use.
    template <class Function>
    void for_each_target(Function function) {
        lines_.for_each([&](std::uint32_t index) { function(lines_.use_of(index).target); });
    }

    // With kTraits.why: the greatest cause of a miss since this was last called.
    void take_causes(Causes* causes) { (*causes)[Level::kLL] = std::exchange(cause_, Cause::kNone); }

    // Prefetch, on the host, what is read first when this address is looked for; and then, once that has come, the
    // rest.
    [[gnu::always_inline]] void host_prefetch_far(Address address) const {
        host_prefetch_set(address);
        host_prefetch_touch(address);
    }
    [[gnu::always_inline]] void host_prefetch_near(Address address) {
        lines_.host_prefetch_line(line_of(address));
        host_prefetch_tick(address);
    }
    // The parts of that, of which a level in front asks for some only.
    [[gnu::always_inline]] void host_prefetch_set(Address address) const { lines_.host_prefetch_set(line_of(address)); }
    [[gnu::always_inline]] void host_prefetch_touch(Address address) const {
        if constexpr (kTraits.why) touched_.host_prefetch(line_of(address));
    }
    [[gnu::always_inline]] void host_prefetch_tick(Address address) {
        if constexpr (kTraits.why) touched_.host_prefetch_tick(line_of(address));
    }
    // What merge() needs of a line that was here once.
    [[gnu::always_inline]] void host_prefetch_at(std::uint32_t index) { __builtin_prefetch(&lines_.use_of(index), 1); }

private:
    unsigned line_bits() const { return kTraits.common_lines ? 6 : line_bits_; }
    LineNumber line_of(Address address) const { return LineNumber{address >> line_bits()}; }

    bool has_shares() const { return __builtin_expect(shares_ != nullptr, 0); }
    [[gnu::noinline, gnu::cold]] void note_load(LineNumber line) { shares_->load(core_, line, front_.is_counted()); }
    bool has_callgrind() const { return __builtin_expect(callgrind_ != nullptr, 0); }
    bool prefetches() const { return __builtin_expect(prefetching_ != nullptr, 0); }

    bool take_out(Reference reference, LineNumber line, Address address, ExclusiveUse* use) {
        const std::uint32_t index = lines_.find(line);
        const bool misses = index == Lines::kAbsent && !front_.has(line);
        if (misses) {
            if constexpr (kTraits.line_use) use->use = {{}, front_.target_of_load(reference, address)};
            if (has_shares()) note_load(line);
        } else if (index != Lines::kAbsent) {
            if (prefetches()) settle_prefetched(index, true);
            if constexpr (kTraits.line_use) use->use = lines_.use_of(index);
            if constexpr (kTraits.write_back) use->dirty = dirty_.size() != 0 && std::exchange(dirty_[index], false);
            lines_.remove(index);
            if (has_shares()) shares_->take(index);
        }
        return misses;
    }

    // Loads a line that is absent.
    std::uint32_t insert(Reference reference, LineNumber line, Address address) {
        const ChargeTarget target = front_.target_of_load(reference, address);
        if (has_shares()) note_load(line);
        if constexpr (kTraits.line_use) {
            return place(line, {{}, target}, core_);
        } else {
            return place(line, {}, core_);
        }
    }
    // `core`: whose the line is, if cores share LL.
    std::uint32_t place(LineNumber line, const UseInSlot& of_line, std::uint32_t core) {
        const auto slot = lines_.insert(line);
        if (has_shares()) {
            shares_->put(core_, core, slot.index, slot.evicted, front_.is_counted());
        }
        if constexpr (kTraits.line_use) {
            LoadedUse& use = lines_.use_of(slot.index);
            if (slot.evicted != kNoLine) {
                front_.take_over(line_bits(), slot.evicted, use);
                retire(slot.index);
            }
            use = of_line;
        }
        if constexpr (kTraits.write_back) {
            if (dirty_.size() != 0) replace_dirty(slot.index, slot.evicted);
        }
        if (__builtin_expect(is_inclusive_, 0) && slot.evicted != kNoLine) front_.lost(line_bits(), slot.evicted);
        return slot.index;
    }

    // A slot got a new line instead of `evicted`, which counts as dirty if a copy in front is, as with its use.
    void replace_dirty(std::uint32_t index, LineNumber evicted) {
        bool& dirty = dirty_[index];
        evicted_dirty_ = evicted != kNoLine && (dirty || front_.has_dirty_copy(line_bits(), evicted));
        dirty = false;
    }

    void retire(std::uint32_t index) {
        if (prefetches()) settle_prefetched(index, false);
        front_.retire(Level::kLL, core_, line_bits(), lines_.use_of(index));
    }

    // A line is about to be looked up. The line that Callgrind's prefetcher then loads belongs to the access that is
    // simulated; if it evicts a line, that is not counted as a miss.
    [[gnu::noinline, gnu::cold]] void prefetch_before(Reference reference, LineNumber looked_up) {
        const LineNumber line = callgrind_->on_lookup(looked_up);
        if (line == kNoLine) return;
        if constexpr (kTraits.why) touched_.touch(line, false);
        if (lines_.use(line) == Lines::kAbsent && !is_in_front(line)) {
            insert(reference, line, static_cast<Address>(line) << line_bits());
        }
    }

    // The prefetchers look at a line that has been looked for because of `address`. What they load belongs to that
    // access.
    [[gnu::noinline, gnu::cold]] void prefetch_after(Reference reference, LineNumber line, bool missed,
                                                     Address address) {
        const auto load_absent = [&](LineNumber wanted) {
            if (lines_.find(wanted) != Lines::kAbsent || is_in_front(wanted)) return;
            if constexpr (kTraits.why) touched_.touch(wanted, false);
            prefetching_->note_loaded(insert(reference, wanted, static_cast<Address>(wanted) << line_bits()));
        };
        prefetching_->after(
            reference, line, missed, address, [this] { return front_.data_instruction(); }, load_absent);
    }

    // Whether a line must not be loaded, as L2 has it.
    bool is_in_front(LineNumber line) {
        if constexpr (kTraits.middle_level) return is_exclusive_ && front_.has(line);
        return false;
    }

    // A line is used, or leaves: if it was prefetched, and not used before, that is told.
    void settle_prefetched(std::uint32_t index, bool is_used) {
        if (!prefetching_->settle(index)) return;
        if constexpr (kTraits.line_use) front_.prefetched(Level::kLL, core_, lines_.use_of(index).target, is_used);
    }

    Front& front_;
    Lines lines_;
    unsigned line_bits_;
    const bool is_exclusive_;
    const bool is_inclusive_;
    std::unique_ptr<CallgrindPrefetcher> callgrind_;  // null: without it
    std::unique_ptr<Prefetching> prefetching_;        // null: without prefetchers
    LastLevelShares* const shares_;                   // null: cores do not share LL
    std::uint32_t core_ = 0;                          // that runs
    [[no_unique_address]] Touched touched_;
    Cause cause_ = Cause::kNone;
    bool evicted_dirty_ = false;  // whether the line that was loaded last evicted a dirty one
    ZeroedArray<bool> dirty_;     // by index: whether it was written to, and not written back to memory yet
};

}  // namespace bd
