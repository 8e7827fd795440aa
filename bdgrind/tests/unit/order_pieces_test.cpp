// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which pieces of a trace the sampler looks at, to the word: those that it plans, and short ones where code runs of
// which little has been seen. A naive sampler goes through random traces with the same planned pieces.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "engine/order/order_sampler.h"
#include "program.h"

namespace bd::test {
namespace {

constexpr Address kTop = 0x7000;

struct Piece {
    std::uint64_t begin, end;  // in words
    bool has(std::uint64_t word) const { return begin <= word && word < end; }
};

// The words of the trace at which a record is looked at. Each record has a block of its own, so that the sampler's rows
// tell which were; and there is a trace for each remainder that a record's position may have.
std::set<std::uint64_t> words_looked_at(OrderSampling sampling, std::uint64_t words) {
    sampling.few = 0;
    std::set<std::uint64_t> looked_at;
    for (std::size_t shift = 0; shift < 3; ++shift) {
        Program program;
        Function& f = program.function("f");
        Trace trace;
        for (std::size_t marker = 0; marker != shift; ++marker) trace.mark_with(Marker::kCollect, {});
        std::map<Address, std::uint64_t> word_of;
        while (trace.all().size() < words) {
            const Address address = 0x1000 + 4 * word_of.size();
            word_of[address] = trace.all().size();
            trace.run(program.code(f, address).op().reads(8).ends(JumpKind::kReturn), kTop, {0x10000});
        }
        OrderSampler sampler(64, false, sampling);
        sampler.replay(trace.all(), 0, true);
        for (const OrderRow& row : sampler.table().rows()) {
            if (row.accesses != 0) looked_at.insert(word_of.at(sampler.table().site(row.site).block->address));
        }
    }
    return looked_at;
}

struct Plan {
    std::vector<Piece> pieces;  // behind `whole`, one in each period
    std::uint64_t end;          // of the last period of which all has been seen
};

Plan plan_of(const OrderSampling& sampling, std::uint64_t words) {
    const std::set<std::uint64_t> looked_at = words_looked_at(sampling, words);
    std::vector<Piece> pieces;
    std::uint64_t begin = sampling.whole;
    std::uint64_t period = sampling.first_period;
    std::uint64_t until = sampling.first_periods_until;
    std::size_t in_pieces = 0;
    for (;;) {
        for (; begin >= until; until *= 16) period *= 4;
        if (begin + period > words) break;
        const auto first = looked_at.lower_bound(begin);
        if (first == looked_at.end() || *first + sampling.piece > begin + period) {
            ADD_FAILURE() << "no whole piece from word " << begin << " on";
            break;
        }
        pieces.push_back({*first, *first + sampling.piece});
        for (std::uint64_t word = pieces.back().begin; word != pieces.back().end; ++word) {
            EXPECT_TRUE(looked_at.contains(word)) << word;
        }
        in_pieces += sampling.piece;
        begin += period;
    }
    const auto from = looked_at.lower_bound(sampling.whole);
    EXPECT_EQ(std::distance(from, looked_at.lower_bound(begin)), static_cast<std::ptrdiff_t>(in_pieces));
    EXPECT_EQ(std::distance(looked_at.begin(), from), static_cast<std::ptrdiff_t>(sampling.whole));
    return {pieces, begin};
}

// "The order of addresses" in docs/simulation.md.
TEST(OrderPlanTest, AProgramsPiecesAreThoseOfTheRules) {
    const OrderSampling defaults;
    EXPECT_EQ(defaults.whole, 1048576u);
    EXPECT_EQ(defaults.piece, 32768u);
    EXPECT_EQ(defaults.first_period, 1048576u);
    EXPECT_EQ(defaults.first_periods_until, 16777216u);
    EXPECT_EQ(defaults.probe_period, 131072u);
    EXPECT_EQ(defaults.short_piece, 8192u);
    EXPECT_EQ(defaults.few, 256u);
    EXPECT_EQ(defaults.most_short, 64u);
}

TEST(OrderPlanTest, OnePieceLiesInEachPeriodWhichGrow) {
    constexpr OrderSampling kSampling{
        .whole = 96, .piece = 24, .first_period = 48, .first_periods_until = 96 + 3 * 48};
    const std::vector<Piece> pieces = plan_of(kSampling, 9000).pieces;
    // 3 periods of 48 words, 19 of 192, which take us to word 3,888 behind 16 * 240, and 6 of 768.
    EXPECT_EQ(pieces.size(), 3u + 19u + 6u);
}

TEST(OrderPlanTest, APieceMayBeginAtEachWordOfItsPeriodThatLeavesRoomForIt) {
    constexpr OrderSampling kSampling{.whole = 10, .piece = 24, .first_period = 26, .first_periods_until = 1u << 30};
    std::set<std::uint64_t> begins;
    for (const Piece& piece : plan_of(kSampling, 2000).pieces) begins.insert((piece.begin - 10) % 26);
    EXPECT_EQ(begins, (std::set<std::uint64_t>{0, 1, 2}));
}

TEST(OrderPlanTest, PiecesAsLongAsTheirPeriodsLeaveNothingOut) {
    constexpr OrderSampling kSampling{.whole = 10, .piece = 24, .first_period = 24, .first_periods_until = 1u << 30};
    std::uint64_t begin = 10;
    for (const Piece& piece : plan_of(kSampling, 1000).pieces) {
        EXPECT_EQ(piece.begin, begin);
        begin += 24;
    }
}

// Of one block in one thread.
struct Seen {
    std::uint32_t accesses = 0;
    std::uint32_t pieces = 0;  // a step leads from each access to the next one of the same piece
    bool operator==(const Seen&) const = default;
};
using SeenByBlock = std::map<std::tuple<std::uint32_t, Address>, Seen>;

// Goes through a trace record by record, and knows beforehand which pieces are planned.
class NaiveSampler {
public:
    NaiveSampler(const OrderSampling& sampling, std::vector<Piece> planned)
        : sampling_(sampling), planned_(std::move(planned)) {
        planned_.insert(planned_.begin(), Piece{0, sampling.whole});
    }

