// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks up the pages of a chunk of the trace before it is replayed, and charges what misses a TLB when the replay has
// come there: to the instruction, the calls that are open, the data and the path.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/check.h"
#include "engine/cache/page_lookups.h"
#include "engine/replay/engine_state.h"

namespace bd {

class PageCosts {
public:
    explicit PageCosts(EngineState& state) : state_(state), lookups_(state.config.private_caches()) {}

    // The chunk, of a core with TLBs of its own, must stay as it is until its end.
    void start_chunk(Batch words, std::uint32_t core) {
        BD_CHECK(next_ == last_);
        std::unique_ptr<PageLookups>& lookups = lookups_[core];
        if (lookups == nullptr) lookups = std::make_unique<PageLookups>(state_.config.tlbs);
        const std::vector<PageMiss>& misses = lookups->run(words);
        next_ = misses.data();
        last_ = next_ + misses.size();
        begin_ = words.data();
    }
    // The TLBs are emptied.
    void flush() {
        for (const std::unique_ptr<PageLookups>& lookups : lookups_) {
            if (lookups != nullptr) lookups->clear();
        }
    }

    // The index of the first word of the record that has the next miss; that of a word behind all records if there is
    // none.
    std::uint32_t next_missing_record() const { return next_ == last_ ? kBehindAll : next_->record; }

    // Charges the misses of the block that has run to `exit`, if this record has any.
    [[gnu::noinline]] void charge_misses(const TracedExit& exit, const Word* record) {
        for (; next_ != last_ && begin_ + next_->record == record; ++next_) {
            if (state_.current->collecting) charge(exit, record, *next_);
        }
    }

private:
    static constexpr std::uint32_t kBehindAll = ~std::uint32_t{0};
    static_assert(column(Event::kDT1mw) == column(Event::kIT1mr) + 2 &&
                  column(Event::kIT2mr) == column(Event::kIT1mr) + 3 &&
                  column(Event::kIH1mr) == column(Event::kIT1mr) + 6 &&
                  column(Event::kDH2mw) == column(Event::kIT1mr) + 11);

    void charge(const TracedExit& exit, const Word* record, const PageMiss& miss) {
        Execution& execution = *state_.current;
        const Access* const access = miss.is_fetch ? nullptr : &exit.block->accesses_[miss.index];
        const std::size_t instruction = miss.is_fetch ? miss.index : access->instruction;
        const std::size_t first = column(miss.is_fetch            ? Event::kIT1mr
                                         : is_write(access->kind) ? Event::kDT1mw
                                                                  : Event::kDT1mr);
        ChargeTarget target = state_.charge_target(execution, *exit.cost, instruction);
        const CostId charged = target.costs;
        if (state_.objects != nullptr) {
            target.costs = miss.is_fetch ? code_cell(charged, execution, *exit.block->function->object)
                                         : data_cell(charged, execution, miss.address, record[1]);
        }
        const auto add = [missed = miss.missed, first](Costs costs, std::uint64_t times) {
            for (std::size_t level = 0; level < 4; ++level) {
                if ((missed >> level & 1) != 0) costs[first + 3 * level] += times;
            }
        };
        state_.ledger.charge(target, add);
        if (state_.core_costs.counts()) add(state_.core_costs.of(execution.core), 1);
        if (state_.flow != nullptr) state_.charge_flow(execution, charged, add);
    }

    CostId code_cell(CostId charged, const Execution& execution, const ObjectFile& own) {
        const CallSite& site = execution.charged_site;
        return state_.objects->code_cell(charged, site ? *site.from->block->function->object : own, own);
    }
    CostId data_cell(CostId charged, Execution& execution, Address address, Address stack_pointer) {
        Objects& objects = *state_.objects;
        return objects.cell(charged, objects.look_at(address, stack_pointer, execution, state_.threads));
    }

    EngineState& state_;
    std::vector<std::unique_ptr<PageLookups>> lookups_;  // by core; null: nothing has run there
    const Word* begin_ = nullptr;                        // of the chunk
    const PageMiss* next_ = nullptr;
    const PageMiss* last_ = nullptr;
};

}  // namespace bd
