// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of D1 alone: the variants that it is compiled for, and the cache with its latest chunk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/cache/data_cache.h"

namespace bd {

inline std::ostream& operator<<(std::ostream& out, const DataPosition& at) {
    return out << "record at " << at.record << ", access " << at.access << ", address " << std::hex << at.address
               << std::dec;
}

namespace test {

constexpr std::size_t kAllWords = 100'000;  // of a trace, in one chunk

enum class Writes : bool { kIgnored, kNoted };

template <CacheTraits kCacheTraits, Writes kWrites = Writes::kIgnored>
struct Variant {
    static constexpr CacheTraits kTraits = kCacheTraits;
    static constexpr bool kNotesWrites = kWrites == Writes::kNoted;
};
using Plain = Variant<kCommonUse>;
using AnyLines = Variant<kAnyUse>;
using Dirty = Variant<kCommonAll, Writes::kNoted>;

// A D1 and the latest chunk.
template <class V>
class Ahead {
public:
    using Cache = DataCache<V::kTraits>;
    using Miss = typename Cache::Miss;
    using Use = typename Cache::Use;

    explicit Ahead(const CacheGeometry& geometry, std::size_t chunk_words = kAllWords, ReuseRules rules = {})
        : cache_(geometry, chunk_words, V::kNotesWrites, rules) {}

    Cache& cache() { return cache_; }

    // Returns what of the batch belongs to the chunk.
    Batch run(Batch batch) {
        cache_.run(batch, &chunk_);
        EXPECT_EQ(chunk_.words.data(), batch.data());
        EXPECT_EQ(chunk_.misses.back().at.record, ~std::uint32_t{0}) << "the last one is behind all records";
        return chunk_.words;
    }
    std::span<const Miss> misses() const { return true_misses(chunk_); }
    const auto& touches() const { return chunk_.touches; }
    bool empties_caches() const { return chunk_.empties_caches; }
    Use use_before(const DataPosition& position, std::uint32_t slot, LineNumber number) {
        return cache_.use_before(chunk_, position, slot, number);
    }

private:
    Cache cache_;
    typename Cache::Chunk chunk_;
};

}  // namespace test
}  // namespace bd
