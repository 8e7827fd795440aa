// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/load_chains.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr SiteId kSiteA{1};
constexpr SiteId kSiteB{2};
constexpr SiteId kSiteC{3};

TEST(LoadedFrom, HasTheTwoLatestLoads) {
    std::mt19937 random(1);
    for (unsigned round = 0; round < 2000; ++round) {
        LoadedFrom value;
        std::map<std::uint32_t, bool, std::greater<>> expected;  // the latest first; what was added first stays
        for (unsigned i = 0; i < 6; ++i) {
            LoadedFrom more(1 + random() % 8);
            std::map<std::uint32_t, bool, std::greater<>> all{{more.loads()[0].number, false}};
            if (random() % 2 == 0) {
                const auto number = static_cast<std::uint32_t>(1 + random() % 8);
                more.add(LoadedFrom(number), true);
                all.emplace(number, true);
            }
            const bool is_scaled = random() % 2 == 0;
            value.add(more, is_scaled);
            for (const auto& [number, was_scaled] : all) {
                expected.emplace(number, was_scaled || is_scaled);
                if (expected.size() > 2) expected.erase(std::prev(expected.end()));
            }
        }
        std::size_t at = 0;
        for (const auto& [number, is_scaled] : expected) {
            EXPECT_EQ(value.loads()[at].number, number);
            EXPECT_EQ(value.loads()[at].is_scaled, is_scaled ? 1u : 0u);
            EXPECT_TRUE(value.has(number));
            ++at;
        }
        for (; at < 2; ++at) EXPECT_EQ(value.loads()[at].number, 0u);
        EXPECT_FALSE(value.has(9));
    }
}

// Runs blocks of one or a few accesses, each written down as it is executed.
class LoadChainsTest : public ::testing::Test {
protected:
    LoadChainsTest() { chains.start_piece(); }

    struct Step {
        SiteId site;
        Address address;
        std::vector<Source> from;
        bool reads = true;
        std::vector<Source> stored{};
        bool stores = false;
        bool is_slot = false;
    };
    struct Put {
        unsigned number;
        std::vector<Source> value;
    };

    // Returns what was found of the last access.
    LoadChains::Found run(const std::vector<Step>& steps, const std::vector<Put>& puts = {}) {
        chains.enter_block(steps.size());
        LoadChains::Found found{};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step& step = steps[i];
            found = chains.access(i, {step.from, step.stored, step.is_slot, step.stores}, step.site, &memory[step.site],
                                  step.address, 8, step.reads);
        }
        for (const Put& put : puts) chains.put({put.number, put.value});
        chains.leave_block();
        return found;
    }

    static Source reg(unsigned number) { return Source::of_register(number); }
    static Source load(std::size_t access) { return Source::of_access(access); }
    static void expect(const LoadChains::Found& found, Dependence dependence, SiteId on = kNoSite) {
        EXPECT_EQ(found.dependence, dependence);
        EXPECT_EQ(found.on, on);
    }

    LoadChains chains;
    std::map<SiteId, SiteMemory> memory;
    Address at = 0x10000;
    Address next() { return at += 64; }
};

TEST_F(LoadChainsTest, OfTheFirstExecutionNothingIsKnown) {
    expect(run({{kSiteA, 0x1000, {reg(1)}}}), Dependence::kUnknown);
    expect(run({{kSiteA, 0x1008, {reg(1)}}}), Dependence::kArithmetic);
    chains.start_piece();
    expect(run({{kSiteA, 0x1010, {reg(1)}}}), Dependence::kUnknown);
}

TEST_F(LoadChainsTest, AnIndexOrAPointerThatWasLoadedJustNow) {
    for (int i = 0; i < 3; ++i) {
        const LoadChains::Found index =
            run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(2), load(0).scaled()}}}, {{1, {reg(1)}}});
        if (i != 0) expect(index, Dependence::kIndex, kSiteA);
        const LoadChains::Found pointer = run({{kSiteA, next(), {reg(1)}}, {kSiteC, next(), {load(0)}}});
        if (i != 0) expect(pointer, Dependence::kPointer, kSiteA);
    }
}

