// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/start_counts.h"

#include <algorithm>
#include <tuple>

namespace bd {
namespace {

constexpr PositionKinds kAll{.lines = true, .instructions = true};

bool is_same(const Position& a, const Position& b) {
    return std::tie(a.file, a.line, a.address) == std::tie(b.file, b.line, b.address);
}

// The first row at that place or behind it, and those after it at the same place: the one that is the same in all else.
template <class Row, class Same>
const Row* find_row(const std::vector<Row>& rows, const Row& row, Same is_same_otherwise) {
    auto at = std::ranges::lower_bound(
        rows, row.position, [](const Position& a, const Position& b) { return by_position(a, b) < 0; }, &Row::position);
    for (; at != rows.end() && by_position(at->position, row.position) == 0; ++at) {
        if (is_same(at->position, row.position) && is_same_otherwise(*at)) return &*at;
    }
    return nullptr;
}

}  // namespace

StartCounts::StartCounts(const Engine& engine, PositionKinds kinds) : kinds_(kinds) {
    const Profile profile(engine, kinds);
    totals_.assign(profile.totals().begin(), profile.totals().end());
    functions_ = collect(profile, kinds);
    instructions_ = collect(profile, kAll);
}

StartCounts::Functions StartCounts::collect(const Profile& profile, PositionKinds kinds) {
    Functions functions;
    FunctionProfile function;
    for (std::size_t i = 0; i < profile.function_count(); ++i) {
        profile.collect(i, kinds, &function);
        functions.emplace(function.context, function);
    }
    return functions;
}

const FunctionProfile* StartCounts::function(const Context& context, PositionKinds kinds) const {
    const bool is_own = kinds.lines == kinds_.lines && kinds.instructions == kinds_.instructions;
    const Functions& functions = is_own ? functions_ : instructions_;
    const auto found = functions.find(&context);
    return found == functions.end() ? nullptr : &found->second;
}

const CostRow* StartCounts::find(const FunctionProfile& function, const CostRow& row) {
    return find_row(function.rows, row, [](const CostRow&) { return true; });
}

const CallRow* StartCounts::find(const FunctionProfile& function, const CallRow& row) {
    return find_row(function.calls, row, [&](const CallRow& other) {
        return other.callee == row.callee && is_same(other.target, row.target);
    });
}

const JumpRow* StartCounts::find(const FunctionProfile& function, const JumpRow& row) {
    return find_row(function.jumps, row, [&](const JumpRow& other) {
        return other.conditional == row.conditional && is_same(other.target, row.target);
    });
}

}  // namespace bd
