// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_places.h"

#include <algorithm>
#include <tuple>

namespace bd {

WhyPlaces::WhyPlaces(const Engine& engine, std::uint32_t thread) : places_(engine.costs().size() + std::size_t{1}) {
    for (const BlockCost* cost : engine.blocks().all()) {
        if (thread != 0 && cost->context->thread() != thread) continue;
        const Block& block = *cost->block;
        for (std::size_t i = 0; i < block.instruction_count; ++i) {
            if (cost->instructions[i] == kNoCost) continue;
            places_[index_of(cost->instructions[i])] = make(*cost->context, block, i);
        }
    }
}

WhyPlaces::Place WhyPlaces::make(const Context& context, const Block& block, std::size_t instruction) {
    const Instruction& what = block.instructions()[instruction];
    return {.context = &context,
            .file = what.file,
            .line = what.line,
            .address = block.instruction_address(instruction) - block.load_bias};
}

void WhyPlaces::use(CostId costs, NameLists* names) {
    const Place& place = place_of(costs);
    if (place.number == 0 && place.context != nullptr) list(index_of(costs), names);
}

std::uint32_t WhyPlaces::use(const Context& context, const Block& block, std::size_t instruction, NameLists* names) {
    const auto used = static_cast<std::uint32_t>(places_.size());
    places_.push_back(make(context, block, instruction));
    list(used, names);
    return used;
}

void WhyPlaces::list(std::uint32_t used, NameLists* names) {
    Place& place = places_[used];
    place.number = 1;
    listed_.push_back(used);
    names->add(*place.context);
    names->add(*place.file);
}

// Blocks that overlap have costs of their own for the same instruction.
void WhyPlaces::number_all() {
    const auto key = [this](std::uint32_t costs) {
        const Place& place = places_[costs];
        return std::tuple(place.context->id(), place.address, place.file->id, place.line);
    };
    std::ranges::sort(listed_, {}, key);
    std::vector<std::uint32_t> firsts;
    for (const std::uint32_t costs : listed_) {
        if (firsts.empty() || key(firsts.back()) != key(costs)) firsts.push_back(costs);
        places_[costs].number = static_cast<std::uint32_t>(firsts.size());
    }
    listed_ = std::move(firsts);
}

void WhyPlaces::write(TextOutput& out, const NameLists& names) const {
    out << "places: " << listed_.size() << '\n';
    for (const std::uint32_t costs : listed_) {
        const Place& place = places_[costs];
        out << names[*place.context] << ' ' << names[*place.file] << ' ' << place.line << ' ' << place.address << '\n';
    }
}

}  // namespace bd
