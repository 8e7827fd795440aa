// SPDX-License-Identifier: GPL-2.0-or-later
//
// The simulated caches: I1 and D1, both in front of one LL, and how each line in them is used. MODEL.md sections 2
// and 3 are the specification.
//
// It knows no calls and no events. Who is to be charged for a line is the sink's matter: an opaque Owner, asked for
// when a line is loaded and handed back when the line is evicted.
//
//   struct Sink {
//       Owner load();                     // a line is being loaded; called once per level that loads it
//       void evict(Level, const Owner&, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes);
//       void settle_fetches(std::uint32_t place);  // I1's line at `place` is about to be read: credit all its fetches
//       void forget_fetches(std::uint32_t place);  // the same, and it leaves I1
//       void expect_to_forget(std::uint32_t place, const Owner&);  // it is about to: asks the host for what that reads
//   };
//
// D1 is ahead of the others, see DataCache. The replay tells when it has got to a miss there.

#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/cache/cache_extras.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/data_cache.h"
#include "engine/cache/first_level.h"
#include "engine/base/geometry.h"
#include "engine/base/types.h"

namespace bd {

enum class Level : std::uint8_t { kFirst, kLast };

// The furthest that an access had to go.
enum class Outcome : std::uint8_t {
    kHit,
    kFirstMiss,
    kLastMiss,
    kDirtyMiss,  // a last miss that drove out a line which had to be written to memory first
};

// Who pays for a line: nobody, if it was loaded while costs were not collected.
struct Owner {
    NodeId node = kNoNode;
    CostId costs = kNoCost;
};

// The geometry that the short way is compiled for, as real machines have it: 64-byte lines everywhere.
inline bool is_common(const CacheGeometries& caches) {
    return caches.i1.line_bytes == 64 && caches.d1.line_bytes == 64 && caches.ll.line_bytes == 64;
}

// `kCommon`: the caches are is_common(). `kUse`: lines keep track of their use and the sink is told of evictions.
// `kExtras`: there may be dirty lines and prefetches.
template <bool kCommon, bool kUse, class Sink, bool kExtras = false>
class Hierarchy {
public:
    using Data = DataCache<kCommon, kUse, kExtras>;
    using DataMiss = typename Data::Miss;

    Hierarchy(const CacheGeometries& caches, Sink& sink, CacheExtrasConfig extras = {})
        : sink_(sink),
          i1_(caches.i1),
          fetched_(kUse ? caches.i1.lines() : 0),
          d1_(caches.d1, chunk_words(caches), extras.write_back),
          d1_lines_(caches.d1),
          ll_(caches.ll),
          ll_bits_(caches.ll.line_bits()),
          extras_(caches, extras) {
        BD_CHECK(!kCommon || is_common(caches));
        BD_CHECK(kExtras || (!extras.write_back && !extras.prefetch));
    }

    // D1 itself. The misses of each chunk are to be passed to load_data() one after the other, when the replay gets
    // there. In between, set_position() tells where it is when something else happens.
    Data& data() { return d1_; }
    void set_chunk(const typename Data::Chunk& chunk) { chunk_ = &chunk; }
    void set_position(const DataPosition& position) { position_ = position; }

    Outcome load_data(const DataMiss& miss) {
        // What misses has been accessed already.
        position_ = miss.at;
        ++position_.address;
        const Owner owner = owner_of_load();
        const LineNumber line = d1_.line_of(miss.at.address);
        const LineNumber evicted = d1_lines_.replace(d1_lines_.set_of(line), miss.place, line);
        Load& load = d1_lines_.use_of(miss.place);
        if (evicted != kNoLine) retire_data(evicted, miss.evicted, load);
        return load_from_last(miss.at.address, miss.bytes, owner, &load);
    }

    // Lets the host fetch what load_data() will need for a later miss, in two steps.
    [[gnu::always_inline]] void expect(const DataMiss& miss) const {
        ll_.prefetch_set(LineNumber{miss.at.address >> ll_bits()});
    }
    [[gnu::always_inline]] void expect_soon(const DataMiss& miss) {
        if (miss.place == DataMiss::kNoAccess) return;  // it has no line to be read
        ll_.prefetch_line(LineNumber{miss.at.address >> ll_bits()});
        if constexpr (kUse) __builtin_prefetch(&ll_.use_of(d1_lines_.use_of(miss.place).ll_index), 1);
    }

