// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_orders.h"

#include <algorithm>
#include <array>

#include "profile/why_section.h"

namespace bd {
namespace {

// Which holds for most accesses, the same from loads that are worse where it is even.
Dependence main_dependence(const OrderRow& row) {
    auto most = Dependence::kUnknown;
    for (const Dependence other :
         {Dependence::kArithmetic, Dependence::kIndex, Dependence::kPointer, Dependence::kChain}) {
        const std::uint32_t times = row.depends[static_cast<std::size_t>(other)];
        if (times != 0 && (most == Dependence::kUnknown || times >= row.depends[static_cast<std::size_t>(most)])) {
            most = other;
        }
    }
    return most;
}

}  // namespace

OrderSection::OrderSection(const Engine& engine, std::uint32_t thread) : engine_(engine), thread_(thread) {
    for (const BlockCost* cost : engine.blocks().all()) {
        if (thread != 0 && cost->context->thread() != thread) continue;
        const std::uint32_t block = cost->block->id;
        if (contexts_.size() <= block) contexts_.resize(block + std::size_t{1});
        if (contexts_[block] == nullptr) contexts_[block] = cost->context;
    }
}

const Context* OrderSection::context_of(const Block& block) const {
    return block.id < contexts_.size() ? contexts_[block.id] : nullptr;
}

bool OrderSection::is_written(const OrderRow& row) const {
    if (row.accesses == 0 || (thread_ != 0 && row.thread != thread_)) return false;
    return row.site == kNoSite || context_of(*engine_.orders()->table().site(row.site).block) != nullptr;
}

void OrderSection::collect(WhyPlaces* places, WhyScopes* scopes, NameLists* names) {
    if (engine_.orders() == nullptr) return;
    const OrderSampler& orders = *engine_.orders();
    const auto use = [&](SiteId site) {
        if (site == kNoSite) return;
        if (used_.size() <= index_of(site)) used_.resize(index_of(site) + std::size_t{1});
        const OrderSite& where = orders.table().site(site);
        const Context* const context = context_of(*where.block);
        if (used_[index_of(site)] != 0 || context == nullptr) return;
        used_[index_of(site)] = places->use(*context, *where.block, where.instruction, names);
    };
    for (const OrderRow& row : orders.table().rows()) {
        if (!is_written(row)) continue;
        use(row.site);
        use(loaded_by(row, main_dependence(row)));
        if (row.loop == kNoLoop) continue;
        const Block& header = orders.header(row.loop);
        if (const Context* const context = context_of(header)) scopes->use({&header, context}, names);
    }
}

SiteId OrderSection::loaded_by(const OrderRow& row, Dependence dependence) const {
    return row.leads[static_cast<std::size_t>(dependence)].site;
}

void OrderSection::write_sample(TextOutput& out) const {
    if (engine_.orders() == nullptr) return;
    std::uint64_t accesses = 0;
    for (const std::uint32_t thread : engine_.threads()) {
        const std::vector<std::uint64_t> totals = engine_.totals(thread);
        accesses += totals[column(Event::kDr)] + totals[column(Event::kDw)];
    }
    out << "order-sample: " << engine_.orders()->accesses() << ' ' << accesses << '\n';
}

void OrderSection::write(TextOutput& out, const WhyPlaces& places, const WhyScopes& scopes) const {
    if (engine_.orders() == nullptr) return;
    using Row = std::array<std::uint64_t, 22>;
    std::vector<Row> rows;
    const auto place_of = [&](SiteId site) -> std::uint64_t {
        const bool is_used = index_of(site) < used_.size() && used_[index_of(site)] != 0;
        return is_used ? places.number(used_[index_of(site)]) : 0;
    };
    const auto scope_of = [&](LoopId loop) -> std::uint64_t {
        if (loop == kNoLoop) return 0;
        const Block& header = engine_.orders()->header(loop);
        const Context* const context = context_of(header);
        return context == nullptr ? 0 : scopes[{&header, context}];
    };
    for (const OrderRow& row : engine_.orders()->table().rows()) {
        if (!is_written(row)) continue;
        if (row.site == kNoSite) {  // what there was no room for
            rows.push_back({0, 0, 0, 0, row.accesses});
            continue;
        }
        const std::uint64_t access = engine_.orders()->table().site(row.site).access;
        const StepCounts& steps = row.steps.counts();
        Row written{place_of(row.site), scope_of(row.loop), row.inner,  access,     row.accesses,
                    row.straddle_line,  row.straddle_page,  steps.same, steps.near, steps.forward,
                    steps.backward,     steps.far,          steps.runs};
        std::size_t column = 13;
        for (std::size_t i = 0; i < 3; ++i) {
            const FrequentSteps::Step& step = steps.frequent.kept()[i];
            written[column++] = static_cast<std::uint64_t>(step.bytes);
            written[column++] = step.at_least();
        }
        if (row.inner == 0) {
            const Dependence dependence = main_dependence(row);
            written[column++] = static_cast<std::uint64_t>(dependence);
            written[column++] = place_of(loaded_by(row, dependence));
            written[column++] = row.depends[static_cast<std::size_t>(dependence)];
        }
        rows.push_back(written);
    }
    std::ranges::sort(rows);
    write_section(
        out,
        "orders: place scope inner access accesses straddle-line straddle-page same near forward backward far "
        "runs stride1 times1 stride2 times2 stride3 times3 depends on weight",
        rows);
}

}  // namespace bd
