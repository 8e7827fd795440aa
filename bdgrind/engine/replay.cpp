// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay loop: half of all the time is spent here. run() and what it inlines do not allocate and call nobody on
// hits; whatever is rare is out of line.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/branch_watch.h"
#include "engine/engine.h"
#include "engine/hierarchy.h"
#include "engine/uncredited_fetches.h"

namespace bd {
namespace {

// Where nothing but caches is asked for, without extras.
struct NoWatch {
    explicit NoWatch(EngineState&) {}
};
template <class Watch>
constexpr bool kWatches = !std::is_same_v<Watch, NoWatch>;

// Runs the trace through the caches and charges what happens there to the instruction that runs and to the calls
// that are open. `Watch`: BranchWatch, and the caches may have extras, or NoWatch.
template <bool kCommon, bool kUse, class Watch>
class CacheReplay final : public Replay {
public:
    explicit CacheReplay(EngineState& state)
        : state_(state),
          caches_(state.config.caches, *this,
                  {.write_back = state.config.write_back, .prefetch = state.config.prefetch}),
          watch_(state),
          fetches_(caches_.fetch_places()) {}

    std::size_t run(Batch batch) override;
    void flush() override { caches_.flush(); }
    void disown() override { caches_.disown(); }

    // The caches' sink.

    Owner load() {
        state_.live_nodes_at_loads += state_.tree.stats().live;
        ++state_.loads;
        if (!state_.current->collecting) return {};
        const NodeId node = state_.calls.active_node(*state_.current);
        state_.tree.acquire(node);
        return {node, cost_of_instruction()};
    }

    void evict(Level level, const Owner& owner, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes) {
        if (owner.node == kNoNode) return;
        // A line that was never touched (only a prefetch does that) is as bad as one touched once.
        const std::uint64_t rarity = accesses > 1000 ? 0 : 1000u / std::max(static_cast<unsigned>(accesses), 1u);
        const std::size_t first = column(level == Level::kFirst ? Event::kAcCost1 : Event::kAcCost2);
        for (const Costs costs : {state_.costs[owner.costs], state_.tree.costs(owner.node)}) {
            std::uint64_t* counts = &costs[first];
            counts[0] += rarity;
            counts[1] += line_bytes - used_bytes;
            counts[2] += 1;
            counts[3] += used_bytes;
            counts[4] += accesses;
        }
        state_.tree.release(owner.node);
    }

    void disown(Owner* owner) {
        if (owner->node != kNoNode) state_.tree.release(owner->node);
        *owner = {};
    }

    void settle_fetches(std::uint32_t place) {
        fetches_.settle(place, crediting());
        // Data accesses run ahead of the fetches of their block.
        if (in_order_) return;
        for (; credited_ <= instruction_; ++credited_) credit(credited_);
    }
    void forget_fetches(std::uint32_t place) { fetches_.forget(place, crediting()); }

private:
    static_assert(column(Event::kSpLoss1) == column(Event::kAcCost1) + 1 &&
                  column(Event::kEvLine1) == column(Event::kAcCost1) + 2 &&
                  column(Event::kUsByte1) == column(Event::kAcCost1) + 3 &&
                  column(Event::kAccess1) == column(Event::kAcCost1) + 4 &&
                  column(Event::kAccess2) == column(Event::kAcCost2) + 4);
    static_assert(column(Event::kDLmw) == column(Event::kILmr) + 2 &&
                  column(Event::kDLdmw) == column(Event::kILdmr) + 2);

    // Whether it makes lines dirty, and that matters.
    bool is_write_back(const Access& access) const { return state_.config.write_back && is_write(access.kind); }

    void simulate(const Exit& exit, const Word* addresses);
    void simulate_in_order(const Exit& exit, const Word* addresses);
    void data_slowly(const Exit& exit, std::size_t index, const Word* address);
    void expect_misses(const Exit& exit, const Word* word) const;
    void charge(Outcome outcome, Event first_miss, Event last_miss);
    bool find_fetches(const Exit& exit);
    void credit(std::size_t instruction);
    auto crediting() {
        return [this](const Fetch& fetch, std::uint64_t times) {
            if constexpr (kUse) {
                caches_.credit_fetch(fetch.place, fetch.first_byte, fetch.size, times * fetch.count);
            }
        };
    }

