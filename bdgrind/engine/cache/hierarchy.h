// SPDX-License-Identifier: GPL-2.0-or-later
//
// The simulated caches: I1 and D1, both in front of one LL, and how each line in them is used. docs/simulation.md is
// the specification.
//
// It knows no calls and no events. Who is to be charged for a line is the sink's matter: an opaque ChargeTarget, asked
// for when a line is loaded and handed back when the line is evicted.
//
//   struct Sink {
//       // A line is being loaded because of this address in it; called once per level that loads it. If it is known,
//       // `replaced` is of the line that is evicted next: time to ask the host for what evict() will read.
//       ChargeTarget load(Reference, Address, const ChargeTarget& replaced);
//       // A line has left this level.
//       void evict(Level, const ChargeTarget&, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes);
//       // The same for one that leaves D1, with its address and its bytes.
//       void evict_data(const ChargeTarget&, Address, const LineMask& used, unsigned line_bytes);
//       // Nobody is charged for a line any more.
//       void drop_charges(ChargeTarget*);
//   };
//
// D1 is ahead of the others, see DataCache. The replay tells when it has got to a miss there.

#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/data_cache.h"
#include "engine/cache/instruction_cache.h"
#include "engine/cache/l1_cache.h"
#include "engine/cache/reuse.h"
#include "engine/cache/touched_lines.h"
#include "engine/cache/write_back_and_prefetch.h"

namespace bd {

enum class Level : std::uint8_t { kL1, kLL };

// The furthest that an access had to go.
enum class Outcome : std::uint8_t {
    kHit,
    kL1Miss,
    kLLMiss,
    kLLDirtyMiss,  // an LL miss that drove out a line which had to be written to memory first
};

// Why an access missed, of all the lines that it did miss.
struct Causes {
    Cause l1 = Cause::kNone;
    Cause ll = Cause::kNone;
};

template <CacheTraits kTraits, class Sink>
class Hierarchy {
public:
    using Instructions = InstructionCache<kTraits>;
    using Data = DataCache<kTraits>;
    using DataMiss = typename Data::Miss;

    Hierarchy(const CacheGeometries& caches, Sink& sink, WriteBackAndPrefetchConfig config = {}, ReuseRules rules = {})
        : sink_(sink),
          i1_(caches.i1, rules),
          fetched_(kTraits.line_use ? static_cast<std::size_t>(caches.i1.lines()) : 0),
          d1_(caches.d1, chunk_words(caches), config.write_back, rules),
          d1_lines_(caches.d1),
          ll_(caches.ll),
          ll_bits_(caches.ll.line_bits()),
          write_back_and_prefetch_(caches, config),
          ll_touched_(ll_.size(), rules) {
        BD_CHECK(!kTraits.common_lines || has_common_lines(caches));
        BD_CHECK(kTraits.write_back_and_prefetch || (!config.write_back && !config.prefetch));
    }

    // I1 itself. What it misses is loaded by fetch() or load_fetched().
    Instructions& instructions() { return i1_; }

    // D1 itself. The misses of each chunk are to be passed to load_data() one after the other, when the replay gets
    // there. In between, set_position() tells where it is when something else happens.
    Data& data() { return d1_; }
    void set_chunk(const typename Data::Chunk& chunk) { chunk_ = &chunk; }
    void set_position(const DataPosition& position) { position_ = position; }

    Outcome load_data(const DataMiss& miss) {
        // What misses has been accessed already.
        position_ = miss.at;
        ++position_.address;
        const ChargeTarget target = target_of_load(Reference::kData, miss.at.address);
        if constexpr (kTraits.why) causes_.l1 = std::max(causes_.l1, miss.cause(d1_.size()));
        const LineNumber line = d1_.line_of(miss.at.address);
        const LineNumber evicted = d1_lines_.replace(d1_lines_.set_of(line), miss.slot, line);
        Load& load = d1_lines_.use_of(miss.slot);
        if (evicted != kNoLine) retire_data(evicted, miss.evicted, load);
        return load_from_ll(Reference::kData, miss.at.address, miss.bytes, target, &load);
    }

    // With traits that ask why: why the lines missed that have been loaded since this was called last.
    Causes take_causes() { return std::exchange(causes_, {}); }

    // Lets the host fetch what load_data() will need for a later miss, in two steps.
    [[gnu::always_inline]] void host_prefetch_set(const DataMiss& miss) const {
        ll_.host_prefetch_set(LineNumber{miss.at.address >> ll_bits()});
        if constexpr (kTraits.why) ll_touched_.host_prefetch(LineNumber{miss.at.address >> ll_bits()});
    }
    [[gnu::always_inline]] void host_prefetch_line(const DataMiss& miss) {
        if (miss.slot == DataMiss::kNoAccess) return;  // it has no line to be read
        ll_.host_prefetch_line(LineNumber{miss.at.address >> ll_bits()});
        if constexpr (kTraits.why) ll_touched_.host_prefetch_tick(LineNumber{miss.at.address >> ll_bits()});
        if constexpr (kTraits.line_use) __builtin_prefetch(&ll_.use_of(d1_lines_.use_of(miss.slot).ll_index), 1);
    }

