// SPDX-License-Identifier: GPL-2.0-or-later
//
// The scopes that are open on a call stack, and since when: its calls, and the loops in them. docs/simulation.md has
// the rules.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/types.h"
#include "engine/program/block.h"

namespace bd {

// Where code is: the lower half of an address, which orders what belongs to one call.
using CodePosition = std::uint32_t;
constexpr bool is_behind(CodePosition position, CodePosition other) {
    return static_cast<std::int32_t>(position - other) > 0;
}

// A scope by number, see ScopeTracker.
enum class ScopeId : std::uint32_t {};
inline constexpr ScopeId kNoScope{0};

// From the block that was jumped back to up to the last one that has jumped back.
struct OpenLoop {
    const Block* header;
    CodePosition begin;
    CodePosition end;  // where the last block begins
    TouchTime entered;
    ScopeId scope;  // kNoScope: has not been asked for

    bool has(CodePosition position) const { return !is_behind(begin, position) && !is_behind(position, end); }
};

// When control was known to be somewhere, from where it has only gone forward since.
struct CodePoint {
    CodePosition position;
    TouchTime time;
};

// A call, or what a stack has begun with.
struct OpenScope {
    TouchTime entered;
    std::uint32_t first_loop;  // its loops and points are those from here up to the next call's
    std::uint32_t first_point;
    ScopeId scope;  // as above
};

// `calls` has one more than CallStack::calls: first what the stack has begun with.
struct ScopeStack {
    std::vector<OpenScope> calls;
    std::vector<OpenLoop> loops;    // of each call, the outermost first
    std::vector<CodePoint> points;  // of each call, in ascending order of both members

    // The latest call's.
    std::size_t loop_count() const { return loops.size() - calls.back().first_loop; }
    std::size_t point_count() const { return points.size() - calls.back().first_point; }
};

}  // namespace bd