    CostId cost_of_instruction() {
        return state_.current->payer ? state_.blocks.caller(state_.current->payer)
                                     : state_.blocks.instruction(*cost_, instruction_);
    }

    EngineState& state_;
    Hierarchy<kCommon, kUse, CacheReplay, kWatches<Watch>> caches_;
    [[no_unique_address]] Watch watch_;

    // Where the replay is.
    const Word* batch_end_ = nullptr;
    const Block* block_ = nullptr;
    BlockCost* cost_ = nullptr;
    std::size_t instruction_ = 0;

    UncreditedFetches fetches_;
    bool in_order_ = false;
    std::size_t credited_ = 0;  // so many instructions of the block that runs have got their credit ahead of the others
};

// The same without caches.
template <class Watch>
class PlainReplay final : public Replay {
public:
    explicit PlainReplay(EngineState& state) : state_(state), watch_(state) {}

    std::size_t run(Batch batch) override;
    void flush() override {}
    void disown() override {}

private:
    void see_guarded(const Exit& exit, BlockCost& cost, const Word* addresses);

    EngineState& state_;
    [[no_unique_address]] Watch watch_;
};

[[gnu::noinline]] bool enter_block_slowly(EngineState& state, const Block& block, Address stack_pointer) {
    return state.calls.enter(*state.current, block, stack_pointer) || state.enter_elsewhere(block, stack_pointer);
}

// Follows calls and counts the block that is left by `exit`; returns its costs. Null: there are requests before it.
[[gnu::always_inline]] inline BlockCost* enter_block(EngineState& state, const Exit& exit, Address stack_pointer) {
    const Block& block = *exit.block;
    BD_CHECK(state.current != nullptr);
    if (__builtin_expect(!CallTracker::continues(*state.current, exit, stack_pointer), 0) &&
        !enter_block_slowly(state, block, stack_pointer)) {
        return nullptr;
    }
    ++state.blocks_run;
    Execution& execution = *state.current;
    BlockCost& cost = state.blocks.get(block, *execution.context);
    execution.last = &cost;
    execution.last_exit = &exit;
    if (__builtin_expect(execution.collecting, 1)) {
        execution.running[0] += exit.instructions;
        execution.running[1] += exit.reads;
        execution.running[2] += exit.writes;
        if (__builtin_expect(execution.payer.from == nullptr, 1)) {
            ++cost.exits[exit.index].taken;
        } else {
            const Costs paid = state.costs[state.blocks.caller(execution.payer)];
            paid[0] += exit.instructions;
            paid[1] += exit.reads;
            paid[2] += exit.writes;
        }
    }
    return &cost;
}

// An access without an address: its guard was false but it has been counted with its exit, which is taken back; or it
// is none.
void see_no_access(EngineState& state, CostId cost, const Access& access) {
    if (!state.current->collecting) return;
    if (access.kind == AccessKind::kBus) {
        if (!state.events.has(Event::kGe)) return;  // a trace may have more than is asked for
        ++state.costs[cost][column(Event::kGe)];
        ++state.tree.costs(state.calls.active_node(*state.current))[column(Event::kGe)];
        return;
    }
    const std::size_t event = column(is_write(access.kind) ? Event::kDw : Event::kDr);
    --state.costs[cost][event];
    --state.current->running[event];
}

template <bool kCommon, bool kUse, class Watch>
std::size_t CacheReplay<kCommon, kUse, Watch>::run(Batch batch) {
    const Word* at = batch.data();
    const Word* const end = batch_end_ = at + batch.size();
    while (at < end) {
        const Exit& exit = exit_of(at[0]);
        if (__builtin_expect(exit.block == nullptr, 0)) {
            state_.mark(static_cast<Marker>(exit.index), at + 1);
            at += kMarkerWords;
            if (!state_.calls.requests().empty()) break;
            continue;
        }
        if constexpr (kWatches<Watch>) watch_.before(*exit.block);
        cost_ = enter_block(state_, exit, at[1]);
        if (__builtin_expect(cost_ == nullptr, 0)) break;
        block_ = exit.block;
        simulate(exit, at + kHeaderWords);
        if constexpr (kWatches<Watch>) watch_.after(exit);
        at += kHeaderWords + exit.words;
    }
    return static_cast<std::size_t>(at - batch.data());
}

// Instructions and data meet in the LL only. So as long as all fetches hit I1, the accesses may go first.
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::simulate(const Exit& exit, const Word* addresses) {
    if (__builtin_expect(exit.all_listed, 1)) {
        const Fetch* const fetches = block_->fetches_;
        for (std::size_t i = 0; i < exit.fetches; ++i) caches_.use_fetched(fetches[i].place);
    } else if (!find_fetches(exit)) {
        simulate_in_order(exit, addresses);
        return;
    }
    const Access* const accesses = block_->accesses_;
    for (std::size_t i = 0; i < exit.accesses; ++i) {
        if constexpr (kWatches<Watch>) {
            if (is_write_back(accesses[i])) {
                data_slowly(exit, i, addresses + i);
                continue;
            }
        }
        if (__builtin_expect(!caches_.data_hit(addresses[i], accesses[i].size), 0)) data_slowly(exit, i, addresses + i);
    }
    if constexpr (kUse) {
        if (__builtin_expect(credited_ == 0, 1)) {
            ++exit.uncredited;
        } else {
            for (; credited_ < exit.instructions; ++credited_) credit(credited_);
            credited_ = 0;
        }
    }
}

// Uses the lines of all instructions up to the exit. False if one is absent from I1.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] bool CacheReplay<kCommon, kUse, Watch>::find_fetches(const Exit& exit) {
    const auto fetches = block_->fetches().first(exit.fetches);
    for (const Fetch& fetch : fetches) {
        if (fetch.place == Fetch::kNowhere) {
            const std::uint32_t place = caches_.fetch_place(fetch.line);
            if (place == caches_.kAbsent) return false;
            fetches_.list(*block_, fetch, place);
        }
    }
    for (const Fetch& fetch : fetches) caches_.use_fetched(fetch.place);
    exit.all_listed = true;
    return true;
}

// Instruction by instruction: its fetch, then its accesses.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::simulate_in_order(const Exit& exit, const Word* addresses) {
    in_order_ = true;
    std::size_t access = 0;
    for (std::size_t i = 0; i < exit.instructions; ++i) {
        instruction_ = i;
        const Outcome outcome = caches_.fetch(block_->instruction_address(i), block_->instructions_[i].size);
        charge(outcome, Event::kI1mr, Event::kILmr);
        for (; access < exit.accesses && block_->accesses_[access].instruction == i; ++access) {
            data_slowly(exit, access, addresses + access);
        }
    }
    in_order_ = false;
}