TEST_F(LoadChainsTest, WhatWasLoadedBeforeTheLatestExecutionIsConstant) {
    run({{kSiteA, 0x1000, {reg(1)}}}, {{2, {load(0)}}});
    run({{kSiteB, 0x2000, {reg(2)}}});
    expect(run({{kSiteB, 0x2008, {reg(2)}}}), Dependence::kArithmetic);
    run({{kSiteA, 0x1008, {reg(1)}}}, {{2, {load(0)}}});
    expect(run({{kSiteB, 0x3000, {reg(2)}}}), Dependence::kPointer, kSiteA);
    expect(run({{kSiteB, 0x3008, {reg(2)}}}), Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AListIsAChainForAllThatReadsItsNodes) {
    LoadChains::Found value{};
    LoadChains::Found link{};
    for (int i = 0; i < 5; ++i) {
        value = run({{kSiteB, next(), {reg(1)}}});
        link = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(link, Dependence::kChain, kSiteA);
    expect(value, Dependence::kChain, kSiteA);
}

TEST_F(LoadChainsTest, TwoInstructionsThatTakeTurnsMakeAChain) {
    LoadChains::Found left{};
    LoadChains::Found right{};
    for (int i = 0; i < 4; ++i) {
        left = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
        right = run({{kSiteB, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(left, Dependence::kChain, kSiteB);
    expect(right, Dependence::kChain, kSiteA);
}

// The links are loaded before what hangs on them is.
TEST_F(LoadChainsTest, ATreeIsAChainAlsoForWhatIsReadLast) {
    LoadChains::Found key{};
    for (int i = 0; i < 6; ++i) {
        const Source taken = i % 2 == 0 ? load(0) : load(1);
        key = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(1)}}, {kSiteC, next(), {reg(1)}}}, {{1, {taken}}});
    }
    EXPECT_EQ(key.dependence, Dependence::kChain);
}

TEST_F(LoadChainsTest, AnIndexThatIsLoadedARoundAheadIsStillOne) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(2).scaled(), reg(3)}}}, {{2, {load(0)}}});
    }
    expect(element, Dependence::kIndex, kSiteA);
}

TEST_F(LoadChainsTest, ThreeLevelsOfPointersAreNone) {
    LoadChains::Found last{};
    for (int i = 0; i < 5; ++i) {
        last = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {load(0)}}, {kSiteC, next(), {load(1)}}});
    }
    expect(last, Dependence::kPointer, kSiteB);
}

TEST_F(LoadChainsTest, WhatIsSpilledToTheStackGoesOn) {
    const Address slot = 0x7000;
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        // The pointer is loaded from the slot, followed, and stored there again.
        run({{kSiteB, slot, {reg(4)}, true, {}, false, true}}, {{1, {load(0)}}});
        link = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
        run({{kSiteC, slot, {reg(4)}, false, {reg(1)}, true, true}});
    }
    expect(link, Dependence::kChain, kSiteA);
}

TEST_F(LoadChainsTest, AnArraysBaseThatIsLoadedAgainAndAgainIsConstant) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kSiteA, 0x2000, {reg(1)}}, {kSiteB, next(), {load(0), reg(2).scaled()}}});
    }
    expect(element, Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AVariableThatIsStoredInBetweenIsNot) {
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        link = run({{kSiteA, 0x2000, {reg(1)}}, {kSiteB, next(), {load(0)}}}, {{2, {load(1)}}});
        run({{kSiteC, 0x2000, {reg(1)}, false, {reg(2)}, true}});
    }
    expect(link, Dependence::kChain, kSiteB);
}

