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

TEST(Events, WhatAlwaysHappensIsAlwaysCounted) {
    const EventSet events;
    EXPECT_EQ(names(events), "Ir Dr Dw");
    EXPECT_EQ(events.width(), kRunningEvents);
}

TEST(Events, GroupsAreSwitchedOnAsAWhole) {
    EventSet events;
    events.enable(EventGroup::kMisses);
    EXPECT_EQ(names(events), "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw");
    events.enable(EventGroup::kUse1);
    events.enable(EventGroup::kUse2);
    EXPECT_EQ(names(events),
              "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 "
              "AcCost2 SpLoss2 EvLine2 UsByte2 Access2");
    events.enable(EventGroup::kWriteBacks);
    EXPECT_TRUE(names(events).ends_with(" Access2 ILdmr DLdmr DLdmw")) << names(events);
    events.enable(EventGroup::kBranches);
    EXPECT_TRUE(names(events).ends_with(" DLdmw Bc Bcm Bi Bim")) << names(events);
    events.enable(EventGroup::kBus);
    EXPECT_TRUE(names(events).ends_with(" Bim Ge")) << names(events);
    events.enable(EventGroup::kSystemCalls);
    EXPECT_TRUE(names(events).ends_with(" Ge sysCount sysTime")) << names(events);
    events.enable(EventGroup::kSystemCpuTime);
    EXPECT_TRUE(names(events).ends_with(" sysCount sysTime sysCpuTime")) << names(events);
    EXPECT_EQ(events.width(), kEventCount);
}

TEST(Events, WidthReachesToTheLastEnabledEvent) {
    EventSet events;
    events.enable(EventGroup::kUse1);
    EXPECT_EQ(events.width(), column(Event::kAccess1) + 1);
    EXPECT_FALSE(events.has(Event::kD1mr));
    EXPECT_EQ(names(events), "Ir Dr Dw AcCost1 SpLoss1 EvLine1 UsByte1 Access1");
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
