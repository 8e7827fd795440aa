// SPDX-License-Identifier: GPL-2.0-or-later
//
// What bursts of a sampled run have counted, one by one: from how they differ follows how far an estimate may be off.
// Of each function (itself, and with its calls) and each line, and of the whole: of the counts c of bursts with n
// blocks, the sums of c^2 and c n. (The sum of c is in the engine's counts.)
//
// The estimate of a cost in N blocks of the whole run is N * sum(c) / sum(n), a ratio. Its variance is that of bursts
// drawn at random; they are drawn from one period each, which can only make it smaller.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/replay/engine.h"

namespace bd {

class BurstSums {
public:
    struct Row {
        enum class Kind : std::uint8_t { kTotal, kSelf, kInclusive, kLine };

        Kind kind;
        const Context* context;  // null: of the whole
        const SourceFile* file;  // of a line
        std::uint32_t line;
        std::uint32_t bursts = 0;  // that it has cost anything in
    };

    explicit BurstSums(std::size_t width) : width_(width) { row({Row::Kind::kTotal, nullptr, nullptr, 0}); }

    // A burst of so many blocks has ended. `engine` has been settled, and has counted nothing but all bursts so far.
    void add(const Engine& engine, std::uint64_t blocks);

    // The engine has forgotten all of them.
    void clear() { *this = BurstSums(width_); }

    std::uint32_t bursts() const { return bursts_; }
    std::uint64_t blocks() const { return blocks_; }

    // So many blocks have run in all: by how much counts are multiplied. 0 without any burst.
    double scale(std::uint64_t all_blocks) const {
        return blocks_ == 0 ? 0 : static_cast<double>(all_blocks) / static_cast<double>(blocks_);
    }

    // In the order in which they came up.
    std::span<const Row> rows() const { return rows_; }

    // The standard error of the estimate of an event of row number `index`, for so many blocks in all. Nothing is known
    // of it with fewer than two bursts.
    double error(std::size_t index, std::size_t event, std::uint64_t all_blocks) const;

private:
    struct Key {
        Row::Kind kind;
        const Context* context;
        const SourceFile* file;
        std::uint32_t line;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return ((address(key.context) * 31 + address(key.file)) * 31 + key.line) * 4 +
                   static_cast<std::size_t>(key.kind);
        }
    };

    std::uint32_t row(const Key& key);
    void note_rows(const Engine& engine);
    void count(const Engine& engine);
    std::uint64_t* counted(std::uint32_t row) { return &counted_[row * width_]; }

    std::size_t width_;
    std::uint32_t bursts_ = 0;
    std::uint64_t blocks_ = 0;
    double squared_blocks_ = 0;  // the sum of n^2

    std::vector<Row> rows_;
    boost::unordered_flat_map<Key, std::uint32_t, KeyHash> by_key_;
    // By row and event.
    std::vector<std::uint64_t> counted_;
    std::vector<std::uint64_t> before_;  // the latest burst
    std::vector<double> squares_;        // the sum of c^2
    std::vector<double> products_;       // the sum of c n

    // By the number of a block's costs, and of an arc, less 1, which never change.
    struct BlockRows {
        std::uint32_t self;
        std::uint32_t inclusive;
        std::size_t first_line;  // of its instructions, in line_rows_
    };
    std::vector<BlockRows> block_rows_;
    std::vector<std::uint32_t> line_rows_;
    std::vector<std::uint32_t> arc_rows_;
};

// Caches of many lines are not full when a burst counts, and a few of a program's lines in LL may have been there for
// long: what bursts count of L2 and LL is wrong in either direction, and not written.
constexpr EventSet sampled_events(EventSet events) {
    for (const EventGroup group : {EventGroup::kMissesLast, EventGroup::kUse2, EventGroup::kWriteBacks,
                                   EventGroup::kMissesL2, EventGroup::kUseL2}) {
        events.disable(group);
    }
    return events;
}

// What a profile is to be an estimate from; of none, all has been counted.
struct RunSample {
    const BurstSums* sums = nullptr;
    std::uint64_t blocks = 0;  // of the whole run

    // For the whole run, if that much has been counted; what is negative wraps, as all counts do.
    std::uint64_t estimate(std::uint64_t count) const {
        if (sums == nullptr) return count;
        const double value = static_cast<double>(static_cast<std::int64_t>(count)) * sums->scale(blocks);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5));
    }
};

}  // namespace bd
