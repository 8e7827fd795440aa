// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/address_steps.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr std::uint32_t kLineBytes = 64;

struct Visit {
    std::uint32_t run;
    Address address;
};

// All steps of a list of addresses are looked at together, each with both of its neighbours.
struct NaiveSteps {
    explicit NaiveSteps(const std::vector<Visit>& visits) {
        struct Step {
            std::int64_t bytes;
            bool begins;  // a run of the loop
        };
        std::vector<Step> all;
        for (std::size_t i = 1; i < visits.size(); ++i) {
            if (visits[i].run != visits[i - 1].run) continue;
            const bool begins = i < 2 || visits[i - 1].run != visits[i - 2].run;
            all.push_back({static_cast<std::int64_t>(visits[i].address - visits[i - 1].address), begins});
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::int64_t bytes = all[i].bytes;
            const bool as_before = i != 0 && all[i - 1].bytes == bytes;
            // What begins a run of the loop may be as the step before, but not turn that one into a first of several.
            const bool as_behind = i + 1 < all.size() && all[i + 1].bytes == bytes && !all[i + 1].begins;
            if (!as_before || all[i].begins) ++runs;
            if (bytes != 0) ++times[bytes];
            if (bytes == 0) {
                ++same;
            } else if (bytes < kLineBytes && -bytes < kLineBytes) {
                ++near;
            } else if (!as_before && !as_behind) {
                ++far;
            } else {
                ++(bytes > 0 ? forward : backward);
            }
        }
    }

    std::uint32_t same = 0, near = 0, forward = 0, backward = 0, far = 0, runs = 0;
    std::map<std::int64_t, std::uint32_t> times;
};

void expect_as_naive(const std::vector<Visit>& visits) {
    AddressSteps steps;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const bool is_first = i == 0 || visits[i].run != visits[i - 1].run;
        ASSERT_EQ(steps.add(visits[i].address, visits[i].run, kLineBytes), is_first) << i;
    }
    const NaiveSteps naive(visits);
    EXPECT_EQ(steps.counts().same, naive.same);
    EXPECT_EQ(steps.counts().near, naive.near);
    EXPECT_EQ(steps.counts().forward, naive.forward);
    EXPECT_EQ(steps.counts().backward, naive.backward);
    EXPECT_EQ(steps.counts().far, naive.far);
    EXPECT_EQ(steps.counts().runs, naive.runs);
    if (naive.times.size() > FrequentSteps::kKept) return;
    for (const FrequentSteps::Step& kept : steps.counts().frequent.kept()) {
        if (kept.times == 0) continue;
        EXPECT_EQ(kept.at_least(), naive.times.at(kept.bytes));
    }
}

std::vector<Visit> in_one_run(const std::vector<Address>& addresses) {
    std::vector<Visit> visits;
    for (const Address address : addresses) visits.push_back({1, address});
    return visits;
}

TEST(AddressSteps, AConstantStrideCountsFromItsFirstStepOn) {
    AddressSteps steps;
    for (Address address = 0x1000; address != 0x1000 + 10 * 512; address += 512) steps.add(address, 1, kLineBytes);
    EXPECT_EQ(steps.counts().forward, 9u);
    EXPECT_EQ(steps.counts().far, 0u);
    EXPECT_EQ(steps.counts().runs, 1u);
}

TEST(AddressSteps, ALinesSizeIsNotNear) {
    AddressSteps steps;
    steps.add(0x1000, 1, kLineBytes);
    steps.add(0x1000 + kLineBytes - 1, 1, kLineBytes);
    EXPECT_EQ(steps.counts().near, 1u);
    steps.add(0x1000 - 1, 1, kLineBytes);
    EXPECT_EQ(steps.counts().near, 1u);
    EXPECT_EQ(steps.counts().far, 1u);
}

TEST(AddressSteps, NoStepLeadsFromOneRunOfTheLoopToTheNext) {
    AddressSteps steps;
    for (std::uint32_t run = 1; run <= 4; ++run) {
        for (Address i = 0; i < 2; ++i) steps.add(0x1000 * run + 256 * i, run, kLineBytes);
    }
    // The first is far, as nothing like it was seen before.
    EXPECT_EQ(steps.counts().far, 1u);
    EXPECT_EQ(steps.counts().forward, 3u);
    EXPECT_EQ(steps.counts().runs, 4u);
}

TEST(AddressSteps, KnownPatternsAreAsNaive) {
    expect_as_naive({});
    expect_as_naive(in_one_run({5}));
    expect_as_naive(in_one_run({0, 0, 0, 8, 16, 24, 24}));
    expect_as_naive(in_one_run({0, 640, 1280, 640, 0, 640, 1280, 1290}));
    expect_as_naive(in_one_run({~Address{0}, 63, 127, 191}));
    expect_as_naive({{1, 0}, {1, 640}, {2, 0}, {2, 640}, {2, 1280}, {3, 9}, {4, 9}, {4, 649}});
}

TEST(AddressSteps, RandomAddressesAreAsNaive) {
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        std::vector<Visit> visits;
        Visit next{1, 0x10000};
        for (int i = 0; i < 200; ++i) {
            visits.push_back(next);
            if (random() % 8 == 0) ++next.run;
            constexpr std::int64_t kSteps[]{0, 8, -8, 64, -64, 4096};
            next.address += static_cast<Address>(kSteps[random() % (1 + seed % 6)]);
        }
        expect_as_naive(visits);
    }
}

TEST(AddressSteps, AfterClearingOnlyWhatComesCounts) {
    AddressSteps steps;
    for (Address address = 0; address != 640; address += 128) steps.add(address, 1, kLineBytes);
    steps.clear_counts();
    EXPECT_EQ(steps.counts().forward + steps.counts().runs, 0u);
    steps.add(640, 1, kLineBytes);
    EXPECT_EQ(steps.counts().forward, 1u);
    EXPECT_EQ(steps.counts().far, 0u);
    EXPECT_EQ(steps.counts().runs, 1u);
}

}  // namespace
}  // namespace bd
