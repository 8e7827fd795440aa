// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which cores take lines from each other: by hand, and random accesses compared with what their whole history says.

#include "engine/sharing/coherence.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

struct CoreAccess {
    std::uint8_t core;
    std::uint64_t line;
    std::uint64_t bytes;
    bool writes;
};

constexpr std::uint64_t kLowBytes = 0x00ff;
constexpr std::uint64_t kHighBytes = 0xff00;

class CoherenceTest : public testing::Test {
protected:
    CoherenceOutcome read(std::uint8_t core, std::uint64_t bytes = kLowBytes) { return access(core, bytes, false); }
    CoherenceOutcome write(std::uint8_t core, std::uint64_t bytes = kLowBytes) { return access(core, bytes, true); }
    CoherenceOutcome access(std::uint8_t core, std::uint64_t bytes, bool writes) {
        return coherence_.access(core, LineNumber{7}, bytes, writes, &ends_);
    }
    // Cores take the line from each other until it is followed and all have lost it once.
    void follow(std::uint8_t cores) {
        for (unsigned i = 0; i < Coherence::kFollowedFrom + 2; ++i) {
            for (std::uint8_t core = 0; core < cores; ++core) write(core, std::uint64_t{1} << 63);
        }
        ends_.clear();
    }

    Coherence coherence_{6};
    std::vector<CoreUseMark> ends_;
};

TEST_F(CoherenceTest, OneCoreIsNeverDisturbed) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(write(3).is_nothing());
        EXPECT_TRUE(read(3).is_nothing());
    }
}

TEST_F(CoherenceTest, ReadersAreNotDisturbedByEachOther) {
    for (std::uint8_t core = 0; core < kMostCores; ++core) EXPECT_TRUE(read(core).is_nothing());
    for (std::uint8_t core = 0; core < kMostCores; ++core) EXPECT_TRUE(read(core).is_nothing());
}

TEST_F(CoherenceTest, AWriteInvalidatesAllOtherCopies) {
    for (std::uint8_t core = 0; core < 5; ++core) read(core);
    const CoherenceOutcome outcome = write(2);
    EXPECT_EQ(outcome.invalidated, 4);
    EXPECT_FALSE(outcome.transferred) << "it was clean, and here";
    EXPECT_FALSE(outcome.lost);
    EXPECT_TRUE(write(2).is_nothing());
}

TEST_F(CoherenceTest, WhatAnotherCoreHasModifiedIsTransferredOnce) {
    write(0);
    EXPECT_TRUE(read(1).transferred);
    EXPECT_TRUE(read(1).is_nothing());
    const CoherenceOutcome third = read(2);
    EXPECT_TRUE(third.is_nothing()) << "clean by now";
    EXPECT_EQ(write(0).invalidated, 2);
    const CoherenceOutcome back = read(1);
    EXPECT_TRUE(back.transferred);
    EXPECT_TRUE(back.lost);
    const CoherenceOutcome back_second = read(2);
    EXPECT_FALSE(back_second.transferred) << "the other reader has made it clean";
    EXPECT_TRUE(back_second.lost);
}

TEST_F(CoherenceTest, KindsAreThoseOfTheBytesInCommon) {
    follow(2);
    write(0, kLowBytes);
    write(1, kHighBytes);  // takes it: core 0 loses a stay in which it has used nothing of core 1's
    ASSERT_EQ(ends_.size(), 2u);
    EXPECT_EQ(ends_[1].core, 0);
    EXPECT_EQ(ends_[1].written, kLowBytes);
    write(0, kLowBytes);
    EXPECT_EQ(ends_.back().core, 1);
    EXPECT_EQ(ends_.back().kind, SharingKind::kFalse);
    read(1, kLowBytes);
    write(1, kHighBytes);
    write(0, kLowBytes);
    EXPECT_EQ(ends_.back().kind, SharingKind::kTrue);
    EXPECT_EQ(ends_.back().read, kLowBytes);
    EXPECT_EQ(ends_.back().written, kHighBytes);
    read(1, kLowBytes);
    write(1, kLowBytes);
    write(0, kLowBytes);
    EXPECT_EQ(ends_.back().kind, SharingKind::kMigrating);
}

TEST_F(CoherenceTest, EmptyCachesHaveNothingInCommon) {
    write(0);
    coherence_.clear();
    EXPECT_TRUE(write(1).is_nothing());
}

