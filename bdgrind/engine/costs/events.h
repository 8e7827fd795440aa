// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one table of events: what bdgrind counts, in the order of the columns of its output. Every cost vector has
// one 64-bit count per event up to the last enabled one, so an Event is also an index.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bd {

// An option switches a group as a whole.
enum class EventGroup : std::uint8_t {
    kAlways,
    kMisses,
    kUse1,
    kUse2,
    kWriteBacks,
    kBranches,
    kBus,
    kSystemCalls,
    kSystemCpuTime,
    kCauses,
    kSharing,
    kCopies,
    kMissesL2,
    kUseL2,
    kCausesL2,
    kMissesLast,
    kTranslations,
    kPrefetches,
    kPrefetchesL2
};

// Who knows an event's name: viewers (and Callgrind); Callgrind; only bdgrind.
enum class EventName : std::uint8_t { kViewers, kCallgrind, kBdgrind };

// name, group, which other programs know the name, long name.
// The names that viewers know are Callgrind's; so are those of the cost events. The three plain counts behind
// each pair of costs exist because viewers cannot divide: they let a reader form any ratio. What data has of each of
// the five stands behind them; code has the rest.
#define BD_EVENTS(X)                                                                     \
    X(Ir, kAlways, kViewers, "Instructions executed")                                    \
    X(Dr, kAlways, kViewers, "Data reads")                                               \
    X(Dw, kAlways, kViewers, "Data writes")                                              \
    X(I1mr, kMisses, kViewers, "L1 instruction fetch misses")                            \
    X(D1mr, kMisses, kViewers, "L1 data read misses")                                    \
    X(D1mw, kMisses, kViewers, "L1 data write misses")                                   \
    X(ILmr, kMissesLast, kViewers, "LL instruction fetch misses")                        \
    X(DLmr, kMissesLast, kViewers, "LL data read misses")                                \
    X(DLmw, kMissesLast, kViewers, "LL data write misses")                               \
    X(AcCost1, kUse1, kCallgrind, "L1 cost of rare use (sum of 1000 / accesses)")        \
    X(SpLoss1, kUse1, kCallgrind, "L1 bytes loaded but never used")                      \
    X(EvLine1, kUse1, kBdgrind, "L1 lines evicted")                                      \
    X(UsByte1, kUse1, kBdgrind, "L1 bytes used of evicted lines")                        \
    X(Access1, kUse1, kBdgrind, "L1 accesses to evicted lines")                          \
    X(AcCostD1, kUse1, kBdgrind, "L1 data cost of rare use (sum of 1000 / accesses)")    \
    X(SpLossD1, kUse1, kBdgrind, "L1 data bytes loaded but never used")                  \
    X(EvLineD1, kUse1, kBdgrind, "L1 data lines evicted")                                \
    X(UsByteD1, kUse1, kBdgrind, "L1 data bytes used of evicted lines")                  \
    X(AccessD1, kUse1, kBdgrind, "L1 data accesses to evicted lines")                    \
    X(AcCost2, kUse2, kCallgrind, "LL cost of rare use (sum of 1000 / accesses)")        \
    X(SpLoss2, kUse2, kCallgrind, "LL bytes loaded but never used")                      \
    X(EvLine2, kUse2, kBdgrind, "LL lines evicted")                                      \
    X(UsByte2, kUse2, kBdgrind, "LL bytes used of evicted lines")                        \
    X(Access2, kUse2, kBdgrind, "LL accesses to evicted lines")                          \
    X(AcCostDL, kUse2, kBdgrind, "LL data cost of rare use (sum of 1000 / accesses)")    \
    X(SpLossDL, kUse2, kBdgrind, "LL data bytes loaded but never used")                  \
    X(EvLineDL, kUse2, kBdgrind, "LL data lines evicted")                                \
    X(UsByteDL, kUse2, kBdgrind, "LL data bytes used of evicted lines")                  \
    X(AccessDL, kUse2, kBdgrind, "LL data accesses to evicted lines")                    \
    X(ILdmr, kWriteBacks, kCallgrind, "LL instruction fetch misses with a write-back")   \
    X(DLdmr, kWriteBacks, kCallgrind, "LL data read misses with a write-back")           \
    X(DLdmw, kWriteBacks, kCallgrind, "LL data write misses with a write-back")          \
    X(Bc, kBranches, kViewers, "Conditional branches executed")                          \
    X(Bcm, kBranches, kViewers, "Conditional branches mispredicted")                     \
    X(Bi, kBranches, kViewers, "Indirect branches executed")                             \
    X(Bim, kBranches, kViewers, "Indirect branches mispredicted")                        \
    X(Ge, kBus, kViewers, "Global bus events")                                           \
    X(sysCount, kSystemCalls, kCallgrind, "System calls")                                \
    X(sysTime, kSystemCalls, kCallgrind, "Time in system calls")                         \
    X(sysCpuTime, kSystemCpuTime, kCallgrind, "Processor time of system calls")          \
    X(I1first, kCauses, kBdgrind, "L1 instruction fetch misses, first touch")            \
    X(I1conf, kCauses, kBdgrind, "L1 instruction fetch misses, conflict")                \
    X(D1first, kCauses, kBdgrind, "L1 data misses, first touch")                         \
    X(D1conf, kCauses, kBdgrind, "L1 data misses, conflict")                             \
    X(ILfirst, kCauses, kBdgrind, "LL instruction fetch misses, first touch")            \
    X(ILconf, kCauses, kBdgrind, "LL instruction fetch misses, conflict")                \
    X(DLfirst, kCauses, kBdgrind, "LL data misses, first touch")                         \
    X(DLconf, kCauses, kBdgrind, "LL data misses, conflict")                             \
    X(Xferr, kSharing, kBdgrind, "Lines read that another core had modified")            \
    X(Xferw, kSharing, kBdgrind, "Lines written that another core had modified")         \
    X(Lost, kSharing, kBdgrind, "Accesses to lines lost to a write of another core")     \
    X(Inval, kSharing, kBdgrind, "Copies in other cores that writes invalidated")        \
    X(D1copy, kCopies, kBdgrind, "L1 data misses of lines that another core's D1 had")   \
    X(I2mr, kMissesL2, kBdgrind, "L2 instruction fetch misses")                          \
    X(D2mr, kMissesL2, kBdgrind, "L2 data read misses")                                  \
    X(D2mw, kMissesL2, kBdgrind, "L2 data write misses")                                 \
    X(AcCostL2, kUseL2, kBdgrind, "L2 cost of rare use (sum of 1000 / accesses)")        \
    X(SpLossL2, kUseL2, kBdgrind, "L2 bytes loaded but never used")                      \
    X(EvLineL2, kUseL2, kBdgrind, "L2 lines evicted")                                    \
    X(UsByteL2, kUseL2, kBdgrind, "L2 bytes used of evicted lines")                      \
    X(AccessL2, kUseL2, kBdgrind, "L2 accesses to evicted lines")                        \
    X(AcCostD2, kUseL2, kBdgrind, "L2 data cost of rare use (sum of 1000 / accesses)")   \
    X(SpLossD2, kUseL2, kBdgrind, "L2 data bytes loaded but never used")                 \
    X(EvLineD2, kUseL2, kBdgrind, "L2 data lines evicted")                               \
    X(UsByteD2, kUseL2, kBdgrind, "L2 data bytes used of evicted lines")                 \
    X(AccessD2, kUseL2, kBdgrind, "L2 data accesses to evicted lines")                   \
    X(I2first, kCausesL2, kBdgrind, "L2 instruction fetch misses, first touch")          \
    X(I2conf, kCausesL2, kBdgrind, "L2 instruction fetch misses, conflict")              \
    X(D2first, kCausesL2, kBdgrind, "L2 data misses, first touch")                       \
    X(D2conf, kCausesL2, kBdgrind, "L2 data misses, conflict")                           \
    X(IT1mr, kTranslations, kBdgrind, "L1 TLB instruction fetch misses")                 \
    X(DT1mr, kTranslations, kBdgrind, "L1 TLB data read misses")                         \
    X(DT1mw, kTranslations, kBdgrind, "L1 TLB data write misses")                        \
    X(IT2mr, kTranslations, kBdgrind, "L2 TLB instruction fetch misses")                 \
    X(DT2mr, kTranslations, kBdgrind, "L2 TLB data read misses")                         \
    X(DT2mw, kTranslations, kBdgrind, "L2 TLB data write misses")                        \
    X(IH1mr, kTranslations, kBdgrind, "L1 TLB instruction fetch misses with huge pages") \
    X(DH1mr, kTranslations, kBdgrind, "L1 TLB data read misses with huge pages")         \
    X(DH1mw, kTranslations, kBdgrind, "L1 TLB data write misses with huge pages")        \
    X(IH2mr, kTranslations, kBdgrind, "L2 TLB instruction fetch misses with huge pages") \
    X(DH2mr, kTranslations, kBdgrind, "L2 TLB data read misses with huge pages")         \
    X(DH2mw, kTranslations, kBdgrind, "L2 TLB data write misses with huge pages")        \
    X(IPfUse, kPrefetches, kBdgrind, "LL lines of code prefetched and used later")       \
    X(IPfLoss, kPrefetches, kBdgrind, "LL lines of code prefetched and never used")      \
    X(DPfUse, kPrefetches, kBdgrind, "LL lines of data prefetched and used later")       \
    X(DPfLoss, kPrefetches, kBdgrind, "LL lines of data prefetched and never used")      \
    X(IPfUseL2, kPrefetchesL2, kBdgrind, "L2 lines of code prefetched and used later")   \
    X(IPfLossL2, kPrefetchesL2, kBdgrind, "L2 lines of code prefetched and never used")  \
    X(DPfUseL2, kPrefetchesL2, kBdgrind, "L2 lines of data prefetched and used later")   \
    X(DPfLossL2, kPrefetchesL2, kBdgrind, "L2 lines of data prefetched and never used")