    // What D1 holds there, where the replay is; kNoLine: nothing.
    LineNumber held_at(std::uint32_t slot) const { return d1_lines_[slot]; }

    // The address of the line that a miss to come will evict from D1, unless an earlier miss evicts it first. Only good
    // for host prefetches, as the slot may still be empty.
    Address replaced_by(const DataMiss& miss) const {
        return static_cast<Address>(d1_lines_[miss.slot]) << d1_.line_bits();
    }

    // One instruction fetch, which gets its credit at once.
    Outcome fetch(Address address, std::uint32_t size) {
        Outcome outcome = Outcome::kHit;
        i1_.for_each_part(address, size, [&](LineNumber line, unsigned offset, unsigned bytes) {
            const std::uint32_t slot = i1_.find(line);
            if (slot == Instructions::kAbsent) {
                outcome = std::max(outcome, load_fetched(line, i1_.slot_for(line), offset, bytes, 1));
            } else {
                i1_.hit_line(slot);
                i1_.credit(slot, offset, bytes, 1);
            }
        });
        return outcome;
    }

    // Whether a block that is fetched from so many lines does not drive out any of them while it runs, neither from I1
    // nor, of the two that an instruction may lie in, from LL. Then its fetches may be simulated line by line:
    // load_fetched() brings an absent line, whose slot it tells and which gets its credit like the others.
    bool keeps_fetched(std::size_t lines) const {
        if constexpr (kTraits.write_back_and_prefetch) {
            if (write_back_and_prefetch_.prefetch) return false;
        }
        return kTraits.common_lines && lines <= i1_.ways() && ll_.sets() > 1;
    }
    Outcome load_fetched(LineNumber line, std::uint32_t* slot) {
        *slot = i1_.slot_for(line);
        return load_fetched(line, *slot, 0, 1u << i1_.line_bits(), 0);
    }

    // Empties all caches as if every line were evicted: I1, D1, then LL.
    void flush() {
        i1_.flush([this](std::uint32_t slot, LineNumber line, const Use& use) { retire_fetched(line, use, slot); });
        d1_.flush([this](std::uint32_t slot, const DataUse& use) {
            retire_data(d1_lines_[slot], use, d1_lines_.use_of(slot));
            d1_lines_.clear(slot);
        });
        for (std::uint32_t index = 0; index < ll_.size(); ++index) {
            if (ll_[index] == kNoLine) continue;
            if constexpr (kTraits.line_use) retire_ll(ll_.use_of(index));
            ll_.clear(index);
        }
        if constexpr (kTraits.why) ll_touched_.clear();
        if constexpr (kTraits.write_back_and_prefetch) write_back_and_prefetch_.clear();
    }

    // All lines stay, but nobody is charged for them any more.
    void drop_charges() {
        if constexpr (kTraits.line_use) {
            for (std::uint32_t slot = 0; slot < i1_.size(); ++slot) {
                if (i1_[slot] != kNoLine) sink_.drop_charges(&fetched_[slot].target);
            }
            for (std::uint32_t slot = 0; slot < d1_lines_.size(); ++slot) {
                if (d1_lines_[slot] != kNoLine) sink_.drop_charges(&d1_lines_.use_of(slot).target);
            }
            for (std::uint32_t index = 0; index < ll_.size(); ++index) {
                if (ll_[index] != kNoLine) sink_.drop_charges(&ll_.use_of(index).target);
            }
        }
    }

private:
    using Mask = LineMask<kTraits>;
    using Use = LineUse<kTraits>;
    using DataUse = typename Data::Use;

    struct NoUse {};
    struct LLUse : Use {
        ChargeTarget target{};
    };
    using LLLines = CacheLines<std::conditional_t<kTraits.line_use, LLUse, NoUse>>;

    // Why a line is in I1 or D1, and where LL held it when it was loaded.
    struct Load {
        ChargeTarget target;
        std::uint32_t ll_index = 0;
    };

    using DataLines = CacheLines<Load>;

    struct NoLines {
        NoLines(std::uint32_t, ReuseRules) {}
    };

    // A chunk is as long as is of use, but short where D1 is asked often for how lines have been used: LL evicts lines
    // that are in D1 if it is small.
    static std::size_t chunk_words(const CacheGeometries& caches) {
        return static_cast<std::size_t>(std::clamp<std::uint64_t>(caches.ll.lines() / 16, 512, 8192));
    }

