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

template <bool kCommonLines, bool kUses, bool kDirt, bool kNotes = false>
struct Variant {
    static constexpr bool kCommon = kCommonLines;
    static constexpr bool kUse = kUses;
    static constexpr bool kDirty = kDirt;
    static constexpr bool kNotesWrites = kNotes;
};
using Plain = Variant<true, true, false>;
using AnyLines = Variant<false, true, false>;
using Dirty = Variant<true, true, true, true>;

// A D1 and the latest chunk.
template <class V>
class Ahead {
public:
    using Cache = DataCache<V::kCommon, V::kUse, V::kDirty>;
    using Miss = typename Cache::Miss;
    using Use = typename Cache::Use;

    explicit Ahead(const CacheGeometry& geometry, std::size_t chunk_words = kAllWords)
        : cache_(geometry, chunk_words, V::kNotesWrites) {}

    Cache& cache() { return cache_; }

    // Returns what of the batch belongs to the chunk.
    Batch run(Batch batch) {
        cache_.run(batch, &chunk_);
        EXPECT_EQ(chunk_.words.data(), batch.data());
        EXPECT_EQ(chunk_.misses.back().at.record, ~std::uint32_t{0}) << "the last one is behind all records";
        return chunk_.words;
    }
    std::span<const Miss> misses() const { return true_misses(chunk_); }
    Use use_before(const DataPosition& position, std::uint32_t place, LineNumber number) {
        return cache_.use_before(chunk_, position, place, number);
    }

private:
    Cache cache_;
    typename Cache::Chunk chunk_;
};

}  // namespace test
}  // namespace bd
