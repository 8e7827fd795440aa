// SPDX-License-Identifier: GPL-2.0-or-later
//
// The small types that the whole engine speaks in. No behaviour, no dependencies.

#pragma once

#include <cstdint>

namespace bd {

// An address of the guest program.
using Address = std::uint64_t;

// One word of the trace buffer: as wide as a guest register, so that generated code stores it whole.
using Word = std::uintptr_t;

// An address divided by the line size. The whole of it is the tag, so that no two lines ever alias.
enum class LineNumber : std::uint64_t {};
inline constexpr LineNumber kNoLine{~std::uint64_t{0}};

// A calling instruction together with a called context; see arcs.h.
enum class ArcId : std::uint32_t {};
inline constexpr ArcId kNoArc{0};

// A jump within a function; see jumps.h.
enum class JumpId : std::uint32_t {};
inline constexpr JumpId kNoJump{0};

// A node of the back-dating tree; see backdating_tree.h.
enum class NodeId : std::uint32_t {};
inline constexpr NodeId kNoNode{0};

// A vector of event counts in a CostPool; see costs.h.
enum class CostId : std::uint32_t {};
inline constexpr CostId kNoCost{0};

template <class Id>
constexpr std::uint32_t index_of(Id id) {
    return static_cast<std::uint32_t>(id);
}

}  // namespace bd
