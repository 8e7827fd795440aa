// SPDX-License-Identifier: GPL-2.0-or-later
//
// The section of a why file that has D1's data misses by who missed, who had loaded the line before, who had driven it
// out, the scope that carries the reuse, and the cause.

#pragma once

#include <cstdint>
#include <span>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"
#include "profile/why_scopes.h"

namespace bd {

class ReuseSection {
public:
    // Of a thread, if that is not 0. What has forgotten who missed goes to the first one.
    ReuseSection(const Engine& engine, std::uint32_t thread)
        : sums_(engine.why()->reuses.all()), scopes_(engine.scopes()), has_rest_(thread <= 1) {}

    void collect(WhyPlaces* places, WhyScopes* scopes, NameLists* names) const;
    void write(TextOutput& out, const WhyPlaces& places, const WhyScopes& scopes) const;

private:
    bool has(const ReuseKey& key, const WhyPlaces& places) const {
        return key.missed == kNoCost ? has_rest_ : places.has(key.missed);
    }

    const RowTable<ReuseSum>& sums_;
    std::span<const Scope> scopes_;
    bool has_rest_;
};

}  // namespace bd
