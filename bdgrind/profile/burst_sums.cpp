// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/burst_sums.h"

#include <algorithm>
#include <bit>

namespace bd {
namespace {

// The square root of what is not negative. (The compiler's own asks the C library about errno.)
double root(double square) {
    if (square <= 0) return 0;
    // Half the exponent is a good beginning.
    double value = std::bit_cast<double>((std::bit_cast<std::uint64_t>(square) >> 1) + (std::uint64_t{0x1ff8} << 48));
    for (int i = 0; i < 5; ++i) value = (value + square / value) / 2;
    return value;
}

}  // namespace

std::uint32_t BurstSums::row(const Key& key) {
    const auto [at, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) {
        rows_.push_back({key.kind, key.context, key.file, key.line});
        counted_.resize(rows_.size() * width_);
        before_.resize(counted_.size());
        squares_.resize(counted_.size());
        products_.resize(counted_.size());
    }
    return at->second;
}

void BurstSums::note_rows(const Engine& engine) {
    const std::span<BlockCost* const> blocks = engine.blocks().all();
    for (std::size_t i = block_rows_.size(); i < blocks.size(); ++i) {
        const Context* const context = blocks[i]->context;
        block_rows_.push_back({row({Row::Kind::kSelf, context, nullptr, 0}),
                               row({Row::Kind::kInclusive, context, nullptr, 0}), line_rows_.size()});
        for (const Instruction& instruction : blocks[i]->block->instructions()) {
            line_rows_.push_back(row({Row::Kind::kLine, context, instruction.file, instruction.line}));
        }
    }
    const ArcTable& arcs = engine.arcs();
    for (auto i = static_cast<std::uint32_t>(arc_rows_.size()); i < arcs.size(); ++i) {
        arc_rows_.push_back(row({Row::Kind::kInclusive, arcs[ArcId{i + 1}].site.from->context, nullptr, 0}));
    }
}

// All bursts so far.
void BurstSums::count(const Engine& engine) {
    std::ranges::fill(counted_, 0);
    const std::span<BlockCost* const> blocks = engine.blocks().all();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const BlockCost& cost = *blocks[i];
        const Block& block = *cost.block;
        const std::uint32_t* const lines = &line_rows_[block_rows_[i].first_line];
        std::uint64_t* const self = counted(block_rows_[i].self);
        for (const Exit& exit : block.exits()) {
            const std::uint64_t taken = cost.exits[exit.index].taken;
            if (taken == 0) continue;
            self[column(Event::kIr)] += taken * exit.instructions;
            self[column(Event::kDr)] += taken * exit.reads;
            self[column(Event::kDw)] += taken * exit.writes;
            for (std::size_t k = 0; k < exit.instructions; ++k) counted(lines[k])[column(Event::kIr)] += taken;
            for (const Access& access : block.accesses().first(exit.accesses)) {
                if (access.kind == AccessKind::kBus) continue;
                const Event event = is_write(access.kind) ? Event::kDw : Event::kDr;
                counted(lines[access.instruction])[column(event)] += taken;
            }
        }
        for (std::size_t k = 0; k < block.instruction_count; ++k) {
            if (cost.instructions[k] == kNoCost) continue;
            const ConstCosts costs = engine.costs()[cost.instructions[k]];
            bd::add(Costs(self, width_), costs);
            bd::add(Costs(counted(lines[k]), width_), costs);
        }
    }
    for (std::uint32_t i = 0; i < arc_rows_.size(); ++i) {
        bd::add(Costs(counted(arc_rows_[i]), width_), engine.arcs().costs(ArcId{i + 1}));
    }
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].kind != Row::Kind::kSelf) continue;
        const ConstCosts self(counted(i), width_);
        bd::add(Costs(counted(row({Row::Kind::kInclusive, rows_[i].context, nullptr, 0})), width_), self);
        bd::add(Costs(counted(0), width_), self);
    }
}

void BurstSums::add(const Engine& engine, std::uint64_t blocks) {
    if (blocks == 0) return;
    note_rows(engine);
    count(engine);
    ++bursts_;
    blocks_ += blocks;
    const auto n = static_cast<double>(blocks);
    squared_blocks_ += n * n;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        bool any = false;
        for (std::size_t at = i * width_; at < (i + 1) * width_; ++at) {
            // What is given back makes a count smaller.
            const auto c = static_cast<double>(static_cast<std::int64_t>(counted_[at] - before_[at]));
            if (c == 0) continue;
            any = true;
            squares_[at] += c * c;
            products_[at] += c * n;
        }
        if (any) ++rows_[i].bursts;
    }
    before_ = counted_;
}

double BurstSums::error(std::size_t index, std::size_t event, std::uint64_t all_blocks) const {
    if (bursts_ < 2) return 0;
    const std::size_t at = index * width_ + event;
    const auto n = static_cast<double>(blocks_);
    const double ratio = static_cast<double>(static_cast<std::int64_t>(before_[at])) / n;
    const double deviations = squares_[at] - 2 * ratio * products_[at] + ratio * ratio * squared_blocks_;
    const double bursts = bursts_;
    const double missed = 1 - std::min(1.0, n / static_cast<double>(all_blocks));
    const double variance = bursts * std::max(deviations, 0.0) / (bursts - 1) * missed;
    return scale(all_blocks) * root(variance);
}

}  // namespace bd
