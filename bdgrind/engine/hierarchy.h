// SPDX-License-Identifier: GPL-2.0-or-later
//
// The simulated caches: I1 and D1, both in front of one LL, and how each line in them is used. MODEL.md sections 2
// and 3 are the specification.
//
// It knows groups of accesses, but no calls and no events. Who is to be charged for a line is the sink's matter: an
// opaque Owner, asked for when a line is loaded and handed back when the line is evicted.
//
//   struct Sink {
//       Owner load();                     // a line is being loaded; called once per level that loads it
//       void evict(Level, const Owner&, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes);
//       void settle_fetches(std::uint32_t place);  // I1's line at `place` is about to be read: credit all its fetches
//       void forget_fetches(std::uint32_t place);  // the same, and it leaves I1
//   };
//
// Hits on lines that were found before are inline; all else is out of line.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/block.h"
#include "engine/byte_mask.h"
#include "engine/cache_extras.h"
#include "engine/cache_lines.h"
#include "engine/geometry.h"
#include "engine/types.h"

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
    Hierarchy(const CacheGeometries& caches, Sink& sink, CacheExtrasConfig extras = {})
        : sink_(sink),
          i1_(caches.i1),
          d1_(caches.d1),
          ll_(caches.ll),
          ll_bits_(caches.ll.line_bits()),
          extras_(caches, extras) {
        BD_CHECK(!kCommon || is_common(caches));
        BD_CHECK(kExtras || (!extras.write_back && !extras.prefetch));
    }

    // Who was used least recently is told by the time of the latest use: nearly all accesses hit, and only a miss asks.
    // The short ways are told what time it is, as whoever takes them many times keeps it in a register; all others look
    // at the clock, and each use moves it on.
    using Time = std::uint64_t;
    Time time() const { return clock_; }
    void set_time(Time time) { clock_ = time; }

    // A group of accesses, the first one at `address`. The short way: it does nothing but return false unless they
    // stay within a line that is where lines like it were last.
    [[gnu::always_inline]] bool data_hit(Address address, const AccessGroup& group, Time now) {
        return d1_.hit(address - group.before, group, now);
    }

    // The same for one access.
    bool data_hit(Address address, std::uint32_t size) {
        if (!d1_.hit(address, AccessGroup::of(size), clock_ + 1)) return false;
        ++clock_;
        return true;
    }

    // One data access; `size` >= 1, and it may cover any number of lines.
    Outcome data(Address address, std::uint32_t size) {
        const LineNumber line{address >> d1_.line_bits()};
        const auto offset = static_cast<std::uint32_t>(address) & (d1_.line_bytes() - 1);
        if (offset + std::uint64_t{size} > d1_.line_bytes()) return access(d1_, address, size);
        const std::uint32_t index = d1_.find(line);
        if (index == FirstLines::kAbsent) return load(d1_, line, offset, size);
        d1_.count(index, offset, size, ++clock_);
        return Outcome::kHit;
    }

    // The same for a write, where dirty lines matter; there is no short way then.
    Outcome write(Address address, std::uint32_t size) {
        static_assert(kExtras);
        extras_.writes = true;
        const Outcome outcome = access(d1_, address, size);
        extras_.writes = false;
        return outcome;
    }

    // One instruction fetch.
    Outcome fetch(Address address, std::uint32_t size) { return access(i1_, address, size); }

    // Fetches of a whole run of instructions whose lines are all in I1 come in two steps: first the lines are used,
    // each at its place; later, at the latest when the sink is asked for it, they get their credit.
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
    std::uint32_t fetch_place(LineNumber line) { return i1_.find(line); }  // kAbsent: not in I1
    std::uint32_t fetch_places() const { return i1_.lines.size(); }
    void use_fetched(std::uint32_t place) { use_fetched(place, ++clock_); }
    void use_fetched(std::uint32_t place, Time now) { i1_.lines.use_of(place).used = now; }
    void credit_fetch(std::uint32_t place, unsigned first_byte, unsigned size, std::uint64_t count) {
        FirstUse& use = i1_.lines.use_of(place);
        use.bytes |= Mask::range(first_byte, size);
        use.accesses += count;
    }
    // The credit of one instruction.
    void credit_fetched(Address address, std::uint32_t size) {
        for_each_part(i1_, address, size, [this](LineNumber line, unsigned offset, unsigned bytes) {
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
        return kCommon && lines <= i1_.lines.ways() && ll_.sets() > 1;
    }
    Outcome load_fetched(LineNumber line, std::uint32_t* place) {
        const Outcome outcome = load(i1_, line, 0, i1_.line_bytes());
        *place = fetch_place(line);
        if constexpr (kUse) {
            FirstUse& use = i1_.lines.use_of(*place);
            use.bytes = {};
            use.accesses = 0;
        }
        return outcome;
    }

    // Data misses are likely here, first at `soon`, then at `later`: lets the host fetch what they will need. Any
    // value will do.
    [[gnu::always_inline]] void expect_misses(Address soon, Address later) const {
        ll_.prefetch_set(LineNumber{later >> ll_bits()});
        ll_.prefetch_line(LineNumber{soon >> ll_bits()});
    }

    // Empties all caches as if every line were evicted: I1, D1, then LL.
    void flush() {
        for (FirstLevel* cache : {&i1_, &d1_}) {
            for (std::uint32_t index = 0; index < cache->lines.size(); ++index) {
                if (cache->lines[index] == kNoLine) continue;
                retire_first(*cache, index, cache->lines[index]);
                cache->lines.clear(index);
            }
        }
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
            for (FirstLevel* cache : {&i1_, &d1_}) {
                for (std::uint32_t index = 0; index < cache->lines.size(); ++index) {
                    if (cache->lines[index] != kNoLine) sink_.disown(&cache->loads[index].owner);
                }
            }
            for (std::uint32_t index = 0; index < ll_.size(); ++index) {
                if (ll_[index] != kNoLine) sink_.disown(&ll_.use_of(index).owner);
            }
        }
    }

private:
    using Mask = ByteMask<kCommon ? 1 : kMaxLineBytes / 64>;

    struct NoUse {};
    struct Use {
        Mask bytes{};
        std::uint64_t accesses = 0;
    };
    struct FirstUse : std::conditional_t<kUse, Use, NoUse> {
        Time used;
    };
    struct LastUse : Use {
        Owner owner{};
    };

    using FirstLines = CacheLines<FirstUse>;
    using LastLines = CacheLines<std::conditional_t<kUse, LastUse, NoUse>>;

    // I1 or D1.
    struct FirstLevel {
        explicit FirstLevel(const CacheGeometry& geometry)
            : lines(geometry), next(geometry.sets()), loads(kUse ? geometry.lines() : 0), bits(geometry.line_bits()) {
            for (std::uint32_t set = 0; set < next.size(); ++set) next[set].index = set * lines.ways();
        }

        unsigned line_bits() const { return kCommon ? 6 : bits; }
        unsigned line_bytes() const { return 1u << line_bits(); }

        // One access.
        void count(std::uint32_t index, unsigned offset, unsigned bytes, Time now) {
            FirstUse& use = lines.use_of(index);
            use.used = now;
            if constexpr (kUse) {
                use.bytes |= Mask::range(offset, bytes);
                ++use.accesses;
            }
        }

        // Counts a group of accesses if it stays within a line that is where lines like it were last. `address`: the
        // lowest one.
        [[gnu::always_inline]] bool hit(Address address, const AccessGroup& group, Time now) {
            const LineNumber line{address >> line_bits()};
            const auto offset = static_cast<std::uint32_t>(address) & (line_bytes() - 1);
            if (__builtin_expect(offset + std::uint64_t{group.span} > line_bytes(), 0)) return false;
            if (!kCommon && group.span > 64) return false;  // it has no mask
            const std::uint32_t index = hints[static_cast<std::uint64_t>(line) % kHints];
            if (__builtin_expect(!lines.has(index, line), 0)) return false;
            FirstUse& use = lines.use_of(index);
            use.used = now;
            if constexpr (kUse) {
                use.bytes |= Mask::of(group.bytes, offset, group.span);
                use.accesses += group.accesses;
            }
            return true;
        }

        // FirstLines::kAbsent if it is not here.
        std::uint32_t find(LineNumber line) {
            const std::uint32_t index = lines.find(line);
            if (index != FirstLines::kAbsent) hint(line, index);
            return index;
        }

        // The least recently used line of a set.
        struct Oldest {
            std::uint32_t index = 0;
            Time used = 0;
        };
        Oldest find_oldest(std::uint64_t set) {
            const auto first = static_cast<std::uint32_t>(set * lines.ways());
            return lines.ways() == 8 ? oldest_of(first, 8) : oldest_of(first, lines.ways());
        }
        [[gnu::always_inline]] Oldest oldest_of(std::uint32_t first, std::uint32_t count) {
            Oldest oldest{first, lines.use_of(first).used};
#pragma GCC unroll 8
            for (std::uint32_t index = first + 1; index < first + count; ++index) {
                const Time used = lines.use_of(index).used;
                const bool is_older = used < oldest.used;
                oldest.index = is_older ? index : oldest.index;
                oldest.used = is_older ? used : oldest.used;
            }
            return oldest;
        }

        // Puts `line`, which is not here, in the place of the least recently used one of its set.
        struct Inserted {
            std::uint32_t index;
            LineNumber evicted;        // kNoLine: nothing
            std::uint32_t next_to_go;  // from the set, if it is not used before
        };
        Inserted insert(LineNumber line, Time now) {
            const std::uint64_t set = lines.set_of(line);
            const bool is_next = lines.use_of(next[set].index).used == next[set].used;
            const std::uint32_t index = is_next ? next[set].index : find_oldest(set).index;
            const LineNumber evicted = lines.replace(set, index, line);
            lines.use_of(index).used = now;
            next[set] = find_oldest(set);
            hint(line, index);
            return {index, evicted, next[set].index};
        }

        void hint(LineNumber line, std::uint32_t index) {
            hints[static_cast<std::uint64_t>(line) % kHints] = static_cast<std::uint16_t>(index);
        }

        // Why a line is here, and where LL held it when it was loaded.
        struct Load {
            Owner owner;
            std::uint32_t ll_index = 0;
        };

        FirstLines lines;
        std::vector<Oldest> next;  // by set: the oldest at the latest miss, and still if it has not been used
        std::vector<Load> loads;   // by index
        unsigned bits;

        // Where lines may be: the line found or loaded last of those that share a hint.
        static constexpr std::size_t kHints = 2048;
        std::array<std::uint16_t, kHints> hints{};
    };

    [[gnu::noinline]] Outcome access(FirstLevel& cache, Address address, std::uint32_t size) {
        Outcome outcome = Outcome::kHit;
        for_each_part(cache, address, size, [&](LineNumber line, unsigned offset, unsigned bytes) {
            const std::uint32_t index = cache.find(line);
            if (index == FirstLines::kAbsent) {
                outcome = std::max(outcome, load(cache, line, offset, bytes));
                return;
            }
            cache.count(index, offset, bytes, ++clock_);
            if constexpr (kExtras) {
                if (extras_.writes) extras_.first_dirty[index] = true;
            }
        });
        return outcome;
    }

    // Cuts an access at the line borders of `cache`: calls function(line, offset in the line, bytes) in order.
    template <class Function>
    static void for_each_part(const FirstLevel& cache, Address address, std::uint32_t size, Function function) {
        for (const Address end = address + size; address < end;) {
            const auto offset = static_cast<unsigned>(address & (cache.line_bytes() - 1));
            const auto bytes = static_cast<unsigned>(std::min<Address>(cache.line_bytes() - offset, end - address));
            function(LineNumber{address >> cache.line_bits()}, offset, bytes);
            address += bytes;
        }
    }

    // Brings an absent line into I1 or D1, because of an access to `size` bytes at `offset` within it. The access
    // counts before LL is looked at: where LL lines are shorter, the second may drive out the first, which has seen
    // it, too.
    Outcome load(FirstLevel& cache, LineNumber line, unsigned offset, unsigned size) {
        // Before anything is evicted, so that a tree node in use is not dropped and made anew.
        const Owner owner = kUse ? sink_.load() : Owner{};
        const auto [place, evicted, next_to_go] = cache.insert(line, ++clock_);
        if (evicted != kNoLine) retire_first(cache, place, evicted);
        if constexpr (kUse) {
            FirstUse& use = cache.lines.use_of(place);
            use.bytes = Mask::range(offset, size);
            use.accesses = 1;
            cache.loads[place] = {owner, 0};
            // What goes next from this set will be merged there.
            __builtin_prefetch(&ll_.use_of(cache.loads[next_to_go].ll_index), 1);
        }
        if constexpr (kExtras) {
            if (extras_.write_back && &cache == &d1_) replace_in_first(place, evicted);
        }
        // Only the accessed bytes are looked for: where LL lines are shorter, the rest is not asked for.
        Outcome outcome = Outcome::kFirstMiss;
        const Address address = (static_cast<Address>(line) << cache.line_bits()) + offset;
        const Address first = kCommon ? static_cast<Address>(line) : address >> ll_bits();
        const Address last = kCommon ? first : (address + size - 1) >> ll_bits();
        for (Address number = first; number <= last; ++number) {
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
            if constexpr (kUse) cache.loads[place].ll_index = index;
        }
        return outcome;
    }

    std::uint32_t load_last(LineNumber line) {
        const Owner owner = kUse ? sink_.load() : Owner{};
        const auto place = ll_.insert(line);
        if constexpr (kUse) {
            LastUse& use = ll_.use_of(place.index);
            if (place.evicted != kNoLine) {
                take_over(i1_, place.evicted, use);
                take_over(d1_, place.evicted, use);
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

    // The place of D1 has got a new line instead of `evicted`, which is written back to LL as a whole, as far as it is
    // still there. (Where it is not, memory gets it, which costs no miss.)
    void replace_in_first(std::uint32_t place, LineNumber evicted) {
        if (extras_.first_dirty[place]) {
            for_each_last_line(d1_, evicted, [this](LineNumber line) {
                const std::uint32_t index = ll_.find(line);
                if (index != LastLines::kAbsent) extras_.last_dirty[index] = true;
            });
        }
        extras_.first_dirty[place] = extras_.writes;
    }

    // The same in LL. What a copy in D1 has gathered belongs to the line, as its use does.
    void replace_in_last(std::uint32_t place, LineNumber evicted) {
        bool& dirty = extras_.last_dirty[place];
        extras_.drove_out_dirty = evicted != kNoLine && (dirty || has_dirty_copy(evicted));
        dirty = false;
    }

    bool has_dirty_copy(LineNumber last) const {
        const Address start = static_cast<Address>(last) << ll_bits();
        const Address end = start + (Address{1} << ll_bits());
        for (Address at = start; at < end; at += d1_.line_bytes()) {
            const std::uint32_t index = d1_.lines.find(LineNumber{at >> d1_.line_bits()});
            if (index != FirstLines::kAbsent && extras_.first_dirty[index]) return true;
        }
        return false;
    }

    // A line leaves I1 or D1: its use is reported, and added to the LL's line if that still holds the memory.
    void retire_first(FirstLevel& cache, std::uint32_t place, LineNumber line) {
        if (&cache == &i1_) sink_.forget_fetches(place);
        if constexpr (kUse) {
            const FirstUse& use = cache.lines.use_of(place);
            sink_.evict(Level::kFirst, cache.loads[place].owner, use.accesses, use.bytes.count(), cache.line_bytes());
            for_each_last_line(cache, line, [&](LineNumber last) {
                std::uint32_t index = cache.loads[place].ll_index;
                if (ll_[index] != last) index = ll_.find(last);
                if (index != LastLines::kAbsent) merge(cache, line, use, last, ll_.use_of(index));
            });
        }
    }

    void retire_last(const LastUse& use) {
        sink_.evict(Level::kLast, use.owner, use.accesses, use.bytes.count(), 1u << ll_bits());
    }

    // `last` leaves LL: what copies of it in `cache` have gathered so far belongs to it.
    void take_over(FirstLevel& cache, LineNumber last, LastUse& to) {
        const Address start = static_cast<Address>(last) << ll_bits();
        const Address end = start + (Address{1} << ll_bits());
        for (Address at = start; at < end; at += cache.line_bytes()) {
            const LineNumber line{at >> cache.line_bits()};
            const std::uint32_t index = cache.find(line);
            if (index == FirstLines::kAbsent) continue;
            if (&cache == &i1_) sink_.settle_fetches(index);
            merge(cache, line, cache.lines.use_of(index), last, to);
        }
    }

    // Adds the use of a line of `cache` to that of the LL line `last`, for the bytes that both have.
    void merge(const FirstLevel& cache, LineNumber line, const FirstUse& from, LineNumber last, LastUse& to) const {
        if constexpr (kCommon) {
            to.bytes |= from.bytes;
            to.accesses += from.accesses;
        } else {
            const auto distance = static_cast<std::int64_t>((static_cast<Address>(line) << cache.line_bits()) -
                                                            (static_cast<Address>(last) << ll_bits()));
            const Mask bytes =
                from.bytes.moved(static_cast<int>(distance)) & Mask::range(0, 1u << ll_bits());
            if (bytes.empty()) return;
            to.bytes |= bytes;
            to.accesses += from.accesses;
        }
    }

    // The LL lines that share bytes with `line` of `cache`.
    template <class Function>
    void for_each_last_line(const FirstLevel& cache, LineNumber line, Function function) const {
        if constexpr (kCommon) {
            function(line);
        } else {
            const Address start = static_cast<Address>(line) << cache.line_bits();
            const Address last = (start + cache.line_bytes() - 1) >> ll_bits();
            for (Address number = start >> ll_bits(); number <= last; ++number) function(LineNumber{number});
        }
    }

    unsigned ll_bits() const { return kCommon ? 6 : ll_bits_; }

    Sink& sink_;
    FirstLevel i1_;
    FirstLevel d1_;
    LastLines ll_;
    Time clock_ = 0;
    unsigned ll_bits_;
    [[no_unique_address]] std::conditional_t<kExtras, CacheExtras, NoCacheExtras> extras_;
};

}  // namespace bd
