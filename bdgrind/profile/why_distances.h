// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sections of a why file that have D1's data misses, or hits, by LRU stack distance: by instruction; by group of
// data objects, if there are any; and by function, inclusively, if there is a calling context tree.

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"

namespace bd {

class DistanceSections {
public:
    // `groups`: the numbers of data objects' groups in the file beside, by GroupId; 0: not there. Of a thread, if that
    // is not 0.
    // `prefix`: of the sections' names.
    DistanceSections(const Engine& engine, const Distances& distances, const PathDistances& paths,
                     std::string_view prefix, std::vector<std::uint32_t> groups, std::uint32_t thread)
        : engine_(engine),
          distances_(distances),
          paths_(paths),
          prefix_(prefix),
          groups_(std::move(groups)),
          thread_(thread) {}

    void collect(WhyPlaces* places, NameLists* names) const;
    void write(TextOutput& out, const WhyPlaces& places) const;
    void write_by_object(TextOutput& out, const WhyPlaces& places) const;
    void write_inclusive(TextOutput& out, const NameLists& names) const;

private:
    CostId instruction_of(CostId costs) const;
    bool is_meant(const InclusiveKey& key) const { return thread_ == 0 || key.function->thread() == thread_; }

    const Engine& engine_;
    const Distances& distances_;
    const PathDistances& paths_;
    std::string_view prefix_;
    std::vector<std::uint32_t> groups_;
    std::uint32_t thread_;
};

}  // namespace bd