    void interrupt() { ++piece_; }
    // A marker or a block that is not collected.
    void pass(std::uint64_t words) { go_on(words); }
    void block(std::uint32_t thread, Address address, bool accesses, std::uint64_t words) {
        if (accesses) probe(address);
        if (is_planned(at_) || short_.has(at_)) {
            if (accesses) {
                Seen& seen = seen_[{thread, address}];
                ++seen.accesses;
                ++all_of_[address];
                if (latest_of_[{thread, address}] != piece_) ++seen.pieces;
                latest_of_[{thread, address}] = piece_;
            }
        } else {
            interrupt();
        }
        go_on(words);
    }
    const SeenByBlock& seen() const { return seen_; }
    std::size_t short_pieces() const { return short_pieces_; }

private:
    bool is_planned(std::uint64_t word) const {
        return std::ranges::any_of(planned_, [word](const Piece& piece) { return piece.has(word); });
    }
    void probe(Address address) {
        if (at_ < sampling_.whole || (at_ - sampling_.whole) / sampling_.probe_period < periods_probed_) return;
        periods_probed_ = (at_ - sampling_.whole) / sampling_.probe_period + 1;
        if (is_planned(at_) || short_.has(at_) || all_of_[address] >= sampling_.few) return;
        if ((short_pieces_ + 1) * sampling_.short_piece * sampling_.most_short > at_) return;
        ++short_pieces_;
        short_ = {at_, at_ + sampling_.short_piece};
        interrupt();
    }
    // Each planned piece ends what went on, and a short one that has not reached a planned one.
    void go_on(std::uint64_t words) {
        const std::uint64_t before = at_;
        at_ += words;
        const auto ends = [&](const Piece& piece) { return before < piece.end && piece.end <= at_; };
        if (std::ranges::any_of(planned_, ends) || (ends(short_) && !is_planned(before))) interrupt();
    }

