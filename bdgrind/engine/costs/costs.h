// SPDX-License-Identifier: GPL-2.0-or-later
//
// Vectors of event counts, many of them. All vectors of a pool have the same width (the enabled events, see
// events.h) and never move, so that a 32-bit id is enough to find one from a cache line or a tree node.
//
// Counts wrap modulo 2^64 on purpose: a correction may be a negative number, its sum with the rest is right.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/types.h"

namespace bd {

using Costs = std::span<std::uint64_t>;
using ConstCosts = std::span<const std::uint64_t>;

inline void add(Costs to, ConstCosts what) {
    for (std::size_t i = 0; i < what.size(); ++i) to[i] += what[i];
}

class CostPool {
public:
    // The largest id that a ChargeTarget can hold.
    static constexpr std::uint32_t kMostVectors = (1u << ChargeTarget::kCostBits) - 1;

    // `width`: counts per vector, at least 1. `most`: the most vectors, which make() checks.
    explicit CostPool(std::size_t width, std::uint32_t most = kMostVectors) : width_(width), most_(most) {}

    CostPool(const CostPool&) = delete;
    CostPool& operator=(const CostPool&) = delete;

    // A new vector of zeros. Ids are dense and start at 1; 0 is kNoCost.
    CostId make() {
        BD_CHECK_OP(size_, <, most_);
        ++size_;
        if ((size_ >> kChunkBits) == chunks_.size()) {
            chunks_.push_back(std::make_unique<std::uint64_t[]>(width_ << kChunkBits));
        }
        return CostId{size_};
    }

    [[gnu::always_inline]] Costs operator[](CostId id) {
        BD_DCHECK(id != kNoCost && index_of(id) <= size_);
        const std::uint32_t index = index_of(id);
        return {chunks_[index >> kChunkBits].get() + (index & kChunkMask) * width_, width_};
    }
    ConstCosts operator[](CostId id) const { return const_cast<CostPool&>(*this)[id]; }

    void clear_counts() {
        for (auto& chunk : chunks_) std::fill_n(chunk.get(), width_ << kChunkBits, 0);
    }

    std::size_t width() const { return width_; }
    std::uint32_t size() const { return size_; }
    std::size_t bytes() const { return chunks_.size() * (width_ << kChunkBits) * sizeof(std::uint64_t); }

private:
    static constexpr unsigned kChunkBits = 10;
    static constexpr std::uint32_t kChunkMask = (1u << kChunkBits) - 1;

    std::size_t width_;
    std::uint32_t most_;
    std::uint32_t size_ = 0;
    std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
};

}  // namespace bd
