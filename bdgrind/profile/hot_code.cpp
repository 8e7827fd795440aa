// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/hot_code.h"

#include <algorithm>
#include <vector>

namespace bd {
namespace {

// A report lists lines from a hundredth of the total on, and a line has several instructions.
constexpr std::uint64_t kNotable = 1000;

// An instruction may be part of several blocks: where one of them has this part of what is notable, all are added up.
constexpr std::uint64_t kBlocks = 4;

}  // namespace

HotCode::HotCode(const Profile& profile) : profile_(profile) {
    limit(Event::kIr, Event::kIr);
    limit(Event::kD1mr, Event::kD1mw);
    limit(Event::kDLmr, Event::kDLmw);
    limit(Event::kSpLossD1, Event::kSpLossD1);
}

void HotCode::limit(Event first, Event second) {
    if (!profile_.events().has(first)) return;
    const ConstCosts totals = profile_.totals();
    const std::uint64_t total = totals[column(first)] + (first == second ? 0 : totals[column(second)]);
    if (total != 0) limits_[limit_count_++] = {column(first), column(second), total / kNotable + 1};
}

bool HotCode::reaches(ConstCosts costs, std::uint64_t parts) const {
    return std::any_of(limits_.begin(), limits_.begin() + static_cast<std::ptrdiff_t>(limit_count_),
                       [&](const Limit& limit) {
                           const std::uint64_t one = costs[limit.first];
                           const std::uint64_t other = limit.first == limit.second ? 0 : costs[limit.second];
                           return (one + other) * parts >= limit.least;
                       });
}

bool HotCode::collect(std::size_t index, FunctionProfile* function) const {
    if (!profile_.any_costs(index, [this](ConstCosts costs) { return reaches(costs, kBlocks); })) return false;
    profile_.collect(index, {.lines = true, .instructions = true}, function);
    std::erase_if(function->rows, [&](const CostRow& row) { return !is_hot(function->costs(row)); });
    std::erase_if(function->calls, [&](const CallRow& row) { return !is_hot(function->costs(row)); });
    function->jumps.clear();
    return !function->rows.empty() || !function->calls.empty();
}

}  // namespace bd
