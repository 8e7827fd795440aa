// SPDX-License-Identifier: GPL-2.0-or-later
//
// The section of a why file that has D1's data misses by instruction and LRU stack distance.

#pragma once

#include "engine/base/text_output.h"
#include "engine/why/distances.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"

namespace bd {

class DistanceSection {
public:
    explicit DistanceSection(const Distances& distances) : distances_(distances) {}

    void collect(WhyPlaces* places, NameLists* names) const;
    void write(TextOutput& out, const WhyPlaces& places) const;

private:
    const Distances& distances_;
};

}  // namespace bd