// What a reader can form of others: name, formula as KCachegrind reads it, group, long name.
struct DerivedEvent {
    const char* name;
    const char* formula;
    EventGroup group;
    const char* description;
};

inline constexpr DerivedEvent kDerivedEvents[]{
    {"SpLossI1", "SpLoss1 - SpLossD1", EventGroup::kUse1, "L1 code bytes loaded but never used"},
    {"SpLossIL", "SpLoss2 - SpLossDL", EventGroup::kUse2, "LL code bytes loaded but never used"},
    {"I1cap", "I1mr - I1first - I1conf", EventGroup::kCauses, "L1 instruction fetch misses, capacity"},
    {"D1cap", "D1mr + D1mw - D1first - D1conf", EventGroup::kCauses, "L1 data misses, capacity"},
    {"ILcap", "ILmr - ILfirst - ILconf", EventGroup::kCauses, "LL instruction fetch misses, capacity"},
    {"DLcap", "DLmr + DLmw - DLfirst - DLconf", EventGroup::kCauses, "LL data misses, capacity"},
    {"Xfer", "Xferr + Xferw", EventGroup::kSharing, "Lines got from a core that had modified them"},
    {"SpLossI2", "SpLossL2 - SpLossD2", EventGroup::kUseL2, "L2 code bytes loaded but never used"},
    {"I2cap", "I2mr - I2first - I2conf", EventGroup::kCausesL2, "L2 instruction fetch misses, capacity"},
    {"D2cap", "D2mr + D2mw - D2first - D2conf", EventGroup::kCausesL2, "L2 data misses, capacity"},
    {"T2m", "IT2mr + DT2mr + DT2mw", EventGroup::kTranslations, "Page walks"},
    {"H2m", "IH2mr + DH2mr + DH2mw", EventGroup::kTranslations, "Page walks with huge pages"},
    {"PfUse", "IPfUse + DPfUse", EventGroup::kPrefetches, "LL lines prefetched and used later"},
    {"PfLoss", "IPfLoss + DPfLoss", EventGroup::kPrefetches, "LL lines prefetched and never used"},
    {"PfUseL2", "IPfUseL2 + DPfUseL2", EventGroup::kPrefetchesL2, "L2 lines prefetched and used later"},
    {"PfLossL2", "IPfLossL2 + DPfLossL2", EventGroup::kPrefetchesL2, "L2 lines prefetched and never used"},
};