    // One instruction fetch.
    Outcome fetch(Address address, std::uint32_t size) {
        Outcome outcome = Outcome::kHit;
        i1_.for_each_part(address, size, [&](LineNumber line, unsigned offset, unsigned bytes) {
            Use use{};
            use.touch(Mask::range(offset, bytes), 1);
            const std::uint32_t place = i1_.find(line);
            if (place == kAbsent) {
                outcome = std::max(outcome, load_fetched(line, offset, bytes, use));
            } else {
                use_fetched(place);
                i1_.use_of(place).add(use);
            }
        });
        return outcome;
    }

    // Fetches of a whole run of instructions whose lines are all in I1 come in two steps: first the lines are used,
    // each at its place; later, at the latest when the sink is asked for it, they get their credit. Who uses many keeps
    // the time in a register: each use moves it on by one.
    using Time = std::uint64_t;
    Time time() const { return clock_; }
    void set_time(Time time) { clock_ = time; }
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
    std::uint32_t fetch_place(LineNumber line) { return i1_.find(line); }  // kAbsent: not in I1
    std::uint32_t fetch_places() const { return i1_.size(); }
    void use_fetched(std::uint32_t place) { use_fetched(place, ++clock_); }
    void use_fetched(std::uint32_t place, Time now) { i1_.time_of(place) = now; }
    void credit_fetch(std::uint32_t place, unsigned first_byte, unsigned size, std::uint64_t count) {
        i1_.use_of(place).touch(Mask::range(first_byte, size), count);
    }
    // The credit of one instruction.
    void credit_fetched(Address address, std::uint32_t size) {
        i1_.for_each_part(address, size, [this](LineNumber line, unsigned offset, unsigned bytes) {
            credit_fetch(fetch_place(line), offset, bytes, 1);
        });
    }

    // Whether a block that is fetched from so many lines does not drive out any of them while it runs, neither from I1
    // nor, of the two that an instruction may lie in, from LL. Then its fetches may be simulated line by line:
    // load_fetched() brings an absent line, whose place it tells and which gets its credit like the others.
    bool keeps_fetched(std::size_t lines) const {
        if constexpr (kExtras) {
            if (extras_.prefetch) return false;
        }
        return kCommon && lines <= i1_.ways() && ll_.sets() > 1;
    }
    Outcome load_fetched(LineNumber line, std::uint32_t* place) {
        const Outcome outcome = load_fetched(line, 0, i1_.line_bytes(), {});
        *place = fetch_place(line);
        return outcome;
    }

    // Empties all caches as if every line were evicted: I1, D1, then LL.
    void flush() {
        for (std::uint32_t place = 0; place < i1_.size(); ++place) {
            if (i1_[place] == kNoLine) continue;
            retire_fetched(i1_[place], place);
            i1_.clear(place);
        }
        d1_.flush([this](std::uint32_t place, const DataUse& use) {
            retire_data(d1_lines_[place], use, d1_lines_.use_of(place));
            d1_lines_.clear(place);
        });
        for (std::uint32_t index = 0; index < ll_.size(); ++index) {
            if (ll_[index] == kNoLine) continue;
            if constexpr (kUse) retire_last(ll_.use_of(index));
            ll_.clear(index);
        }
        if constexpr (kExtras) extras_.clear();
    }

    // All lines stay, but nobody is charged for them any more.
    void disown() {
        if constexpr (kUse) {
            for (std::uint32_t place = 0; place < i1_.size(); ++place) {
                if (i1_[place] != kNoLine) sink_.disown(&fetched_[place].owner);
            }
            for (std::uint32_t place = 0; place < d1_lines_.size(); ++place) {
                if (d1_lines_[place] != kNoLine) sink_.disown(&d1_lines_.use_of(place).owner);
            }
            for (std::uint32_t index = 0; index < ll_.size(); ++index) {
                if (ll_[index] != kNoLine) sink_.disown(&ll_.use_of(index).owner);
            }
        }
    }

private:
    using Mask = LineMask<kCommon>;
    using Use = LineUse<kCommon, kUse>;
    using DataUse = typename Data::Use;

