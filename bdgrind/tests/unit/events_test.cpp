// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/events.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

std::string names(const EventSet& events) {
    std::string names;
    for (std::size_t i = 0; i < events.width(); ++i) {
        if (events.has(static_cast<Event>(i)))
            names += std::string(names.empty() ? "" : " ") + kEvents[i].name;
    }
    return names;
}

// Viewers and scripts know the columns by their order.
TEST(Events, ColumnsHaveAFixedOrder) {
    EventSet events;
    EXPECT_EQ(names(events), "Ir Dr Dw");
    for (const EventGroup group : {EventGroup::kMisses, EventGroup::kMissesLast, EventGroup::kUse1, EventGroup::kUse2,
                                   EventGroup::kWriteBacks, EventGroup::kBranches, EventGroup::kBus,
                                   EventGroup::kSystemCalls, EventGroup::kSystemCpuTime}) {
        events.enable(group);
    }
    EXPECT_EQ(names(events),
              "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 "
              "AcCostD1 SpLossD1 EvLineD1 UsByteD1 AccessD1 "
              "AcCost2 SpLoss2 EvLine2 UsByte2 Access2 AcCostDL SpLossDL EvLineDL UsByteDL AccessDL "
              "ILdmr DLdmr DLdmw Bc Bcm Bi Bim Ge sysCount sysTime sysCpuTime");
}

TEST(Events, PrefetchesAreTheLastColumns) {
    EventSet events;
    events.enable(EventGroup::kPrefetches);
    EXPECT_EQ(names(events), "Ir Dr Dw IPfUse IPfLoss DPfUse DPfLoss");
    events.enable(EventGroup::kPrefetchesL2);
    EXPECT_EQ(names(events), "Ir Dr Dw IPfUse IPfLoss DPfUse DPfLoss IPfUseL2 IPfLossL2 DPfUseL2 DPfLossL2");
    EXPECT_EQ(events.width(), kEventCount);
}

TEST(Events, PageMissesHaveTwelveColumns) {
    EventSet events;
    events.enable(EventGroup::kTranslations);
    EXPECT_EQ(names(events), "Ir Dr Dw IT1mr DT1mr DT1mw IT2mr DT2mr DT2mw IH1mr DH1mr DH1mw IH2mr DH2mr DH2mw");
}

TEST(Events, AGroupCanBeTakenOut) {
    EventSet events;
    events.enable(EventGroup::kMisses);
    events.enable(EventGroup::kMissesLast);
    events.enable(EventGroup::kBranches);
    events.disable(EventGroup::kMissesLast);
    EXPECT_EQ(names(events), "Ir Dr Dw I1mr D1mr D1mw Bc Bcm Bi Bim");
}

TEST(Events, WidthReachesToTheLastEnabledEvent) {
    EventSet events;
    events.enable(EventGroup::kUse1);
    EXPECT_EQ(events.width(), column(Event::kAccessD1) + 1);
    EXPECT_FALSE(events.has(Event::kD1mr));
    EXPECT_EQ(names(events), "Ir Dr Dw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 AcCostD1 SpLossD1 EvLineD1 UsByteD1 "
              "AccessD1");
}

// They go to readers that split at spaces and colons, and viewers have these names built in.
TEST(Events, NamesAreUniqueWordsAndThoseThatViewersKnowAreCallgrinds) {
    const std::set<std::string> viewers{"Ir",   "Dr",   "Dw",   "I1mr", "D1mr", "D1mw", "L1m",
                                        "ILmr", "DLmr", "DLmw", "LLm",  "Bi",   "Bim",  "Bc",
                                        "Bcm",  "Bm",   "Ge",   "Sys",  "User", "CEst"};
    std::set<std::string> seen;
    for (const EventInfo& event : kEvents) {
        const std::string name = event.name;
        EXPECT_TRUE(seen.insert(name).second) << name;
        EXPECT_EQ(name.find_first_of(" :\n"), std::string::npos) << name;
        EXPECT_EQ(event.known_to_viewers(), viewers.contains(name)) << name;
        EXPECT_EQ(std::string(event.description).find('\n'), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace bd