// By hand: core 0 writes; cores 1 and 2 read; core 1 writes; core 0 reads.
TEST(CoherenceProtocols, DifferInWhatSeveralReadersOfAModifiedLineGet) {
    const std::vector<CoreAccess> accesses{{0, 7, 1, true}, {1, 7, 1, false}, {2, 7, 1, false}, {2, 7, 1, false},
                                           {1, 7, 1, true}, {0, 7, 1, false}, {2, 7, 1, false}};
    const auto transfers = [&](CoherenceProtocol protocol) {
        Coherence coherence(6, protocol);
        std::vector<CoreUseMark> ends;
        std::vector<bool> found;
        for (const CoreAccess& each : accesses) {
            found.push_back(
                coherence.access(each.core, LineNumber{each.line}, each.bytes, each.writes, &ends).transferred);
        }
        return found;
    };
    // Core 1 has the line when it writes. With MESI, the second reader gets it from the level that all share.
    EXPECT_EQ(transfers(CoherenceProtocol::kMesi), (std::vector<bool>{0, 1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(transfers(CoherenceProtocol::kMoesi), (std::vector<bool>{0, 1, 1, 0, 0, 1, 1}));
}

// What the history of a line says, access by access; slowly.
class History {
public:
    History(std::vector<CoreAccess> accesses, CoherenceProtocol protocol)
        : all_(std::move(accesses)), protocol_(protocol) {}

    bool holds(std::uint8_t core, std::size_t before) const {
        for (std::size_t i = before; i-- != 0;) {
            if (all_[i].line != all_[before].line) continue;
            if (all_[i].core == core) return true;
            if (all_[i].writes) return false;
        }
        return false;
    }
    bool has_touched(std::uint8_t core, std::size_t before) const {
        for (std::size_t i = 0; i < before; ++i) {
            if (all_[i].core == core && all_[i].line == all_[before].line) return true;
        }
        return false;
    }
    // By a core that has been alone with it since.
    bool is_modified_elsewhere(std::uint8_t core, std::size_t before) const {
        int alone = -1;
        for (std::size_t i = before; i-- != 0;) {
            if (all_[i].line != all_[before].line) continue;
            if (alone == -1) alone = all_[i].core;
            if (all_[i].core != alone) return false;
            if (all_[i].writes) return alone != core;
        }
        return false;
    }
    // With MOESI, it stays modified once it has been: by the last core that wrote to it, which holds it.
    bool is_owned_elsewhere(std::uint8_t core, std::size_t before) const {
        for (std::size_t i = before; i-- != 0;) {
            if (all_[i].line == all_[before].line && all_[i].writes) return all_[i].core != core;
        }
        return false;
    }
    CoherenceOutcome outcome(std::size_t at) const {
        const std::uint8_t core = all_[at].core;
        const bool is_here = holds(core, at);
        const bool is_mesi = protocol_ == CoherenceProtocol::kMesi;
        const bool is_modified = is_mesi ? is_modified_elsewhere(core, at) : is_owned_elsewhere(core, at);
        CoherenceOutcome outcome{.transferred = !is_here && is_modified, .lost = !is_here && has_touched(core, at)};
        for (std::uint8_t other = 0; all_[at].writes && other < kMostCores; ++other) {
            outcome.invalidated += other != core && holds(other, at);
        }
        return outcome;
    }
    // Of the stay of a core that the access at `end` ends.
    CoreUseMark stay(std::uint8_t core, std::size_t end) const {
        CoreUseMark stay{.line = all_[end].line << 6, .core = core};
        std::size_t begin = end;
        for (std::size_t i = end; i-- != 0;) {
            if (all_[i].line != all_[end].line || all_[i].core != core) continue;
            begin = i;
            (all_[i].writes ? stay.written : stay.read) |= all_[i].bytes;
            if (!holds(core, i)) break;
        }
        std::uint64_t foreign = 0;
        for (std::size_t i = begin; i-- != 0;) {
            if (all_[i].line != all_[end].line) continue;
            if (all_[i].core == core) break;
            if (all_[i].writes) foreign |= all_[i].bytes;
        }
        stay.kind = (foreign & stay.written) != 0 ? SharingKind::kMigrating
                    : (foreign & stay.read) != 0  ? SharingKind::kTrue
                                                  : SharingKind::kFalse;
        return stay;
    }

private:
    std::vector<CoreAccess> all_;
    CoherenceProtocol protocol_;
};

TEST(Coherence, RandomAccessesAreAsTheirHistorySays) {
    std::mt19937 random(36);
    const auto below = [&random](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    std::uint64_t happened = 0;
    std::uint64_t ended = 0;
    std::uint64_t known = 0;
    std::uint64_t nothing = 0;
    std::uint64_t without_a_look = 0;
    for (int run = 0; run < 300; ++run) {
        const unsigned cores = 1 + below(run % 10 == 0 ? kMostCores : 5);
        const unsigned lines = 1 + below(4);
        const unsigned writes = 1 + below(9);
        std::vector<CoreAccess> accesses;
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t distance = run % 2 == 0 ? 3000 : 1 << 20;
            accesses.push_back({static_cast<std::uint8_t>(below(cores)), 0x1000 + distance * below(lines),
                                std::uint64_t{0xff} << 8 * below(8), below(10) < writes});
        }
        const auto protocol = run % 3 == 0 ? CoherenceProtocol::kMoesi : CoherenceProtocol::kMesi;
        const History history(accesses, protocol);
        Coherence coherence(6, protocol);
        std::vector<CoreUseMark> ends;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            const CoreAccess& access = accesses[i];
            const auto writes_any = [&] { return access.writes; };
            const bool is_known = coherence.knows(access.core, LineNumber{access.line}, writes_any);
            const bool is_nothing =
                coherence.change_nothing(access.core, LineNumber{access.line}, writes_any);
            ASSERT_TRUE(is_nothing || !is_known) << run << ' ' << i;
            without_a_look += is_known;
            if (is_nothing) {
                ASSERT_TRUE(history.outcome(i).is_nothing()) << run << ' ' << i;
                ++nothing;
                if (below(2) == 0) continue;  // as where it is not asked further
            }
            const CoherenceOutcome got =
                coherence.access(access.core, LineNumber{access.line}, access.bytes, access.writes, &ends);
            const CoherenceOutcome wanted = history.outcome(i);
            ASSERT_EQ(got.transferred, wanted.transferred) << run << ' ' << i;
            ASSERT_EQ(got.lost, wanted.lost) << run << ' ' << i;
            ASSERT_EQ(got.invalidated, wanted.invalidated) << run << ' ' << i;
            ASSERT_TRUE(!is_nothing || !got.is_followed);
            happened += !got.is_nothing();
            ASSERT_LE(ends.size(), wanted.invalidated);
            for (const CoreUseMark& end : ends) {
                const CoreUseMark stay = history.stay(end.core, i);
                ASSERT_EQ(end.line, stay.line);
                ++ended;
                if (end.kind == SharingKind::kUnknown) continue;
                ++known;
                ASSERT_EQ(end.kind, stay.kind) << run << ' ' << i;
                ASSERT_EQ(end.read, stay.read) << run << ' ' << i;
                ASSERT_EQ(end.written, stay.written) << run << ' ' << i;
            }
            ends.clear();
        }
    }
    EXPECT_GT(happened, 10'000u);
    EXPECT_GT(known, ended / 2);
    EXPECT_GT(nothing, 5'000u);
    EXPECT_GT(without_a_look, 1'000u);
}

TEST(Coherence, FollowsNoMoreLinesThanItMay) {
    Coherence coherence(6, CoherenceProtocol::kMesi, 2);
    std::vector<CoreUseMark> ends;
    unsigned followed = 0;
    for (std::uint64_t line = 0; line < 5; ++line) {
        CoherenceOutcome outcome;
        for (unsigned i = 0; i < 20; ++i) {
            outcome = coherence.access(i % 2, LineNumber{line}, 1, true, &ends);
            EXPECT_EQ(outcome.transferred, i != 0);
        }
        followed += outcome.is_followed;
    }
    EXPECT_EQ(followed, 2u);
}

TEST(CoherenceMarks, AreReadAsTheyWereWritten) {
    const CoherenceMark mark{.access = 65535,
                             .core = 63,
                             .invalidated = 63,
                             .transferred = true,
                             .lost = true,
                             .is_write = true,
                             .is_atomic = true,
                             .is_followed = true,
                             .bytes = 64,
                             .address = static_cast<Address>(0x7fffffffffff)};
    const CoherenceMark read = CoherenceMark::of(mark.to_values());
    EXPECT_EQ(read.access, mark.access);
    EXPECT_EQ(read.core, 63);
    EXPECT_EQ(read.invalidated, 63);
    EXPECT_TRUE(read.transferred && read.lost && read.is_write && read.is_atomic && read.is_followed);
    EXPECT_EQ(read.bytes, 64u);
    EXPECT_EQ(read.address, mark.address);
    EXPECT_FALSE(CoherenceMark::of(CoherenceMark{.lost = true}.to_values()).transferred);

    const CoreUseMark use{.line = static_cast<Address>(0x7fffffffffc0),
                          .core = 63,
                          .kind = SharingKind::kMigrating,
                          .read = 1,
                          .written = std::uint64_t{1} << 63};
    const CoreUseMark use_read = CoreUseMark::of(use.to_values());
    EXPECT_EQ(use_read.line, use.line);
    EXPECT_EQ(use_read.core, 63);
    EXPECT_EQ(use_read.kind, use.kind);
    EXPECT_EQ(use_read.read, use.read);
    EXPECT_EQ(use_read.written, use.written);
}

}  // namespace
}  // namespace bd