    struct NoUse {};
    struct LastUse : Use {
        Owner owner{};
    };
    using LastLines = CacheLines<std::conditional_t<kUse, LastUse, NoUse>>;

    // Why a line is in I1 or D1, and where LL held it when it was loaded.
    struct Load {
        Owner owner;
        std::uint32_t ll_index = 0;
    };

    // A chunk is as long as pays off, but short where D1 is asked often for how lines have been used: LL evicts lines
    // that are in D1 if it is small.
    static std::size_t chunk_words(const CacheGeometries& caches) {
        return std::clamp<std::size_t>(caches.ll.lines() / 16, 512, 8192);
    }

    Owner owner_of_load() {
        if constexpr (kUse) return sink_.load();
        return {};
    }

    Outcome load_fetched(LineNumber line, unsigned offset, unsigned size, const Use& use) {
        const Address address = (static_cast<Address>(line) << i1_.line_bits()) + offset;
        const std::uint32_t place = i1_.place_for(line);
        ll_.prefetch_set(LineNumber{address >> ll_bits()});
        sink_.expect_to_forget(place, kUse ? fetched_[place].owner : Owner{});
        // Before anything is evicted, so that a tree node in use is not dropped and made anew.
        const Owner owner = owner_of_load();
        const LineNumber evicted = i1_.replace(place, line, ++clock_);
        if (evicted != kNoLine) retire_fetched(evicted, place);
        i1_.use_of(place) = use;
        Load load;
        const Outcome outcome = load_from_last(address, size, owner, &load);
        if constexpr (kUse) {
            fetched_[place] = load;
            // What goes next from this set will be merged there.
            __builtin_prefetch(&ll_.use_of(fetched_[i1_.next_to_go(line)].ll_index), 1);
        }
        return outcome;
    }

    // What I1 or D1 misses is looked for in LL: only the accessed bytes, as the rest is not asked for where LL lines
    // are shorter. All of them have seen the access then, also where the second line drives out the first.
    Outcome load_from_last(Address address, std::uint32_t size, Owner owner, Load* load) {
        Outcome outcome = Outcome::kFirstMiss;
        const Address last = (address + size - 1) >> ll_bits();
        for (Address number = address >> ll_bits(); number <= last; ++number) {
            if constexpr (kExtras) {
                if (extras_.prefetch) prefetch(LineNumber{number});
            }
            std::uint32_t index = ll_.use(LineNumber{number});
            if (index == LastLines::kAbsent) {
                index = load_last(LineNumber{number});
                Outcome missed = Outcome::kLastMiss;
                if constexpr (kExtras) {
                    if (extras_.drove_out_dirty) missed = Outcome::kDirtyMiss;
                }
                outcome = std::max(outcome, missed);
            }
            *load = {owner, index};
            if (kCommon) break;
        }
        return outcome;
    }

    std::uint32_t load_last(LineNumber line) {
        const Owner owner = owner_of_load();
        const auto place = ll_.insert(line);
        if constexpr (kUse) {
            LastUse& use = ll_.use_of(place.index);
            if (place.evicted != kNoLine) {
                take_over(place.evicted, use);
                retire_last(use);
            }
            use = LastUse{{}, owner};
        }
        if constexpr (kExtras) {
            if (extras_.write_back) replace_in_last(place.index, place.evicted);
        }
        return place.index;
    }

    // `missed` is looked for in LL. A line that is prefetched belongs to the access that gave rise to it; what it
    // drives out is nobody's miss.
    void prefetch(LineNumber missed) {
        const LineNumber line = extras_.streams.see(missed);
        if (line != kNoLine && ll_.use(line) == LastLines::kAbsent) load_last(line);
    }

