// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/burst_sums.h"

#include <algorithm>
#include <bit>
#include <iterator>

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

// What the program has done unobserved for as long as a burst may cost more than all bursts did: so many times as much.
constexpr double kUnseen = 2;

// The 97.5 % quantile of Student's t.
double quantile(double freedom) {
    constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                     2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
    const auto whole = static_cast<std::size_t>(std::max(freedom, 1.0));
    return whole <= std::size(kQuantiles) ? kQuantiles[whole - 1] : 1.96 + 2.5 / freedom;
}

}  // namespace

std::uint32_t BurstSums::row(const Key& key) {
    const auto [at, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) {
        rows_.push_back({key.kind, key.context, key.file, key.line});
        counted_.resize(rows_.size() * width_);
        before_.resize(counted_.size());
        last_.resize(counted_.size());
        fourths_.resize(counted_.size());
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

void BurstSums::add(const Engine& engine, const RunLength& length) {
    if (length.blocks == 0) return;
    note_rows(engine);
    count(engine);
    const double more_blocks = static_cast<double>(length.blocks) - static_cast<double>(last_length_.blocks);
    const double more_instructions =
        static_cast<double>(length.instructions) - static_cast<double>(last_length_.instructions);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        bool any = false;
        for (std::size_t at = i * width_; at < (i + 1) * width_; ++at) {
            // What is given back makes a count smaller.
            const auto c = static_cast<double>(static_cast<std::int64_t>(counted_[at] - before_[at]));
            if (c == 0 && last_[at] == 0) continue;
            any = any || c != 0;
            if (bursts_ != 0) {
                const double more = c - last_[at];
                const double longer = goes_by_instructions(at % width_) ? more_instructions : more_blocks;
                squares_[at] += more * more;
                products_[at] += more * longer;
                const double deviation = more - ratio(at) * longer;
                fourths_[at] += deviation * deviation * deviation * deviation;
            }
            last_[at] = c;
            if (i == 0) most_[at] = std::max(most_[at], c);
        }
        if (any) ++rows_[i].bursts;
    }
    if (bursts_ != 0) {
        squared_blocks_ += more_blocks * more_blocks;
        squared_instructions_ += more_instructions * more_instructions;
    }
    last_length_ = length;
    ++bursts_;
    length_ = length_ + length;
    before_ = counted_;
}

void BurstSums::add_start(const Engine& engine, const RunLength& length) {
    note_rows(engine);
    count(engine);
    start_length_ = length;
    start_ = before_ = counted_;
    for (std::size_t event = 0; event < width_; ++event) {
        most_[event] = static_cast<double>(static_cast<std::int64_t>(counted_[event]));
    }
}

double BurstSums::ratio(std::size_t at) const {
    const std::uint64_t count = before_[at] - (at < start_.size() ? start_[at] : 0);
    return static_cast<double>(static_cast<std::int64_t>(count)) / amount(length_, at % width_);
}

double BurstSums::scale(std::size_t event, const RunLength& all) const {
    const double counted = amount(length_, event);
    return counted == 0 ? 0 : amount(all - start_length_, event) / counted;
}

BurstSums::Spread BurstSums::spread(std::size_t index, std::size_t event, const RunLength& whole) const {
    if (bursts_ < 2) return {};
    const std::size_t at = index * width_ + event;
    const double per_unit = ratio(at);
    const double squared_lengths = goes_by_instructions(event) ? squared_instructions_ : squared_blocks_;
    const double deviations = squares_[at] - 2 * per_unit * products_[at] + per_unit * per_unit * squared_lengths;
    const double bursts = bursts_;
    const double all = amount(whole - start_length_, event);
    const double missed = 1 - std::min(1.0, amount(length_, event) / all);
    const double factor = scale(event, whole);
    Spread spread;
    spread.value = per_unit * all;
    spread.error = factor * root(bursts * std::max(deviations, 0.0) / (2 * (bursts - 1)) * missed);
    // That of a mean square of differences is 2 (n - 1)^2 / (3 n - 4), if all n bursts vary alike (von Neumann, The
    // Annals of Mathematical Statistics 12, 1941). Where a few make up most of it, it is fewer (Satterthwaite,
    // Biometrics Bulletin 2, 1946); the fourth power of a normal deviation is 3 times its square's square.
    spread.freedom = 2 * (bursts - 1) * (bursts - 1) / (3 * bursts - 4);
    if (fourths_[at] > 0) spread.freedom = std::min(spread.freedom, 2 * deviations * deviations / fourths_[at]);
    return spread;
}

double BurstSums::half_width(std::size_t index, std::size_t event, const RunLength& all) const {
    if (bursts_ < 2 || blocks() >= all.blocks) return 0;
    const Spread of = spread(index, event, all);
    const double width = quantile(of.freedom) * of.error;
    const double part = of.value > 0 ? width / of.value : 0;
    // The beginning of the series of e^part - 1.
    return width * (1 + part / 2 + part * part / 6) + kUnseen * most_[event];
}

}  // namespace bd
