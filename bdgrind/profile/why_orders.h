// SPDX-License-Identifier: GPL-2.0-or-later
//
// The section of a why file that has the order of addresses, by instruction and loop.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"
#include "profile/why_scopes.h"

namespace bd {

class OrderSection {
public:
    // Of a thread, if that is not 0, else of all.
    OrderSection(const Engine& engine, std::uint32_t thread);

    // Where the order of addresses was not looked at, there is nothing, and nothing is written.
    void collect(WhyPlaces* places, WhyScopes* scopes, NameLists* names);
    // Of how many accesses.
    void write_sample(TextOutput& out) const;
    void write(TextOutput& out, const WhyPlaces& places, const WhyScopes& scopes) const;

private:
    const Context* context_of(const Block& block) const;
    bool is_written(const OrderRow& row) const;
    SiteId loaded_by(const OrderRow& row, Dependence dependence) const;

    const Engine& engine_;
    const std::uint32_t thread_;
    std::vector<const Context*> contexts_;  // by block: one that it has run in
    std::vector<std::uint32_t> used_;       // by site: what stands for its instruction; 0: nothing
};

}  // namespace bd