enum class Event : std::uint8_t {
#define BD_EVENT_ENUMERATOR(name, group, known, description) k##name,
    BD_EVENTS(BD_EVENT_ENUMERATOR)
#undef BD_EVENT_ENUMERATOR
        kCount
};

inline constexpr std::size_t kEventCount = static_cast<std::size_t>(Event::kCount);

struct EventInfo {
    const char* name;
    EventGroup group;
    EventName known;
    const char* description;  // the long name

    // Else the output explains it in an `event:` line.
    constexpr bool known_to_viewers() const { return known == EventName::kViewers; }
};

inline constexpr std::array<EventInfo, kEventCount> kEvents{{
#define BD_EVENT_INFO(name, group, known, description) {#name, EventGroup::group, EventName::known, description},
    BD_EVENTS(BD_EVENT_INFO)
#undef BD_EVENT_INFO
}};

constexpr std::size_t column(Event event) {
    return static_cast<std::size_t>(event);
}

// How many of an execution's events are counted by running totals (Ir, Dr, Dw): they happen in every block. All
// others are charged to a tree node when they happen.
inline constexpr std::size_t kRunningEvents = column(Event::kDw) + 1;

// Which events this run counts.
class EventSet {
public:
    constexpr void enable(EventGroup group) { groups_ |= bit(group); }
    constexpr void disable(EventGroup group) { groups_ &= ~bit(group); }

    constexpr bool has(EventGroup group) const { return (groups_ & bit(group)) != 0; }
    constexpr bool has(Event event) const { return has(kEvents[column(event)].group); }

    // The length of a cost vector: one past the last enabled event.
    constexpr std::size_t width() const {
        std::size_t width = kEventCount;
        while (!has(static_cast<Event>(width - 1))) --width;
        return width;
    }

private:
    static constexpr std::uint32_t bit(EventGroup group) { return 1u << static_cast<unsigned>(group); }

    std::uint32_t groups_ = bit(EventGroup::kAlways);
};

}  // namespace bd
