// SPDX-License-Identifier: GPL-2.0-or-later
//
// The small types that the whole engine speaks in. No behaviour, no dependencies.

#pragma once

#include <cstdint>

namespace bd {

// An address of the guest program.
using Address = std::uint64_t;

// One word of the trace buffer. It has 64 bits on every host, so that there is one form of trace.
using Word = std::uint64_t;

// An address divided by the line size. The whole of it is the tag, so that no two lines ever alias.
enum class LineNumber : std::uint64_t {};
inline constexpr LineNumber kNoLine{~std::uint64_t{0}};

// The bytes of a data object; none of them if `bytes` is 0.
struct ObjectRange {
    Address begin = 0;
    std::uint64_t bytes = 0;

    bool operator==(const ObjectRange&) const = default;
};

// When data was touched: later touches have greater times (touch_clock.h); 0 is before all touches.
using TouchTime = std::uint32_t;

// A calling instruction together with a called context; see arcs.h.
enum class ArcId : std::uint32_t {};
inline constexpr ArcId kNoArc{0};

// A jump within a function; see jumps.h.
enum class JumpId : std::uint32_t {};
inline constexpr JumpId kNoJump{0};

// A node of the back-dating tree; see backdating_tree.h.
enum class NodeId : std::uint32_t {};
inline constexpr NodeId kNoNode{0};

// A node of the calling context tree; see context_tree.h.
enum class ContextNodeId : std::uint32_t {};
inline constexpr ContextNodeId kNoContextNode{0};

// A vector of event counts in a CostPool; see costs.h.
enum class CostId : std::uint32_t {};
inline constexpr CostId kNoCost{0};

// What loads a line: the fetch of an instruction, or an access to data.
enum class Reference : std::uint32_t { kFetch, kData };

// What is charged with the cost of a cached line: nothing, if it was loaded while costs were not collected. The caches
// keep one for each line, so it is small: CostPool makes no more vectors than it has room for.
struct ChargeTarget {
    static constexpr unsigned kCostBits = 31;

    constexpr ChargeTarget() : ChargeTarget(kNoNode, kNoCost) {}
    constexpr ChargeTarget(NodeId charged_node, CostId charged_costs)
        : node(charged_node), costs(charged_costs), loaded_by(Reference::kFetch) {}

    NodeId node;
    CostId costs : kCostBits;
    Reference loaded_by : 1;
};
static_assert(sizeof(ChargeTarget) == 8);

template <class Id>
constexpr std::uint32_t index_of(Id id) {
    return static_cast<std::uint32_t>(id);
}

}  // namespace bd