template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::data_slowly(const Exit& exit, std::size_t index,
                                                                  const Word* word) {
    const Access& access = block_->accesses_[index];
    const Address address = *word;
    instruction_ = access.instruction;
    if (address == 0 && access.guarded) {
        see_no_access(state_, cost_of_instruction(), access);
        return;
    }
    Outcome outcome;
    if constexpr (kWatches<Watch>) {
        outcome = is_write_back(access) ? caches_.write(address, access.size) : caches_.data(address, access.size);
    } else {
        outcome = caches_.data(address, access.size);
    }
    if (outcome == Outcome::kHit) return;
    expect_misses(exit, word);
    if (is_write(access.kind)) {
        charge(outcome, Event::kD1mw, Event::kDLmw);
    } else {
        charge(outcome, Event::kD1mr, Event::kDLmr);
    }
}

// A loop that misses here will miss again: looks at the same access some iterations ahead, in the trace, as if only
// this block came. The caches simulated are larger than the host's, and waiting for their tags was half of all time in
// loops over large arrays.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::expect_misses(const Exit& exit,
                                                                                    const Word* word) const {
    const std::size_t iteration = kHeaderWords + exit.words;
    const Word* const later = word + 16 * iteration;
    if (later < batch_end_) caches_.expect_misses(word[8 * iteration], *later);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::charge(Outcome outcome, Event first_miss, Event last_miss) {
    if (outcome == Outcome::kHit || !state_.current->collecting) return;
    for (const Costs costs : {state_.costs[cost_of_instruction()],
                              state_.tree.costs(state_.calls.active_node(*state_.current))}) {
        ++costs[column(first_miss)];
        if (outcome >= Outcome::kLastMiss) ++costs[column(last_miss)];
        if constexpr (kWatches<Watch>) {
            const std::size_t dirty_miss = column(Event::kILdmr) + column(last_miss) - column(Event::kILmr);
            if (outcome == Outcome::kDirtyMiss) ++costs[dirty_miss];
        }
    }
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::credit(std::size_t instruction) {
    caches_.credit_fetched(block_->instruction_address(instruction), block_->instructions_[instruction].size);
}

// The trace has the addresses of all accesses, or of the guarded ones only.
template <class Watch>
void PlainReplay<Watch>::see_guarded(const Exit& exit, BlockCost& cost, const Word* addresses) {
    const Word* const end = addresses + exit.words;
    const bool has_all = exit.block->traces_all;
    for (const Access* access = exit.block->accesses_; addresses < end; ++access) {
        if (!access->guarded) {
            if (has_all) ++addresses;
            continue;
        }
        if (*addresses++ != 0) continue;
        const CallSite& payer = state_.current->payer;
        see_no_access(state_,
                      payer ? state_.blocks.caller(payer) : state_.blocks.instruction(cost, access->instruction),
                      *access);
    }
}

template <class Watch>
std::size_t PlainReplay<Watch>::run(Batch batch) {
    const Word* at = batch.data();
    const Word* const end = at + batch.size();
    while (at < end) {
        const Exit& exit = exit_of(at[0]);
        if (__builtin_expect(exit.block == nullptr, 0)) {
            state_.mark(static_cast<Marker>(exit.index), at + 1);
            at += kMarkerWords;
            if (!state_.calls.requests().empty()) break;
            continue;
        }
        if constexpr (kWatches<Watch>) watch_.before(*exit.block);
        BlockCost* const cost = enter_block(state_, exit, at[1]);
        if (__builtin_expect(cost == nullptr, 0)) break;
        if (__builtin_expect(exit.may_skip_access, 0)) see_guarded(exit, *cost, at + kHeaderWords);
        if constexpr (kWatches<Watch>) watch_.after(exit);
        at += kHeaderWords + exit.words;
    }
    return static_cast<std::size_t>(at - batch.data());
}

template <class Watch>
std::unique_ptr<Replay> make_replay(EngineState& state) {
    const EngineConfig& config = state.config;
    if (!config.cache_sim) return std::make_unique<PlainReplay<Watch>>(state);
    const bool common = is_common(config.caches);
    if (config.cache_use) {
        if (common) return std::make_unique<CacheReplay<true, true, Watch>>(state);
        return std::make_unique<CacheReplay<false, true, Watch>>(state);
    }
    if (common) return std::make_unique<CacheReplay<true, false, Watch>>(state);
    return std::make_unique<CacheReplay<false, false, Watch>>(state);
}

}  // namespace

std::unique_ptr<Replay> Replay::make(EngineState& state) {
    const EngineConfig& config = state.config;
    const bool more = BranchWatch::is_wanted(config) || config.write_back || config.prefetch;
    return more ? make_replay<BranchWatch>(state) : make_replay<NoWatch>(state);
}

}  // namespace bd
