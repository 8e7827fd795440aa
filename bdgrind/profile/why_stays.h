// SPDX-License-Identifier: GPL-2.0-or-later
//
// The section of a why file that has the bytes of lines in D1 that were used too late or never, by who had loaded the
// line, and whose memory it is.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"

namespace bd {

class StaySection {
public:
    // `groups`: by GroupId, what they are numbered as in the file of objects; empty, if there is none.
    StaySection(const StaySample& stays, std::vector<std::uint32_t> groups)
        : sums_(stays.sums()), groups_(std::move(groups)) {}

    void collect(WhyPlaces* places, NameLists* names) const;
    void write(TextOutput& out, const WhyPlaces& places) const;

private:
    std::vector<StaySum> sums_;
    std::vector<std::uint32_t> groups_;
};

}  // namespace bd
