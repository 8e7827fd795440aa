// SPDX-License-Identifier: GPL-2.0-or-later
//
// The order of contexts by their names, worked out once and kept as numbers. A profile is sorted by it again and again,
// and names lie far apart in memory: 100,000 functions, each called a few times, spent a quarter of their run there.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/costs/contexts.h"

namespace bd {

class NameOrder {
public:
    // Of these contexts; one may be given more than once.
    explicit NameOrder(const std::vector<const Context*>& contexts);

    // By object, file and name of the function, level of recursion, and callers. Dense, from 0.
    std::uint32_t rank(const Context& context) const { return ranks_[context.id()]; }

    // In this order, each once.
    std::span<const Context* const> contexts() const { return contexts_; }

private:
    std::vector<const Context*> contexts_;
    std::vector<std::uint32_t> ranks_;  // by Context::id
};

}  // namespace bd
