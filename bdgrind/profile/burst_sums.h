// SPDX-License-Identifier: GPL-2.0-or-later
//
// What bursts of a sampled run have counted, one by one: from how they differ follows how far an estimate may be off.
// Of each function (itself, and with its calls) and each line, and of the whole: of the counts c of bursts of length n,
// and their differences dc and dn from one burst to the next, the sums of dc^2 and dc dn; and the largest c of the
// whole. (The sum of c is in the engine's counts.)
//
// The start of the run counts as it is. The estimate of a cost in what is behind it, of length N, is
// N * sum(c) / sum(n), a ratio. Lengths are in instructions for Ir, Dr and Dw, which instructions have in common; in
// blocks for all else, as what misses has little to do with how many instructions a block has. Each burst is drawn from
// a period of its own, so its variance is that of bursts within their periods, which the differences between neighbours
// show, and not that between phases of the program.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/replay/engine.h"

namespace bd {

// Of a run, or of a part of it.
struct RunLength {
    std::uint64_t blocks = 0;
    std::uint64_t instructions = 0;

    RunLength operator+(const RunLength& other) const {
        return {blocks + other.blocks, instructions + other.instructions};
    }
    RunLength operator-(const RunLength& other) const {
        return {blocks - other.blocks, instructions - other.instructions};
    }
};

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

    // Intervals of fewer bursts hold in less than 93 % of the runs of some programs, and are not written.
    static constexpr std::uint32_t kFewest = 20;

    explicit BurstSums(std::size_t width) : width_(width), most_(width) {
        row({Row::Kind::kTotal, nullptr, nullptr, 0});
    }

    // A burst of that length has ended. `engine` has been settled, and has counted nothing but all bursts so far.
    void add(const Engine& engine, const RunLength& length);

    // The same of the start, which is before all bursts.
    void add_start(const Engine& engine, const RunLength& length);

    // The engine has forgotten all of them.
    void clear() { *this = BurstSums(width_); }

    std::uint32_t bursts() const { return bursts_; }
    // That have counted, in bursts and in the start.
    std::uint64_t blocks() const { return length_.blocks + start_length_.blocks; }
    std::uint64_t start_blocks() const { return start_length_.blocks; }

    // The whole run has that length: by how much the counts of bursts are multiplied, of an event or, where that goes
    // by blocks, of calls and jumps. 0 without any burst.
    double scale(std::size_t event, const RunLength& all) const;
    double scale_of_blocks(const RunLength& all) const { return scale(kByBlocks, all); }

    // In the order in which they came up.
    std::span<const Row> rows() const { return rows_; }

    struct Spread {
        double value = 0;    // the estimate, without the start
        double error = 0;    // its standard error
        double freedom = 1;  // degrees of freedom of that
    };
    // Of an event of row number `index`, for a whole run of that length. Value and error are 0 with fewer than two
    // bursts, of which nothing is known.
    Spread spread(std::size_t index, std::size_t event, const RunLength& all) const;

    // By how much the estimate may be off, with 95 % certainty: Student's quantile times the error, upwards on a scale
    // of logarithms, as high costs are rarer than low ones; and as the program may have done nothing but this between
    // two bursts, for as long as one, twice what all code has cost in the costliest burst, or in the start. 0 with
    // fewer than two bursts; with fewer than kFewest, it holds too rarely.
    double half_width(std::size_t index, std::size_t event, const RunLength& all) const;

private:
    static constexpr std::size_t kByBlocks = ~std::size_t{0};  // stands for an event that goes by blocks
    static bool goes_by_instructions(std::size_t event) {
        return event == column(Event::kIr) || event == column(Event::kDr) || event == column(Event::kDw);
    }
    // In what the event goes by.
    static double amount(const RunLength& length, std::size_t event) {
        return static_cast<double>(goes_by_instructions(event) ? length.instructions : length.blocks);
    }

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

    // The counts of all bursts so far, by their length.
    double ratio(std::size_t at) const;
    std::uint32_t row(const Key& key);
    void note_rows(const Engine& engine);
    void count(const Engine& engine);
    std::uint64_t* counted(std::uint32_t row) { return &counted_[row * width_]; }

    std::size_t width_;
    std::uint32_t bursts_ = 0;
    RunLength length_;  // of all bursts
    RunLength start_length_;
    RunLength last_length_;      // n of the latest burst
    double squared_blocks_ = 0;  // the sum of dn^2
    double squared_instructions_ = 0;

    std::vector<Row> rows_;
    boost::unordered_flat_map<Key, std::uint32_t, KeyHash> by_key_;
    std::vector<double> most_;  // by event: the largest c of the whole
    // By row and event.
    std::vector<std::uint64_t> counted_;
    std::vector<std::uint64_t> before_;  // the latest burst
    std::vector<std::uint64_t> start_;   // of it, as far as there were rows then
    std::vector<double> last_;           // c of the latest burst
    std::vector<double> squares_;        // the sum of dc^2
    std::vector<double> products_;       // the sum of dc dn
    std::vector<double> fourths_;        // the sum of (dc - r dn)^4, where r is that of the bursts so far

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
// long: what bursts count of L2 and LL is wrong in either direction, and not written. (Nor is how often a line of L1
// was accessed: most accesses are to lines that stay for longer than a burst, which were not loaded in it.)
constexpr EventSet sampled_events(EventSet events) {
    for (const EventGroup group : {EventGroup::kMissesLast, EventGroup::kUse2, EventGroup::kWriteBacks,
                                   EventGroup::kMissesL2, EventGroup::kUseL2}) {
        events.disable(group);
    }
    return events;
}

}  // namespace bd
