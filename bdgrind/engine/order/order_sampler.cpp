// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/order_sampler.h"

#include <algorithm>

namespace bd {

void OrderSampler::replay(Batch batch, std::uint32_t thread, bool counts) {
    if (chains_.accesses() > LoadChains::kMostAccesses - batch.size() * kMostAccessesPerWord) return;
    if (thread != thread_) is_known_ = false;
    thread_ = thread;
    if (!counts || (at_ >= short_end_ && at_ + batch.size() <= std::min(begin_, probe_))) {
        is_known_ = false;
        pass(batch.size());
        return;
    }
    for (std::size_t words = 0; !batch.empty(); batch = batch.subspan(words)) {
        words = record_words(batch[0]);
        if (at_ < std::min(begin_, probe_) && at_ >= short_end_ && !is_marker(batch[0])) {
            is_known_ = false;
            pass(words);
            continue;
        }
        const Exit& exit = exit_of(batch[0]);
        if (exit.block == nullptr) {
            on_marker(exit, batch.subspan(1));
        } else {
            if (at_ >= probe_ && exit.accesses != 0) probe(*exit.block);
            if (at_ >= begin_ || at_ < short_end_) on_block(exit, batch);
        }
        pass(words);
    }
}

void OrderSampler::pass(std::size_t words) {
    const bool is_short = at_ < std::min(begin_, short_end_);
    at_ += words;
    if (is_short && at_ >= short_end_) is_known_ = false;
    while (at_ >= end_) plan_next();
}

// A block with accesses, at the beginning of a period.
void OrderSampler::probe(const Block& block) {
    probe_ += (at_ - probe_) / sampling_.probe_period * sampling_.probe_period + sampling_.probe_period;
    if (at_ >= begin_ || at_ < short_end_ || (short_words_ + sampling_.short_piece) * sampling_.most_short > at_)
        return;
    if (table_.accesses(block) >= sampling_.few) return;
    short_end_ = at_ + sampling_.short_piece;
    short_words_ += sampling_.short_piece;
    is_known_ = false;
}

void OrderSampler::plan_next() {
    while (period_end_ >= periods_until_) {
        period_ *= 4;
        periods_until_ *= 16;
    }
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    begin_ = period_end_ + random_ % (period_ - sampling_.piece + 1);
    end_ = begin_ + sampling_.piece;
    period_end_ += period_;
    is_known_ = false;
}

void OrderSampler::start_piece() {
    flow_.start_piece();
    chains_.start_piece();
    is_known_ = true;
}

void OrderSampler::on_marker(const Exit& exit, Batch values) {
    switch (static_cast<Marker>(exit.index)) {
        case Marker::kThread:
            if (thread_ != values[0]) is_known_ = false;
            thread_ = static_cast<std::uint32_t>(values[0]);
            break;
        case Marker::kThreadEnd:
        case Marker::kSignalEnter:
        case Marker::kSignalLeave:
        case Marker::kStop:
            is_known_ = false;
            break;
        default:
            break;
    }
}

void OrderSampler::on_block(const Exit& exit, Batch record) {
    if (!is_known_) start_piece();
    const Block& block = *exit.block;
    flow_.enter(block, record[1]);
    const bool has_flow = !block.dataflow().empty();
    DataflowCursor cursor(block.dataflow_);
    const std::span<const SiteId> sites = table_.sites(block);
    const Batch addresses = record.subspan(kHeaderWords);
    chains_.enter_block(exit.accesses);
    std::size_t index = 0;
    for (const Exit& passed : block.exits().first(exit.index + std::size_t{1})) {
        for (; index < passed.accesses; ++index) {
            const Access& access = block.accesses()[index];
            const DataflowCursor::AccessFlow flow = has_flow ? cursor.next_access() : DataflowCursor::AccessFlow{};
            const Word base = addresses[access.group];
            if (access.guarded && base == 0) {
                chains_.skip(index);
                continue;
            }
            const Address address = base + static_cast<Address>(std::int64_t{access.distance});
            on_access(access, address, sites[index],
                      chains_.access(index, flow, sites[index], &table_.memory(sites[index]), address, access.size,
                                     access.kind != AccessKind::kWrite));
        }
        if (!has_flow) continue;
        for (unsigned puts = cursor.next_exit(); puts != 0; --puts) chains_.put(cursor.next_put());
    }
    chains_.leave_block();
    flow_.leave(exit);
}

void OrderSampler::on_access(const Access& access, Address address, SiteId site, const LoadChains::Found& found) {
    ++accesses_;
    const std::uint32_t thread = by_thread_ ? thread_ : 0;
    const std::span<const SampledFlow::OpenLoop> loops = flow_.loops();
    const SampledFlow::OpenLoop innermost =
        loops.empty() ? SampledFlow::OpenLoop{kNoLoop, flow_.piece(), 0} : loops.back();
    OrderRow& row = table_.row({site, innermost.loop, thread, 0});
    ++row.accesses;
    const std::uint64_t last_byte = access.size - std::uint64_t{1};
    if (address % line_bytes_ + last_byte >= line_bytes_) ++row.straddle_line;
    if (address % kPageBytes + last_byte >= kPageBytes) ++row.straddle_page;
    row.depend(found);
    bool is_first = row.steps.add(address, innermost.run, line_bytes_);
    for (std::uint32_t inner = 1; is_first && inner < std::min(loops.size(), kMostLoops); ++inner) {
        const SampledFlow::OpenLoop& outer = loops[loops.size() - 1 - inner];
        OrderRow& outer_row = table_.row({site, outer.loop, thread, inner});
        ++outer_row.accesses;
        is_first = outer_row.steps.add(address, outer.run, line_bytes_);
    }
}

void OrderSampler::clear_counts(std::uint32_t thread) {
    table_.clear_counts(thread);
    accesses_ = 0;
}

}  // namespace bd