    ChargeTarget target_of_load(Reference reference, Address address, const ChargeTarget& replaced = {}) {
        if constexpr (kTraits.line_use) return sink_.load(reference, address, replaced);
        return {};
    }

    // An absent line, of which some bytes are asked for; so many fetches are credited at once.
    Outcome load_fetched(LineNumber line, std::uint32_t slot, unsigned offset, unsigned bytes, unsigned fetches) {
        const Address address = (static_cast<Address>(line) << i1_.line_bits()) + offset;
        ll_.host_prefetch_set(LineNumber{address >> ll_bits()});
        i1_.host_prefetch_eviction(slot);
        // Before anything is evicted, so that a tree node in use is not dropped and made anew.
        const ChargeTarget target =
            target_of_load(Reference::kFetch, address, kTraits.line_use ? fetched_[slot].target : ChargeTarget{});
        if constexpr (kTraits.why) causes_.l1 = std::max(causes_.l1, i1_.note_reuse(slot, line));
        i1_.load(slot, line, [&](LineNumber evicted, const Use& use) { retire_fetched(evicted, use, slot); });
        if (fetches != 0) i1_.credit(slot, offset, bytes, fetches);
        Load load;
        const Outcome outcome = load_from_ll(Reference::kFetch, address, bytes, target, &load);
        if constexpr (kTraits.line_use) {
            fetched_[slot] = load;
            // What goes next from this set will be merged there.
            __builtin_prefetch(&ll_.use_of(fetched_[i1_.next_slot(line)].ll_index), 1);
        }
        return outcome;
    }

    // What I1 or D1 misses is looked for in LL: only the accessed bytes, as the rest is not asked for where LL lines
    // are shorter. All of them have seen the access then, also where the second line drives out the first.
    Outcome load_from_ll(Reference reference, Address address, std::uint32_t size, ChargeTarget target, Load* load) {
        Outcome outcome = Outcome::kL1Miss;
        const Address last = (address + size - 1) >> ll_bits();
        for (Address number = address >> ll_bits(); number <= last; ++number) {
            if constexpr (kTraits.write_back_and_prefetch) {
                if (write_back_and_prefetch_.prefetch) prefetch(reference, LineNumber{number});
            }
            std::uint32_t index = ll_.use(LineNumber{number});
            if constexpr (kTraits.why) {
                const bool misses = index == LLLines::kAbsent;
                const Cause cause = ll_touched_.touch(LineNumber{number}, misses);
                if (misses) causes_.ll = std::max(causes_.ll, cause);
            }
            if (index == LLLines::kAbsent) {
                index = load_ll(reference, LineNumber{number}, std::max(address, number << ll_bits()));
                Outcome missed = Outcome::kLLMiss;
                if constexpr (kTraits.write_back_and_prefetch) {
                    if (write_back_and_prefetch_.drove_out_dirty) missed = Outcome::kLLDirtyMiss;
                }
                outcome = std::max(outcome, missed);
            }
            *load = {target, index};
            if (kTraits.common_lines) break;
        }
        return outcome;
    }

    std::uint32_t load_ll(Reference reference, LineNumber line, Address address) {
        const ChargeTarget target = target_of_load(reference, address);
        const auto slot = ll_.insert(line);
        if constexpr (kTraits.line_use) {
            LLUse& use = ll_.use_of(slot.index);
            if (slot.evicted != kNoLine) {
                take_over(slot.evicted, use);
                retire_ll(use);
            }
            use = LLUse{{}, target};
        }
        if constexpr (kTraits.write_back_and_prefetch) {
            if (write_back_and_prefetch_.write_back) replace_in_ll(slot.index, slot.evicted);
        }
        return slot.index;
    }

    // `missed` is looked for in LL. A line that is prefetched belongs to the access that gave rise to it; what it
    // drives out is nobody's miss.
    void prefetch(Reference reference, LineNumber missed) {
        const LineNumber line = write_back_and_prefetch_.streams.on_lookup(missed);
        if (line == kNoLine) return;
        if constexpr (kTraits.why) ll_touched_.touch(line, false);
        if (ll_.use(line) == LLLines::kAbsent) {
            load_ll(reference, line, static_cast<Address>(line) << ll_bits());
        }
    }

    // A line leaves I1 or D1: its use is reported, and added to the LL's line if that still holds the memory.
    void retire_fetched(LineNumber line, const Use& use, std::uint32_t slot) {
        if constexpr (kTraits.line_use) retire_l1(i1_.line_bits(), line, use, fetched_[slot]);
    }
    void retire_data(LineNumber line, const DataUse& use, const Load& load) {
        if constexpr (kTraits.line_use) {
            const Address address = static_cast<Address>(line) << d1_.line_bits();
            sink_.evict_data(load.target, address, use.bytes, d1_.line_bytes());
            retire_l1(d1_.line_bits(), line, use, load);
        }
        if constexpr (kTraits.write_back_and_prefetch) {
            if (use.dirty) write_back(line);
        }
    }
    void retire_l1(unsigned bits, LineNumber line, const Use& use, const Load& load) {
        sink_.evict(Level::kL1, load.target, use.accesses, use.bytes.count(), 1u << bits);
        for_each_ll_line(bits, line, [&](LineNumber last) {
            const std::uint32_t index = ll_[load.ll_index] == last ? load.ll_index : ll_.find(last);
            if (index != LLLines::kAbsent) merge(bits, line, use, last, ll_.use_of(index));
        });
    }