TEST_F(LoadChainsTest, RegistersTakeTheirValuesOfTheBlocksEntry) {
    // They are exchanged.
    run({{kSiteA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kSiteC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    run({{kSiteB, next(), {}}});
    run({{kSiteA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kSiteC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    expect(run({{kSiteB, next(), {reg(1)}}}), Dependence::kPointer, kSiteC);
}

TEST_F(LoadChainsTest, AnAccessThatDidNotHappenLoadsNothing) {
    for (int i = 0; i < 3; ++i) run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {load(0)}}});
    chains.enter_block(2);
    chains.skip(0);
    const std::vector<Source> from{load(0)};
    const LoadChains::Found found =
        chains.access(1, {from, {}, false, false}, kSiteB, &memory[kSiteB], next(), 8, true);
    chains.leave_block();
    expect(found, Dependence::kArithmetic);
}

// A load whose value was used that long ago has been forgotten.
TEST_F(LoadChainsTest, ALoadIsKnownFor8191Accesses) {
    for (const std::uint32_t between : {8190u, 8191u}) {
        chains.start_piece();
        run({{kSiteB, next(), {}}});
        run({{kSiteA, next(), {}}}, {{1, {load(0)}}});
        for (std::uint32_t i = 0; i < between; ++i) run({{kSiteC, next(), {}}});
        const LoadChains::Found found = run({{kSiteB, next(), {reg(1)}}});
        if (between == 8190) {
            expect(found, Dependence::kPointer, kSiteA);
        } else {
            expect(found, Dependence::kArithmetic);
        }
    }
}

// What is stored 8 KiB from another slot takes its place in the table.
TEST_F(LoadChainsTest, OfTwoSlotsThatAre8KibibytesApartTheLaterIsKnown) {
    run({{kSiteB, next(), {}}});
    run({{kSiteA, next(), {}}}, {{1, {load(0)}}});
    run({{kSiteC, 0x7000, {}, false, {reg(1)}, true, true}});
    run({{kSiteC, 0x9000, {}, false, {reg(1)}, true, true}});
    run({{SiteId{4}, 0x7000, {}, true, {}, false, true}}, {{2, {load(0)}}});
    expect(run({{kSiteB, next(), {reg(2)}}}), Dependence::kArithmetic);
    run({{SiteId{4}, 0x9000, {}, true, {}, false, true}}, {{2, {load(0)}}});
    expect(run({{kSiteB, next(), {reg(2)}}}), Dependence::kPointer, kSiteA);
}

TEST_F(LoadChainsTest, OfALongStoreTheFirst64BytesAreKnown) {
    run({{kSiteB, next(), {}}});
    run({{kSiteA, next(), {}}}, {{1, {load(0)}}});
    const std::vector<Source> stored{reg(1)};
    chains.enter_block(1);
    chains.access(0, {{}, stored, true, true}, kSiteC, &memory[kSiteC], 0x7000, 128, false);
    chains.leave_block();
    run({{SiteId{4}, 0x7040, {}, true, {}, false, true}}, {{2, {load(0)}}});
    expect(run({{kSiteB, next(), {reg(2)}}}), Dependence::kArithmetic);
    run({{SiteId{4}, 0x7038, {}, true, {}, false, true}}, {{2, {load(0)}}});
    expect(run({{kSiteB, next(), {reg(2)}}}), Dependence::kPointer, kSiteA);
}

// A series of loads, by one site each, the last of which `last` makes again.
TEST_F(LoadChainsTest, AChainIsSeenIfItsSiteComesBackWithinEightLoads) {
    for (const std::uint32_t loads : {8u, 9u}) {
        chains.start_piece();
        for (std::uint32_t site = 1; site <= loads; ++site) run({{SiteId{site}, next(), {}}});
        for (std::uint32_t site = 1; site <= loads; ++site) {
            run({{SiteId{site}, next(), {reg(1)}}}, {{1, {load(0)}}});
        }
        expect(run({{SiteId{1}, next(), {reg(1)}}}), loads == 8 ? Dependence::kChain : Dependence::kPointer,
               SiteId{loads});
    }
}

// Everything that was ever executed is kept, and asked by rules 32 to 34 of docs/simulation.md.
class NaiveChains {
public:
    using Loads = std::map<std::uint32_t, bool, std::greater<>>;  // whether it is an index; the latest first
    struct Access {
        std::uint32_t site;
        Address address;
        std::uint32_t size;
        bool reads, stores, is_slot;
        std::vector<Source> from, stored;
    };
    struct Execution {
        std::uint32_t site = 0;
        Address address = 0;
        Loads from, value;
        std::uint32_t load = 0;   // that the address depends on
        bool is_in_chain = false;
    };

    void start_piece() {
        registers_ = {};
        latest_of_site_.clear();
        stored_.clear();
    }
    void enter_block() { of_block_.clear(); }

    LoadChains::Found access(const Access& access) {
        const auto number = static_cast<std::uint32_t>(all_.size());
        Execution now{access.site, access.address, evaluate(access.from), {}, 0, false};
        const auto before = latest_of_site_.find(access.site);
        LoadChains::Found found{Dependence::kUnknown, kNoSite};
        if (before != latest_of_site_.end()) found = depend(now, all_[before->second]);
        if (access.reads) {
            const bool is_again = before != latest_of_site_.end() && all_[before->second].address == access.address;
            const auto store = stored_.find(access.address);
            const bool is_stored = store != stored_.end();
            if (is_stored && (access.is_slot || (is_again && store->second.first >= before->second))) {
                now.value = store->second.second;
            } else if (is_again) {
                now.value = all_[before->second].value;
            } else if (!access.is_slot) {
                now.value = {{number, false}};
            }
        }
        of_block_.push_back(now.value);
        if (access.stores) {
            const Loads value = evaluate(access.stored);
            for (Address word = 0; word < access.size / 8; ++word) {
                stored_[access.address + 8 * word] = {number, value};
            }
        }
        latest_of_site_[access.site] = number;
        all_.push_back(now);
        return found;
    }
    void leave_block(const std::vector<std::pair<unsigned, std::vector<Source>>>& puts) {
        std::map<unsigned, Loads> after = registers_;
        for (const auto& [number, value] : puts) after[number] = evaluate(value);
        registers_ = after;
    }

private:
    Loads evaluate(const std::vector<Source>& sources) {
        Loads loads;
        for (const Source source : sources) {
            for (const auto& [number, is_index] :
                 source.is_loaded() ? of_block_[source.index()] : registers_[source.index()]) {
                loads.emplace(number, is_index || source.is_scaled());
            }
        }
        while (loads.size() > 2) loads.erase(std::prev(loads.end()));
        return loads;
    }
    // The loads of the series that ends with this one, the last one first.
    std::vector<std::uint32_t> series(std::uint32_t load) const {
        std::vector<std::uint32_t> all;
        for (; load != 0; load = all_[load].load) all.push_back(load);
        return all;
    }
    bool makes_chain(std::uint32_t load, std::uint32_t site) const {
        std::vector<std::uint32_t> last = series(load);
        if (last.size() > 8) last.resize(8);
        return all_[load].is_in_chain ||
               std::ranges::any_of(last, [&](std::uint32_t one) { return all_[one].site == site; });
    }
    LoadChains::Found depend(Execution& now, const Execution& before) const {
        Loads loads;
        for (const auto& [number, is_index] : now.from) {
            if (!before.from.contains(number)) loads.emplace(number, is_index);
        }
        if (loads.empty()) return {Dependence::kArithmetic, kNoSite};
        auto found = std::ranges::find_if(loads, [&](const auto& one) { return makes_chain(one.first, now.site); });
        now.is_in_chain = found != loads.end();
        if (!now.is_in_chain) found = loads.begin();
        now.load = found->first;
        const Dependence dependence = now.is_in_chain ? Dependence::kChain
                                      : found->second ? Dependence::kIndex
                                                      : Dependence::kPointer;
        return {dependence, SiteId{all_[now.load].site}};
    }

    std::vector<Execution> all_ = std::vector<Execution>(1);  // by number, from 1
    std::map<unsigned, Loads> registers_;
    std::map<std::uint32_t, std::uint32_t> latest_of_site_;
    std::map<Address, std::pair<std::uint32_t, Loads>> stored_;
    std::vector<Loads> of_block_;
};

TEST(LoadChainsRandomTest, RandomBlocksAreAsNaive) {
    struct Code {
        std::vector<NaiveChains::Access> accesses;
        std::vector<std::pair<unsigned, std::vector<Source>>> puts;
    };
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto choose = [&random](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
        const auto sources = [&](std::size_t accesses) {
            std::vector<Source> found;
            for (std::uint32_t count = choose(3); count != 0; --count) {
                const bool is_loaded = accesses != 0 && choose(2) == 0;
                const Source source = is_loaded ? Source::of_access(choose(static_cast<std::uint32_t>(accesses)))
                                                : Source::of_register(choose(4));
                found.push_back(choose(4) == 0 ? source.scaled() : source);
            }
            return found;
        };
        std::vector<Code> blocks(1 + choose(4));
        std::uint32_t site = 0;
        for (Code& block : blocks) {
            for (std::uint32_t i = choose(4); i != 0; --i) {
                const bool stores = choose(3) == 0;
                block.accesses.push_back({++site, 0, 8u << choose(3), !stores || choose(3) == 0, stores, choose(3) == 0,
                                          sources(block.accesses.size()), {}});
                if (stores) block.accesses.back().stored = sources(block.accesses.size() - 1);
            }
            for (std::uint32_t i = choose(3); i != 0; --i) {
                block.puts.emplace_back(choose(4), sources(block.accesses.size()));
            }
        }
        LoadChains chains;
        NaiveChains naive;
        std::map<std::uint32_t, SiteMemory> memory;
        chains.start_piece();
        for (int step = 0; step < 100; ++step) {
            if (choose(40) == 0) {
                chains.start_piece();
                naive.start_piece();
            }
            Code& block = blocks[choose(static_cast<std::uint32_t>(blocks.size()))];
            chains.enter_block(block.accesses.size());
            naive.enter_block();
            for (std::size_t i = 0; i < block.accesses.size(); ++i) {
                NaiveChains::Access& access = block.accesses[i];
                if (choose(2) == 0) access.address = 0x7000 + 8 * choose(6);
                const LoadChains::Found found =
                    chains.access(i, {access.from, access.stored, access.is_slot, access.stores}, SiteId{access.site},
                                  &memory[access.site], access.address, access.size, access.reads);
                const LoadChains::Found expected = naive.access(access);
                ASSERT_EQ(found.dependence, expected.dependence) << step;
                ASSERT_EQ(found.on, expected.on) << step;
            }
            for (const auto& [number, value] : block.puts) chains.put({number, value});
            chains.leave_block();
            naive.leave_block(block.puts);
        }
    }
}

}  // namespace
}  // namespace bd
