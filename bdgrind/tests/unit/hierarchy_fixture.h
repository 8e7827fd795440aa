// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of all levels of caches: the lines that have left them, and accesses made for targets that are numbers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/cache/hierarchy.h"

namespace bd::test {

// A line that was evicted. Who loaded it is a number.
struct Evicted {
    char level;  // '1', '2' or 'L'
    std::uint32_t target;
    std::uint64_t accesses;
    unsigned used;
    unsigned line_bytes;
    bool operator==(const Evicted&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Evicted& line) {
    return out << "{level " << line.level << ", target " << line.target << ", accesses " << line.accesses
               << ", used " << line.used << " of " << line.line_bytes << "}";
}

struct FakeSink {
    std::uint32_t target = 0;
    unsigned loads = 0;
    std::vector<Evicted> evicted;

    ChargeTarget on_load(const LoadEvent&) {
        ++loads;
        return {NodeId{target}, CostId{target}};
    }
    template <class Mask>
    void on_evict_data(const EvictDataEvent<Mask>&) {}
    void on_prefetched(const PrefetchEvent&) {}
    bool is_counted() const { return true; }
    void on_evict(const EvictEvent& event) {
        EXPECT_EQ(index_of(event.target.node), index_of(event.target.costs));
        evicted.push_back({event.level == Level::kL1   ? '1'
                           : event.level == Level::kL2 ? '2'
                                                       : 'L',
                           index_of(event.target.node), event.accesses, event.used_bytes, event.line_bytes});
    }
    void drop_charges(ChargeTarget* whose) { *whose = {}; }

    std::vector<Evicted> take() { return std::exchange(evicted, {}); }
};
using List = std::vector<Evicted>;

// The order within a level is the caches' own matter.
inline List by_level(List lines) {
    std::ranges::sort(lines, {}, [](const Evicted& line) {
        return std::tuple(line.level, line.target, line.accesses, line.used);
    });
    return lines;
}

template <CacheTraits kTraits>
struct Caches {
    Caches(const CacheGeometry& i1, const CacheGeometry& d1, const CacheGeometry& ll)
        : hierarchy({.i1 = i1, .d1 = d1, .ll = ll}, sink) {
        for (const CacheGeometry& geometry : {i1, d1, ll}) EXPECT_EQ(geometry_error(geometry), nullptr);
    }
    explicit Caches(const CacheGeometries& three_levels) : hierarchy(three_levels, sink) {}

    Outcome data(std::uint32_t target, Address address, std::uint32_t size) {
        sink.target = target;
        return accesses.data(AccessKind::kRead, address, size);
    }
    Outcome fetch(std::uint32_t target, Address address, std::uint32_t size) {
        sink.target = target;
        return accesses.fetch(address, size);
    }
    List flush() {
        sink.take();
        hierarchy.flush();
        const List lines = sink.take();
        EXPECT_TRUE(std::ranges::is_sorted(lines, {}, &Evicted::level)) << "L1 before LL";
        return by_level(lines);
    }

    FakeSink sink;
    Hierarchy<kTraits, FakeSink> hierarchy;
    Accesses<decltype(hierarchy)> accesses{hierarchy};
};

}  // namespace bd::test