    void retire_ll(const LLUse& use) {
        sink_.evict(Level::kLL, use.target, use.accesses, use.bytes.count(), 1u << ll_bits());
    }

    // `last` leaves LL: what copies of it have gathered so far belongs to it.
    void take_over(LineNumber last, LLUse& to) {
        for_each_l1_line(i1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t slot = i1_.find(line);
            if (slot != Instructions::kAbsent) merge(i1_.line_bits(), line, i1_.use_of(slot), last, to);
        });
        for_each_l1_line(d1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t slot = d1_lines_.find(line);
            if (slot == DataLines::kAbsent) return;
            merge(d1_.line_bits(), line, d1_.use_before(*chunk_, position_, slot, line), last, to);
        });
    }

    // Adds the use of a line of 1 << `bits` bytes to that of the LL line `last`, for the bytes that both have.
    void merge(unsigned bits, LineNumber line, const Use& from, LineNumber last, LLUse& to) const {
        if constexpr (kTraits.common_lines) {
            to.add(from);
        } else {
            const auto distance = static_cast<std::int64_t>((static_cast<Address>(line) << bits) -
                                                            (static_cast<Address>(last) << ll_bits()));
            const Mask bytes = from.bytes.moved(static_cast<int>(distance)) & Mask::range(0, 1u << ll_bits());
            if (!bytes.empty()) to.touch(bytes, from.accesses);
        }
    }

    // The LL lines that share bytes with a line of 1 << `bits` bytes, and the other way round.
    template <class Function>
    void for_each_ll_line(unsigned bits, LineNumber line, Function function) const {
        for_each_line(bits, line, ll_bits(), function);
    }
    template <class Function>
    void for_each_l1_line(unsigned bits, LineNumber last, Function function) const {
        for_each_line(ll_bits(), last, bits, function);
    }
    template <class Function>
    static void for_each_line(unsigned bits, LineNumber line, unsigned other_bits, Function function) {
        if constexpr (kTraits.common_lines) {
            function(line);
        } else {
            const Address start = static_cast<Address>(line) << bits;
            const Address last = (start + (Address{1} << bits) - 1) >> other_bits;
            for (Address number = start >> other_bits; number <= last; ++number) function(LineNumber{number});
        }
    }

    // A line that was written to leaves D1, and is written back to LL as a whole, as far as it is still there. (Where
    // it is not, memory gets it, which costs no miss.)
    void write_back(LineNumber line) {
        for_each_ll_line(d1_.line_bits(), line, [this](LineNumber last) {
            const std::uint32_t index = ll_.find(last);
            if (index != LLLines::kAbsent) write_back_and_prefetch_.ll_dirty[index] = true;
        });
    }

    // The slot of LL has got a new line instead of `evicted`. What a copy in D1 has gathered belongs to the line, as
    // its use does.
    void replace_in_ll(std::uint32_t index, LineNumber evicted) {
        bool& dirty = write_back_and_prefetch_.ll_dirty[index];
        write_back_and_prefetch_.drove_out_dirty = evicted != kNoLine && (dirty || has_dirty_copy(evicted));
        dirty = false;
    }

    bool has_dirty_copy(LineNumber last) {
        bool dirty = false;
        for_each_l1_line(d1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t slot = d1_lines_.find(line);
            if (slot != DataLines::kAbsent && d1_.use_before(*chunk_, position_, slot, line).dirty) dirty = true;
        });
        return dirty;
    }

    unsigned ll_bits() const { return kTraits.common_lines ? 6 : ll_bits_; }

    Sink& sink_;
    Instructions i1_;
    std::vector<Load> fetched_;  // by slot in I1
    Data d1_;
    DataLines d1_lines_;                           // what D1 holds where the replay is
    const typename Data::Chunk* chunk_ = nullptr;  // where the replay is
    DataPosition position_;
    LLLines ll_;
    unsigned ll_bits_;
    [[no_unique_address]] std::conditional_t<kTraits.write_back_and_prefetch, WriteBackAndPrefetch,
                                             NoWriteBackAndPrefetch>
        write_back_and_prefetch_;
    [[no_unique_address]] std::conditional_t<kTraits.why, TouchedLines, NoLines> ll_touched_;
    Causes causes_;
};

}  // namespace bd