    // A line leaves I1 or D1: its use is reported, and added to the LL's line if that still holds the memory.
    void retire_fetched(LineNumber line, std::uint32_t place) {
        sink_.forget_fetches(place);
        if constexpr (kUse) retire_first(i1_.line_bits(), line, i1_.use_of(place), fetched_[place]);
    }
    void retire_data(LineNumber line, const DataUse& use, const Load& load) {
        if constexpr (kUse) retire_first(d1_.line_bits(), line, use, load);
        if constexpr (kExtras) {
            if (use.dirty) write_back(line);
        }
    }
    void retire_first(unsigned bits, LineNumber line, const Use& use, const Load& load) {
        sink_.evict(Level::kFirst, load.owner, use.accesses, use.bytes.count(), 1u << bits);
        for_each_last_line(bits, line, [&](LineNumber last) {
            const std::uint32_t index = ll_[load.ll_index] == last ? load.ll_index : ll_.find(last);
            if (index != LastLines::kAbsent) merge(bits, line, use, last, ll_.use_of(index));
        });
    }

    void retire_last(const LastUse& use) {
        sink_.evict(Level::kLast, use.owner, use.accesses, use.bytes.count(), 1u << ll_bits());
    }

    // `last` leaves LL: what copies of it have gathered so far belongs to it.
    void take_over(LineNumber last, LastUse& to) {
        for_each_first_line(i1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t place = fetch_place(line);
            if (place == kAbsent) return;
            sink_.settle_fetches(place);
            merge(i1_.line_bits(), line, i1_.use_of(place), last, to);
        });
        for_each_first_line(d1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t place = d1_lines_.find(line);
            if (place == kAbsent) return;
            merge(d1_.line_bits(), line, d1_.use_before(*chunk_, position_, place, line), last, to);
        });
    }

    // Adds the use of a line of 1 << `bits` bytes to that of the LL line `last`, for the bytes that both have.
    void merge(unsigned bits, LineNumber line, const Use& from, LineNumber last, LastUse& to) const {
        if constexpr (kCommon) {
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
    void for_each_last_line(unsigned bits, LineNumber line, Function function) const {
        for_each_line(bits, line, ll_bits(), function);
    }
    template <class Function>
    void for_each_first_line(unsigned bits, LineNumber last, Function function) const {
        for_each_line(ll_bits(), last, bits, function);
    }
    template <class Function>
    static void for_each_line(unsigned bits, LineNumber line, unsigned other_bits, Function function) {
        if constexpr (kCommon) {
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
        for_each_last_line(d1_.line_bits(), line, [this](LineNumber last) {
            const std::uint32_t index = ll_.find(last);
            if (index != LastLines::kAbsent) extras_.last_dirty[index] = true;
        });
    }

    // The place of LL has got a new line instead of `evicted`. What a copy in D1 has gathered belongs to the line, as
    // its use does.
    void replace_in_last(std::uint32_t index, LineNumber evicted) {
        bool& dirty = extras_.last_dirty[index];
        extras_.drove_out_dirty = evicted != kNoLine && (dirty || has_dirty_copy(evicted));
        dirty = false;
    }

    bool has_dirty_copy(LineNumber last) {
        bool dirty = false;
        for_each_first_line(d1_.line_bits(), last, [&](LineNumber line) {
            const std::uint32_t place = d1_lines_.find(line);
            if (place != kAbsent && d1_.use_before(*chunk_, position_, place, line).dirty) dirty = true;
        });
        return dirty;
    }

    unsigned ll_bits() const { return kCommon ? 6 : ll_bits_; }

    Sink& sink_;
    FirstLevel<kCommon, Use> i1_;
    std::vector<Load> fetched_;  // by place in I1
    Time clock_ = 0;             // of I1
    Data d1_;
    CacheLines<Load> d1_lines_;  // what D1 holds where the replay is
    const typename Data::Chunk* chunk_ = nullptr;  // where the replay is
    DataPosition position_;
    LastLines ll_;
    unsigned ll_bits_;
    [[no_unique_address]] std::conditional_t<kExtras, CacheExtras, NoCacheExtras> extras_;
};

}  // namespace bd
