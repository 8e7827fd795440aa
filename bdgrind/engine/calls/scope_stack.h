// SPDX-License-Identifier: GPL-2.0-or-later
//
// The scopes that are open on a call stack, with the times when they began: its calls, and the loops in them. The rules
// are in docs/simulation.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/types.h"
#include "engine/program/block.h"

namespace bd {

// The position of code: the lower half of its address, which orders the code of one call.
using CodePosition = std::uint32_t;
constexpr bool is_behind(CodePosition position, CodePosition other) {
    return static_cast<std::int32_t>(position - other) > 0;
}

// A scope by number, see ScopeTracker.
enum class ScopeId : std::uint32_t {};
inline constexpr ScopeId kNoScope{0};

// A loop: from the block that was jumped back to (the header) up to the last one that jumped back to it.
struct OpenLoop {
    const Block* header;
    CodePosition begin;
    CodePosition end;  // where the last block begins
    TouchTime entered;
    ScopeId scope;  // kNoScope: not needed yet

    bool has(CodePosition position) const { return !is_behind(begin, position) && !is_behind(position, end); }
};

// A position at which control was seen, and when. Since then, it has only gone forward.
struct CodePoint {
    CodePosition position;
    TouchTime time;
};

// An open call, or the code that the stack began with.
struct OpenScope {
    TouchTime entered;
    std::uint32_t first_loop;  // its loops and points begin here, and end where the next call's begin
    std::uint32_t first_point;
    ScopeId scope;  // as in OpenLoop
};

// `calls` has one element more than CallStack::calls: the first is the code that the stack began with.
struct ScopeStack {
    std::vector<OpenScope> calls;
    std::vector<OpenLoop> loops;    // of each call, the outermost first
    std::vector<CodePoint> points;  // of each call, in ascending order of both members

    // Of the innermost call.
    std::size_t loop_count() const { return loops.size() - calls.back().first_loop; }
    std::size_t point_count() const { return points.size() - calls.back().first_point; }
};

}  // namespace bd
