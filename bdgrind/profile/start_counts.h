// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the start of a sampled run has counted, by function and position: a part of what the engine counts later.

#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "profile/profile.h"

namespace bd {

class StartCounts {
public:
    // `engine` is settled. Profiles have these positions, and a few instructions have all.
    StartCounts(const Engine& engine, PositionKinds kinds);

    ConstCosts totals() const { return totals_; }

    // Of a function that is collected with these positions: null if the start has not come by.
    const FunctionProfile* function(const Context& context, PositionKinds kinds) const;

    // Of the same place as a row: null if there are none.
    static const CostRow* find(const FunctionProfile& function, const CostRow& row);
    static const CallRow* find(const FunctionProfile& function, const CallRow& row);
    static const JumpRow* find(const FunctionProfile& function, const JumpRow& row);

private:
    using Functions = boost::unordered_flat_map<const Context*, FunctionProfile>;

    static Functions collect(const Profile& profile, PositionKinds kinds);

    PositionKinds kinds_;
    std::vector<std::uint64_t> totals_;
    Functions functions_;
    Functions instructions_;  // with all positions
};

}  // namespace bd
