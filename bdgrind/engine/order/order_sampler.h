// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at pieces of the trace for the order of addresses: all of a short run, and of a long one pieces at positions
// that are random, but the same each time, and where code runs of which little has been seen. It needs blocks with
// descriptions of what addresses depend on (dataflow.h), else it knows steps only.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/order/order_table.h"
#include "engine/trace/trace.h"

namespace bd {

// In words of the trace. Behind the first `whole`, one piece lies somewhere in each period. From `first_periods_until`
// on, periods are four times as long, and again wherever the trace has become sixteen times as long.
struct OrderSampling {
    std::uint64_t whole = 1u << 20;
    std::uint64_t piece = 1u << 15;
    std::uint64_t first_period = 1u << 20;
    std::uint64_t first_periods_until = 1u << 24;
    // A short piece begins where one of these periods does with a block of whose first access fewer than `few` have
    // been seen. All of them together are at most one in `most_short` of the words so far.
    std::uint64_t probe_period = 1u << 17;
    std::uint64_t short_piece = 1u << 13;
    std::uint64_t few = 256;
    std::uint64_t most_short = 64;
};

class OrderSampler {
public:
    // `line_bytes`: of D1. `by_thread`: threads are separate.
    OrderSampler(std::uint32_t line_bytes, bool by_thread, const OrderSampling& sampling = {})
        : line_bytes_(line_bytes),
          by_thread_(by_thread),
          sampling_(sampling),
          end_(sampling.whole),
          period_(sampling.first_period),
          periods_until_(sampling.first_periods_until),
          period_end_(sampling.whole),
          probe_(sampling.whole) {}

    // The next whole records, of which the first are this guest thread's. `counts`: costs are collected; else they are
    // passed over.
    void replay(Batch batch, std::uint32_t thread, bool counts);

    const OrderTable& table() const { return table_; }
    const Block& header(LoopId loop) const { return flow_.header(loop); }
    // How many accesses have been looked at.
    std::uint64_t accesses() const { return accesses_; }
    void clear_counts(std::uint32_t thread);

private:
    static constexpr std::size_t kPageBytes = 4096;
    static constexpr std::size_t kMostLoops = 3;              // around an access that are looked at
    static constexpr std::size_t kMostAccessesPerWord = 256;  // a group has at most so many

    void pass(std::size_t words);
    void plan_next();
    void probe(const Block& block);
    void start_piece();
    void on_marker(const Exit& exit, Batch values);
    void on_block(const Exit& exit, Batch record);
    void on_access(const Access& access, Address address, SiteId site, const LoadChains::Found& found);

    const std::uint32_t line_bytes_;
    const bool by_thread_;
    const OrderSampling sampling_;
    std::uint64_t at_ = 0;     // words of the trace
    std::uint64_t begin_ = 0;  // of this piece or the next one
    std::uint64_t end_;
    std::uint64_t period_;         // how long it is
    std::uint64_t periods_until_;  // where they become longer
    std::uint64_t period_end_;
    std::uint64_t probe_;            // from where on the next block with accesses is looked up
    std::uint64_t short_end_ = 0;    // of the last short piece
    std::uint64_t short_words_ = 0;  // of all short pieces
    std::uint64_t random_ = 0x9e3779b97f4a7c15u;
    bool is_known_ = false;  // what goes on: a piece has begun here, and nothing has come between
    std::uint32_t thread_ = 0;
    std::uint64_t accesses_ = 0;

    OrderTable table_;
    SampledFlow flow_;
    LoadChains chains_;
};

}  // namespace bd
