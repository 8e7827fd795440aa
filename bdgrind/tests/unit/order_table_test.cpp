// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/order_table.h"

#include <set>

#include <gtest/gtest.h>

#include "program.h"

namespace bd::test {
namespace {

TEST(OrderRow, TheSiteThatMostlyLoadedLeads) {
    OrderRow row;
    const auto lead = [&row](std::uint32_t site) {
        row.depend({Dependence::kIndex, SiteId{site}});
        return row.leads[static_cast<std::size_t>(Dependence::kIndex)];
    };
    EXPECT_EQ(lead(1).site, SiteId{1});
    EXPECT_EQ(lead(1).votes, 2u);
    EXPECT_EQ(lead(2).site, SiteId{1});
    EXPECT_EQ(lead(2).votes, 0u);
    EXPECT_EQ(lead(2).site, SiteId{2});
    EXPECT_EQ(lead(2).votes, 2u);
    EXPECT_EQ(row.depends[static_cast<std::size_t>(Dependence::kIndex)], 6u);
    EXPECT_EQ(row.leads[static_cast<std::size_t>(Dependence::kPointer)].votes, 0u);
}

class OrderTableTest : public ::testing::Test {
protected:
    SiteId site(const Block& block, std::size_t access = 0) { return table.sites(block)[access]; }

    Program program;
    Function& f = program.function("f");
    Function& g = program.function("g");
    OrderTable table;
};

TEST_F(OrderTableTest, AnInstructionIsOneSiteInAllBlocksOfItsFunction) {
    Block& block = program.code(f, 0x1004).op().reads(8).ends();
    Block& longer = program.code(f, 0x1000).op().reads(8).op().reads(8).ends();
    EXPECT_EQ(site(block), site(longer, 1));
    EXPECT_NE(site(longer, 0), site(longer, 1));
}

TEST_F(OrderTableTest, CodeOfAnotherFunctionOrFileAtTheSameAddressHasOtherSites) {
    Block& block = program.code(f, 0x1000).op().reads(8).ends();
    Block& of_another = program.code(g, 0x1000).op().reads(8).ends();
    Block& loaded_elsewhere = program.code(f, 0x1000, 0, 0x100).op().reads(8).ends();
    EXPECT_NE(site(block), site(of_another));
    EXPECT_NE(site(block), site(loaded_elsewhere));
    EXPECT_NE(site(of_another), site(loaded_elsewhere));
}

// These have the same keys: there are four bits for the number of the access, and no more for those of addresses.
TEST_F(OrderTableTest, AccessesWithEqualKeysHaveSitesOfTheirOwn) {
    Code many = program.code(f, 0x1000);
    many.op(1);
    for (int i = 0; i < 18; ++i) many.reads(8);
    Block& has_many = many.ends();
    Block& next = program.code(f, 0x1001).op(1).reads(8).reads(8).ends();
    Block& far = program.code(f, 0x1001 + (Address{1} << 60)).op(1).reads(8).reads(8).ends();
    std::set<SiteId> sites;
    for (Block* const block : {&has_many, &next, &far}) {
        for (const SiteId one : table.sites(*block)) sites.insert(one);
    }
    EXPECT_EQ(sites.size(), 18u + 2u + 2u);
    EXPECT_EQ(table.site(site(has_many, 17)).access, 17u);
    EXPECT_EQ(table.site(site(next, 1)).access, 1u);
}

TEST_F(OrderTableTest, CountsTheAccessesOfABlocksFirstSite) {
    Block& block = program.code(f, 0x1000).op().reads(8).ends();
    Block& other = program.code(f, 0x1004).op().reads(8).ends();
    EXPECT_EQ(table.accesses(block), 0u);
    const SiteId first = site(block);
    EXPECT_EQ(table.accesses(block), 0u);
    EXPECT_EQ(table.accesses(other), 0u);
    table.row({first, kNoLoop, 1, 0});
    table.row({first, LoopId{1}, 2, 0});
    table.row({first, LoopId{2}, 1, 1});  // the same access, as a loop around sees it
    EXPECT_EQ(table.accesses(block), 2u);
    table.clear_counts(1);
    EXPECT_EQ(table.accesses(block), 0u);
}

TEST_F(OrderTableTest, ClearsTheCountsOfAThreadOrAll) {
    Block& block = program.code(f, 0x1000).op().reads(8).ends();
    for (const std::uint32_t cleared : {0u, 1u, 2u}) {
        OrderTable one;
        const SiteId first = one.sites(block)[0];
        one.row({kNoSite, kNoLoop, 1, 0}).accesses = 7;
        for (const std::uint32_t thread : {1u, 2u}) one.row({first, kNoLoop, thread, 0}).accesses = 10 * thread;
        one.clear_counts(cleared);
        for (const std::uint32_t thread : {1u, 2u}) {
            const bool is_kept = cleared != 0 && cleared != thread;
            EXPECT_EQ(one.row({first, kNoLoop, thread, 0}).accesses, is_kept ? 10 * thread : 0u);
        }
        EXPECT_EQ(one.rows()[0].accesses, cleared == 0 ? 0u : 7u);
    }
}

TEST_F(OrderTableTest, Beyond65536RowsAllAreTheFirst) {
    const SiteId first = site(program.code(f, 0x1000).op().reads(8).ends());
    for (std::uint32_t loop = 1; loop < 65536; ++loop) {
        ASSERT_NE(&table.row({first, LoopId{loop}, 1, 0}), &table.rows()[0]);
    }
    EXPECT_EQ(&table.row({first, LoopId{65536}, 1, 0}), &table.rows()[0]);
    EXPECT_EQ(&table.row({kNoSite, LoopId{1}, 1, 0}), &table.rows()[0]);
    EXPECT_EQ(table.rows().size(), 65536u);
    table.row({first, LoopId{65535}, 1, 0}).accesses = 3;
    table.clear_counts(0);
    EXPECT_EQ(table.row({first, LoopId{65535}, 1, 0}).accesses, 0u);
}

TEST_F(OrderTableTest, WhatHasNoSiteHasNoRowOfItsOwn) {
    EXPECT_EQ(&table.row({kNoSite, LoopId{1}, 1, 0}), &table.rows()[0]);
    EXPECT_EQ(table.rows().size(), 1u);
}

TEST_F(OrderTableTest, ThereAreAtMost65535Sites) {
    Address address = 0x1000;
    const auto next = [&] { return site(program.code(f, address += 4).op().reads(8).ends()); };
    for (std::uint32_t number = 1; number < 65536; ++number) ASSERT_NE(next(), kNoSite) << number;
    EXPECT_EQ(next(), kNoSite);
}

}  // namespace
}  // namespace bd::test
