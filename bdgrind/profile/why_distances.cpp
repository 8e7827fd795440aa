// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_distances.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "profile/why_section.h"

namespace bd {
namespace {

// Sorts the rows and writes one for each key, the first so many columns, with the sums of the others.
template <std::size_t kKeys, std::size_t kColumns>
void write_sums(TextOutput& out, std::string_view prefix, std::string_view title,
                std::vector<std::array<std::uint64_t, kColumns>> rows) {
    out << prefix;
    std::ranges::sort(rows);
    std::vector<std::array<std::uint64_t, kColumns>> sums;
    for (const auto& row : rows) {
        if (sums.empty() || !std::equal(row.begin(), row.begin() + kKeys, sums.back().begin())) {
            sums.push_back(row);
        } else {
            for (std::size_t i = kKeys; i < kColumns; ++i) sums.back()[i] += row[i];
        }
    }
    write_section(out, title, sums);
}

}  // namespace

CostId DistanceSections::instruction_of(CostId costs) const {
    return engine_.objects() != nullptr ? engine_.objects()->costs().owner_of(costs).instruction : costs;
}

void DistanceSections::collect(WhyPlaces* places, NameLists* names) const {
    distances_.for_each(
        [&](CostId costs, unsigned, const DistanceCount&) { places->use(instruction_of(costs), names); });
    // They come in the order of where they are in memory, which differs from run to run.
    std::vector<const Context*> functions;
    paths_.for_each([&](const InclusiveKey& key, const DistanceCount&) {
        if (!is_meant(key)) return;
        functions.push_back(key.function);
        if (key.callee != nullptr) functions.push_back(key.callee);
    });
    std::ranges::sort(functions, {}, [](const Context* function) { return function->id(); });
    for (const Context* const function : functions) names->add(*function);
}

// One place may have several costs.
void DistanceSections::write(TextOutput& out, const WhyPlaces& places) const {
    std::vector<std::array<std::uint64_t, 4>> rows;
    distances_.for_each([&](CostId costs, unsigned bucket, const DistanceCount& count) {
        const CostId instruction = instruction_of(costs);
        if (!places.has(instruction)) return;
        rows.push_back({places[instruction], bucket, count.misses, count.ll_misses});
    });
    write_sums<2>(out, prefix_, "distances: place bucket misses llmisses", std::move(rows));
}

void DistanceSections::write_by_object(TextOutput& out, const WhyPlaces& places) const {
    if (engine_.objects() == nullptr) return;
    std::vector<std::array<std::uint64_t, 4>> rows;
    distances_.for_each([&](CostId costs, unsigned bucket, const DistanceCount& count) {
        const ObjectCosts::Owner& owner = engine_.objects()->costs().owner_of(costs);
        if (!places.has(owner.instruction)) return;
        const auto group = static_cast<std::uint32_t>(owner.group);
        rows.push_back({group < groups_.size() ? groups_[group] : 0, bucket, count.misses, count.ll_misses});
    });
    write_sums<2>(out, prefix_, "data: group bucket misses llmisses", std::move(rows));
}

void DistanceSections::write_inclusive(TextOutput& out, const NameLists& names) const {
    if (engine_.context_tree() == nullptr) return;
    std::vector<std::array<std::uint64_t, 5>> rows;
    paths_.for_each([&](const InclusiveKey& key, const DistanceCount& count) {
        if (!is_meant(key)) return;
        rows.push_back({names[*key.function], key.callee != nullptr ? names[*key.callee] : 0, key.bucket, count.misses,
                        count.ll_misses});
    });
    write_sums<3>(out, prefix_, "inclusive: function callee bucket misses llmisses", std::move(rows));
}

}  // namespace bd