    const OrderSampling sampling_;
    std::vector<Piece> planned_;
    Piece short_{0, 0};
    std::uint64_t at_ = 0;
    std::uint64_t periods_probed_ = 0;
    std::size_t short_pieces_ = 0;
    std::uint64_t piece_ = 1;
    std::map<Address, std::uint64_t> all_of_;  // in all threads
    std::map<std::tuple<std::uint32_t, Address>, std::uint64_t> latest_of_;
    SeenByBlock seen_;
};

SeenByBlock seen_by(const OrderSampler& sampler) {
    SeenByBlock all;
    for (const OrderRow& row : sampler.table().rows()) {
        if (row.accesses == 0) continue;
        EXPECT_EQ(row.loop, kNoLoop);  // blocks that end with returns make none
        const StepCounts& steps = row.steps.counts();
        const std::uint32_t count = steps.same + steps.near + steps.forward + steps.backward + steps.far;
        all[{row.thread, sampler.table().site(row.site).block->address}] = {row.accesses, row.accesses - count};
    }
    return all;
}

TEST(OrderProbeTest, RandomTracesAreLookedAtAsByTheNaiveSampler) {
    std::size_t short_pieces = 0;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto choose = [&random](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
        const std::uint32_t piece = 6 + choose(20);
        OrderSampling sampling{.whole = 1 + choose(40),
                               .piece = piece,
                               .first_period = piece + choose(80),
                               .first_periods_until = choose(2) == 0 ? 100u + choose(100) : 1u << 30,
                               .probe_period = 4 + choose(60),
                               .short_piece = 5 + choose(30),
                               .few = 1 + choose(20),
                               .most_short = 1 + choose(8)};
        if (choose(3) == 0) sampling.first_period = 1u << 20;  // which begins too late
        constexpr std::uint64_t kWords = 1500;
        const Plan plan = sampling.first_period < kWords ? plan_of(sampling, kWords) : Plan{{}, kWords};

        Program program;
        Function& f = program.function("f");
        std::vector<const Block*> blocks;
        for (Address i = 0; i < 5; ++i) {
            blocks.push_back(&program.code(f, 0x1000 + 16 * i).op().reads(8).ends(JumpKind::kReturn));
        }
        blocks.push_back(&program.code(f, 0x2000).op().ends(JumpKind::kReturn));
        const std::size_t most_blocks = 1 + choose(6);

        NaiveSampler naive(sampling, plan.pieces);
        OrderSampler sampler(64, true, sampling);
        std::uint32_t thread = choose(2);
        for (std::uint64_t words = 0; words + 61 * 4 < plan.end;) {
            const std::uint32_t begins_in = thread;
            const bool counts = choose(12) != 0;
            if (!counts) naive.interrupt();
            Trace batch;
            for (std::uint32_t records = 1 + choose(60); records != 0; --records) {
                const std::size_t before = batch.all().size();
                if (choose(25) == 0) {
                    constexpr Marker kMarkers[]{Marker::kThread, Marker::kThreadEnd, Marker::kSignalEnter,
                                                Marker::kSignalLeave, Marker::kStop, Marker::kCollect};
                    const Marker marker = kMarkers[choose(6)];
                    const std::uint32_t value = choose(3);
                    batch.mark(marker, value);
                    const bool is_switch = marker == Marker::kThread && value != thread;
                    if (marker == Marker::kThread) thread = value;
                    if (marker == Marker::kThread ? is_switch : marker != Marker::kCollect) naive.interrupt();
                    naive.pass(batch.all().size() - before);
                } else {
                    const Block& block = *blocks[choose(static_cast<std::uint32_t>(most_blocks))];
                    const bool accesses = &block != blocks.back();
                    batch.run(block, kTop, accesses ? std::vector<Word>{0x10000 + 8 * words} : std::vector<Word>{});
                    const std::size_t size = batch.all().size() - before;
                    if (counts) {
                        naive.block(thread, block.address, accesses, size);
                    } else {
                        naive.pass(size);
                    }
                }
                words += batch.all().size() - before;
            }
            sampler.replay(batch.all(), begins_in, counts);
        }
        EXPECT_EQ(seen_by(sampler), naive.seen());
        short_pieces += naive.short_pieces();
    }
    EXPECT_GT(short_pieces, 300u);
}

}  // namespace
}  // namespace bd::test
