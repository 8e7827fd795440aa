// SPDX-License-Identifier: GPL-2.0-or-later
//
// The instructions that the sections of a why file name: in its list of places, by their numbers there.

#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/base/types.h"
#include "engine/replay/engine.h"
#include "profile/name_lists.h"

namespace bd {

class WhyPlaces {
public:
    // Those of a thread, if that is not 0, else of all. `engine` is settled and does not replay meanwhile.
    WhyPlaces(const Engine& engine, std::uint32_t thread);

    // Whether the file is about the instruction with these costs.
    bool has(CostId costs) const { return place_of(costs).context != nullptr; }

    // It will be asked for its number. Adds the names that it needs.
    void use(CostId costs, NameLists* names);
    // The same of an instruction that need not have costs; returns what stands for it in number().
    std::uint32_t use(const Context& context, const Block& block, std::size_t instruction, NameLists* names);
    // All that will be asked for have been used.
    void number_all();
    // From 1; 0: none.
    std::uint32_t operator[](CostId costs) const { return place_of(costs).number; }
    std::uint32_t number(std::uint32_t used) const { return places_[used].number; }

    // The list, after number_all().
    void write(TextOutput& out, const NameLists& names) const;

private:
    struct Place {
        const Context* context = nullptr;  // null: not this file's
        const SourceFile* file = nullptr;
        std::uint32_t line = 0;
        std::uint32_t number = 0;  // until number_all(): 1 if it is used
        Address address = 0;       // in the object file
    };
    static Place make(const Context& context, const Block& block, std::size_t instruction);
    void list(std::uint32_t used, NameLists* names);
    const Place& place_of(CostId costs) const { return places_[index_of(costs)]; }

    std::vector<Place> places_;          // by the costs of an instruction; then those without
    std::vector<std::uint32_t> listed_;  // one with each number, from the first on
};

}  // namespace bd
