// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay with caches: runs the trace through them and charges what happens there to the instruction that runs and
// to the calls that are open.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/cache/chunk_queue.h"
#include "engine/cache/hierarchy.h"
#include "engine/cache/touch_clock.h"
#include "engine/costs/level_events.h"
#include "engine/replay/chunk_cursor.h"
#include "engine/replay/engine_state.h"
#include "engine/replay/follow.h"
#include "engine/replay/miss_reasons.h"
#include "engine/replay/page_costs.h"
#include "engine/replay/replay.h"
#include "engine/replay/use_sums.h"

namespace bd {

// `Observer`: BranchObserver or NoObserver, alone or in a ScopeObserver, a PathObserver, or both.
template <CacheTraits kTraits, class Observer>
class CacheReplay final : public Replay {
    using Caches = Hierarchy<kTraits, CacheReplay>;
    using FetchMiss = typename Caches::FetchMiss;
    using DataMiss = typename Caches::DataMiss;

public:
    explicit CacheReplay(EngineState& state)
        : state_(state),
          caches_(state.config.caches, *this, state.config.next_level(state.ll_shares.get()), state.config.reuse_rules,
                  state.config.private_caches()),
          observer_(state),
          queue_(caches_.stage()),
          reasons_(state) {
        if (state.config.tlbs.any()) pages_.emplace(state);
        caches_.set_placements(state.placements.get());
    }

    std::size_t run(Batch batch) override;
    void flush() override {
        BD_CHECK(cursor_.has_taken_all());  // else I1 and D1 are ahead
        caches_.flush();
        if (pages_.has_value()) pages_->flush();
    }
    void drop_charges() override { caches_.drop_charges(); }
    void announce(Batch batch) override { queue_.announce(batch); }
    bool advance() override { return queue_.advance(); }
    bool is_supplied() const override { return queue_.is_supplied(); }

    // The caches' sink.

    ChargeTarget on_load(const LoadEvent& event) {
        if constexpr (kTraits.write_back) {
            if (!state_.config.cache_use) return {};
        }
        if constexpr (kFollowsPaths) {
            state_.flow->host_prefetch(index_of(event.replaced.costs));
        } else {
            state_.ledger.host_prefetch(event.replaced, Event::kAcCost1);
        }
        ChargeTarget target = charge_target();
        const CostId instruction = target.costs;
        if (state_.objects != nullptr && target.node != kNoNode) {
            target.costs =
                event.reference == Reference::kFetch ? code_cell(target.costs) : data_cell(target.costs, event.address);
        }
        if constexpr (kFollowsPaths) {
            if (target.node != kNoNode) {
                target.costs = CostId{state_.flow->hold(state_.flow_frame(*state_.current), instruction, target.costs)};
            }
        }
        target.loaded_by = event.reference;
        state_.ledger.hold(target);
        return target;
    }

    void on_evict(const EvictEvent& event) {
        if (event.target.node == kNoNode) return;
        const UseSums use(event);
        if (__builtin_expect(state_.core_costs.counts(), 0)) count_evicted(event, use);
        const std::size_t first = first_use_column(event.level);
        const auto add = [=](Costs costs, std::uint64_t times) { use.add_to(&costs[first], times); };
        state_.ledger.charge(charged_target(event.target), add);
        if constexpr (kFollowsPaths) {
            state_.flow->charge_held(index_of(event.target.costs), [&](Costs costs) { add(costs, 1); });
        }
        release(event.target);
    }

    template <class Mask>
    void on_evict_data(const EvictDataEvent<Mask>& event) {
        const ChargeTarget target = charged_target(event.target);
        if constexpr (kMayNoteReuses) {
            if (reasons_.notes_reuses()) reasons_.note_stay(target, event);
        }
        if (state_.objects == nullptr || target.node == kNoNode) return;
        state_.objects->evict(target.costs, event.address, event.line_bytes, event.used);
    }

    void on_prefetched(const PrefetchEvent& event) {
        if (event.target.node == kNoNode || !state_.config.cache_use) return;
        const bool is_code = event.target.loaded_by == Reference::kFetch;
        const std::size_t counted = prefetch_column(event.level, is_code, event.is_used);
        if (state_.core_costs.counts() && event.level != Level::kLL) ++state_.core_costs.of(event.core)[counted];
        const auto add = [=](Costs costs, std::uint64_t times) { costs[counted] += times; };
        state_.ledger.charge(charged_target(event.target), add);
        if constexpr (kFollowsPaths) {
            state_.flow->charge_held(index_of(event.target.costs), [&](Costs costs) { add(costs, 1); });
        }
    }

    bool is_counted() { return charge_target().node != kNoNode; }

    void drop_charges(ChargeTarget* target) {
        release(*target);
        *target = {};
    }

private:
    static_assert(ChunkQueue<typename Caches::Stage>::kChunks == Caches::Stage::kMostChunks);

    static constexpr bool kFollowsPaths = Observer::kFollowsPaths;
    static constexpr bool kMayNoteReuses = kTraits.why && Observer::kFollowsScopes;

    // The host is told of a miss when so many are before it, and once more when it is half of that.
    static constexpr std::ptrdiff_t kHostPrefetchAhead = 8;

    struct BlockHandler;

    // Where paths are followed, a line is charged to one of FlowPaths' records, which knows what else is charged.
    ChargeTarget charged_target(const ChargeTarget& held) const {
        ChargeTarget target = held;
        if constexpr (kFollowsPaths) {
            if (held.node != kNoNode) target.costs = state_.flow->charged_with(index_of(held.costs));
        }
        return target;
    }
    // By core, what LL evicts belongs to none.
    [[gnu::noinline, gnu::cold]] void count_evicted(const EvictEvent& event, const UseSums& use) {
        if (event.level == Level::kLL) return;
        use.add_to(&state_.core_costs.of(event.core)[first_use_column(event.level)], 1);
    }
    void release(const ChargeTarget& held) {
        state_.ledger.release(held);
        if constexpr (kFollowsPaths) {
            if (held.node != kNoNode) state_.flow->release(index_of(held.costs));
        }
    }

    // The record that has the next miss of I1, D1 or a TLB.
    const Word* next_missing_record() const {
        return cursor_.next_missing_record(pages_.has_value() ? pages_->next_missing_record() : ~std::uint32_t{0});
    }
    void simulate_misses(TracedExit& exit, const Word* record);
    void simulate_fetches();
    void simulate_data_before(std::size_t access);
    void host_prefetch_fetches();
    void host_prefetch_misses();
    void host_prefetch_objects(const DataMiss* far, const DataMiss* near);
    template <Missed kMissed>
    void charge(Outcome outcome);
    Outcome follow_data(const DataMiss& miss);
    void take_note(const DataMiss& note);
    void note_hit(const DataMiss& hit);
    void note_other_core(const DataMiss& note);
    void take_lost(const DataMiss& lost);
    void note_core_load(Address address, bool misses_ll);
    // Adds what has been charged to the counts of a core.
    template <class Add>
    [[gnu::noinline, gnu::cold]] void count_on(std::uint32_t core, Add add) {
        add(state_.core_costs.of(core), 1);
    }
    void note_reuse(const DataMiss& miss, LineNumber evicted, Outcome outcome);
    template <class Chunk>
    void start_times(const Chunk& chunk);
    CostId code_cell(CostId instruction);
    CostId data_cell(CostId instruction, Address address);

    void go_to(std::size_t instruction) {
        cursor_.go_to(instruction);
        charge_target_is_known_ = false;
    }

    // What is charged with what the instruction misses: nothing, if costs are not collected.
    ChargeTarget charge_target() {
        if (!charge_target_is_known_) {
            charge_target_is_known_ = true;
            charge_target_ = state_.current->collecting
                                 ? state_.charge_target(*state_.current, *cursor_.exit().cost, cursor_.instruction())
                                 : ChargeTarget{};
        }
        return charge_target_;
    }

    EngineState& state_;
    Caches caches_;
    [[no_unique_address]] Observer observer_;
    ChunkQueue<typename Caches::Stage> queue_;
    ChunkCursor<typename Caches::Stage> cursor_;
    std::optional<PageCosts> pages_;  // if TLBs are simulated
    MissReasons reasons_;             // used with kTraits.why
    // Of the cursor's instruction.
    bool charge_target_is_known_ = false;
    ChargeTarget charge_target_;
    // If costs are separated by objects: the cell of the first line that was loaded for what is not charged yet.
    CostId missed_cell_ = kNoCost;
    CostId loaded_cell_ = kNoCost;  // and that of the line that D1 has loaded last; with kTraits.why
    // Whether another core's D1 has a line that was loaded for what is not charged yet.
    bool is_elsewhere_ = false;
};

template <CacheTraits kTraits, class Observer>
struct CacheReplay<kTraits, Observer>::BlockHandler {
    [[gnu::always_inline]] void start() { missing = replay->next_missing_record(); }
    [[gnu::always_inline]] void stop() {}
    [[gnu::always_inline]] bool takes_fast_path(const TracedExit&, const Word* record) const {
        return record != missing;
    }
    [[gnu::always_inline]] void run_fast(const TracedExit&) {}
    [[gnu::always_inline]] void run(TracedExit& exit, const Word* record) {
        if (record != missing) return;
        replay->simulate_misses(exit, record);
        missing = replay->next_missing_record();
    }
    [[gnu::always_inline]] void run_slow(TracedExit& exit, const Word* record) {
        ReplayCursor::allow_fast_path(exit, *replay->state_.current);
        run(exit, record);
    }

    CacheReplay* replay;
    const Word* missing;  // the record that has the next miss
};

template <CacheTraits kTraits, class Observer>
std::size_t CacheReplay<kTraits, Observer>::run(Batch batch) {
    std::size_t done = 0;
    do {
        const Batch rest = batch.subspan(done);
        if (cursor_.is_at_end()) {
            const auto& chunk = queue_.next(rest);
            caches_.set_chunk(chunk);
            cursor_.start_chunk(chunk);
            if constexpr (kTraits.why) start_times(chunk);
            if (pages_.has_value()) pages_->start_chunk(chunk.words, chunk.core);
        }
        BD_CHECK(cursor_.rest().data() == rest.data());
        BlockHandler handler{this, nullptr};
        handler.start();
        const Batch records = cursor_.rest().first(std::min(cursor_.rest().size(), rest.size()));
        const std::size_t words = follow(state_, observer_, records, handler);
        if constexpr (kMayNoteReuses) observer_.pause();
        cursor_.skip(words);
        done += words;
    } while (done < batch.size() && state_.calls.requests().empty());
    return done;
}

// Of the chunk that begins.
template <CacheTraits kTraits, class Observer>
template <class Chunk>
void CacheReplay<kTraits, Observer>::start_times(const Chunk& chunk) {
    if constexpr (kMayNoteReuses) {
        observer_.clock().start_chunk(chunk.touches, chunk.words.data());
        const TickRanks* const ranks = chunk.touches.renumbering.get();
        if (ranks != nullptr) state_.renumber_times([ranks](TouchTime time) { return ranks->renumbered(time); });
    }
}

// Instructions and data meet behind I1 and D1 only: their misses are simulated in program order.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline]] void CacheReplay<kTraits, Observer>::simulate_misses(TracedExit& exit, const Word* record) {
    cursor_.start_record(exit, record);
    if (cursor_.fetch_miss() != nullptr) simulate_fetches();
    simulate_data_before(exit.accesses);
    while (__builtin_expect(cursor_.has_miss_at(DataMiss::kBehindAccesses), 0)) take_lost(cursor_.take_miss());
    if (pages_.has_value()) pages_->charge_misses(exit, record);
}

// Of the cursor's record: the misses in I1, each with all misses in D1 that come before it.
template <CacheTraits kTraits, class Observer>
void CacheReplay<kTraits, Observer>::simulate_fetches() {
    const FetchMiss* miss = cursor_.fetch_miss();
    do {
        const std::uint32_t instruction = miss->at.instruction;
        const std::size_t accesses = cursor_.accesses_before(instruction);
        simulate_data_before(accesses);
        go_to(instruction);
        caches_.set_data_position(cursor_.before_access(accesses));
        // An instruction may miss two lines: that is one miss.
        Outcome outcome = Outcome::kHit;
        do {
            host_prefetch_fetches();
            outcome = std::max(outcome, caches_.follow_fetch(cursor_.take_fetch_miss()));
            miss = cursor_.fetch_miss();
        } while (miss != nullptr && miss->at.instruction == instruction);
        charge<Missed::kFetch>(outcome);
    } while (miss != nullptr);
}

// Of the cursor's record: the misses in D1 of its first so many accesses that have not been simulated yet.
template <CacheTraits kTraits, class Observer>
void CacheReplay<kTraits, Observer>::simulate_data_before(std::size_t access) {
    while (const auto* const miss = cursor_.miss_before(access)) {
        const std::uint16_t index = miss->at.access;
        const Access& missing = cursor_.exit().block->accesses_[index];
        go_to(missing.instruction);
        caches_.set_fetch_position(cursor_.before_fetch(missing.instruction + std::size_t{1}));
        if (!miss->loads()) {
            if (miss->slot == miss->kNoAccess) {
                state_.on_unaddressed_access(*cursor_.exit().cost, missing);
            } else {
                take_note(*miss);
            }
            cursor_.take_miss();
            continue;
        }
        // It may miss several lines: that is one miss.
        Outcome outcome = Outcome::kHit;
        do {
            host_prefetch_misses();
            const DataMiss& loaded = cursor_.take_miss();
            const Outcome of_line = follow_data(loaded);
            if (__builtin_expect(state_.core_loads != nullptr, 0)) {
                note_core_load(loaded.at.address, of_line >= Outcome::kLLMiss && outcome < Outcome::kLLMiss);
            }
            outcome = std::max(outcome, of_line);
            while (cursor_.has_note_at(index)) take_note(cursor_.take_miss());
        } while (cursor_.has_miss_at(index));
        if (is_write(missing.kind)) {
            charge<Missed::kWrite>(outcome);
        } else {
            charge<Missed::kRead>(outcome);
        }
    }
}

// By the cursor's instruction.
template <CacheTraits kTraits, class Observer>
[[gnu::always_inline]] inline Outcome CacheReplay<kTraits, Observer>::follow_data(const DataMiss& miss) {
    if constexpr (kTraits.why) {
        const LineNumber evicted = caches_.held_at(miss.slot);
        loaded_cell_ = kNoCost;
        const Outcome outcome = caches_.follow_data(miss);
        reasons_.note_distance(charge_target(), loaded_cell_, miss.distance, outcome);
        if constexpr (kMayNoteReuses) {
            if (reasons_.notes_reuses()) note_reuse(miss, evicted, outcome);
        }
        return outcome;
    } else {
        return caches_.follow_data(miss);
    }
}

// By the cursor's instruction.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline]] void CacheReplay<kTraits, Observer>::take_note(const DataMiss& note) {
    if constexpr (kTraits.why) {
        if (note.slot == note.kHit) {
            note_hit(note);
            return;
        }
    }
    note_other_core(note);
}

// What an access has to do with the caches of other cores.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline, gnu::cold]] void CacheReplay<kTraits, Observer>::note_other_core(const DataMiss& note) {
    if (note.slot == note.kElsewhere) {
        is_elsewhere_ = true;
    } else {
        caches_.take(note);
    }
}

// What L1 loses behind a block, as LL is inclusive.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline, gnu::cold]] void CacheReplay<kTraits, Observer>::take_lost(const DataMiss& lost) {
    if constexpr (kMayNoteReuses) {
        const LineNumber line = caches_.stage().data().line_of(lost.at.address);
        if (reasons_.notes_reuses() && !lost.is_fetched()) reasons_.note_lost(lost.taken_slot(), line);
    }
    caches_.take(lost);
}

// Which core loads a line, or is the first one that touches its page. `misses_ll`: whether an access will be charged
// with a miss of LL because of it.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline]] void CacheReplay<kTraits, Observer>::note_core_load(Address address, bool misses_ll) {
    state_.core_loads->load(static_cast<std::uint8_t>(state_.core), address, misses_ll, [this]() -> CoreLoads::Charged {
        const ChargeTarget target = charge_target();
        if (target.node == kNoNode) return {};
        std::uint32_t group = 0;
        if (missed_cell_ != kNoCost) {
            group = static_cast<std::uint32_t>(state_.objects->costs().owner_of(missed_cell_).group);
        }
        return {.instruction = target.costs, .group = group, .is_counted = true};
    });
}

// A hit whose distance D1 has told. Those of shorter distances are not complete.
template <CacheTraits kTraits, class Observer>
void CacheReplay<kTraits, Observer>::note_hit(const DataMiss& hit) {
    const ChargeTarget target = charge_target();
    if (target.node == kNoNode || hit.distance < state_.config.reuse_rules.least_distance) return;
    CostId cell = target.costs;
    if (state_.objects != nullptr) {
        const GroupId group =
            state_.objects->find(hit.at.address, cursor_.stack_pointer(), *state_.current, state_.threads);
        cell = state_.objects->cell(cell, group);
    }
    reasons_.note_hit(target, cell, hit.distance);
}

template <CacheTraits kTraits, class Observer>
[[gnu::noinline]] void CacheReplay<kTraits, Observer>::note_reuse(const DataMiss& miss, LineNumber evicted,
                                                                  Outcome outcome) {
    const auto& d1 = caches_.stage().data();
    reasons_.note_reuse(charge_target(), miss, d1.line_of(miss.at.address), evicted, d1.size(), cursor_.exit().begin,
                        outcome);
}

// What a later miss of I1 will need, step by step: its line in the next level, and the costs that it is charged to.
template <CacheTraits kTraits, class Observer>
[[gnu::always_inline]] inline void CacheReplay<kTraits, Observer>::host_prefetch_fetches() {
    const auto* const far = cursor_.fetch_miss_ahead(kHostPrefetchAhead);
    if (far == nullptr) return;
    const auto* const near = far - kHostPrefetchAhead / 2;
    const auto* const next = far - kHostPrefetchAhead * 3 / 4;
    caches_.host_prefetch_set(*far);
    caches_.host_prefetch_line(*near);
    __builtin_prefetch(cursor_.exit_at(far->at.record).cost);
    if (const BlockCost* const cost = cursor_.exit_at(near->at.record).cost) {
        __builtin_prefetch(&cost->instructions[near->at.instruction]);
    }
    if constexpr (kTraits.line_use && !kFollowsPaths) {
        state_.ledger.host_prefetch(caches_.replaced_by(*near), Event::kAcCost1);
    }
    if (const BlockCost* const cost = cursor_.exit_at(next->at.record).cost) {
        const CostId id = cost->instructions[next->at.instruction];
        if (id != kNoCost) __builtin_prefetch(&state_.costs[id][column(Event::kI1mr)], 1);
    }
}

// The caches simulated are larger than the host's, and waiting for their tags was half of all time in loops over large
// arrays.
template <CacheTraits kTraits, class Observer>
[[gnu::always_inline]] inline void CacheReplay<kTraits, Observer>::host_prefetch_misses() {
    const auto* const far = cursor_.miss_ahead(kHostPrefetchAhead);
    if (far == nullptr) return;
    const auto* const near = far - kHostPrefetchAhead / 2;
    caches_.host_prefetch_set(*far);
    caches_.host_prefetch_line(*near);
    if (__builtin_expect(state_.objects != nullptr, 0)) host_prefetch_objects(far, near);
    if (__builtin_expect(state_.core_loads != nullptr, 0)) state_.core_loads->host_prefetch(near->at.address);
}

// Whose the memory is that a miss will load, and that of the line that it evicts. (dispatch: 7 % less replay.)
template <CacheTraits kTraits, class Observer>
[[gnu::always_inline]] inline void CacheReplay<kTraits, Observer>::host_prefetch_objects(const DataMiss* far,
                                                                                         const DataMiss* near) {
    constexpr std::uint32_t kFar = kHostPrefetchAhead + 1;
    constexpr std::uint32_t kNear = kHostPrefetchAhead / 2 + 1;
    Objects& objects = *state_.objects;
    if (far->loads()) {
        objects.host_prefetch_page(far->at.address);
        if (objects.will_look_at_line(kFar)) objects.host_prefetch_page(caches_.replaced_by(*far));
    }
    if (near->loads()) {
        objects.host_prefetch_slots(near->at.address);
        if (objects.will_look_at_line(kNear)) objects.host_prefetch_slots(caches_.replaced_by(*near));
    }
}

template <CacheTraits kTraits, class Observer>
template <Missed kMissed>
void CacheReplay<kTraits, Observer>::charge(Outcome outcome) {
    if (outcome == Outcome::kHit) return;
    Causes causes;
    if constexpr (kTraits.why) causes = caches_.take_causes();
    ChargeTarget target = charge_target();
    const CostId missed_cell = std::exchange(missed_cell_, kNoCost);
    const bool is_elsewhere = std::exchange(is_elsewhere_, false);
    constexpr auto kKind = static_cast<std::size_t>(kMissed);
    if (__builtin_expect(state_.placements != nullptr, 0)) {
        state_.placements->end_access(kKind, outcome, target.node != kNoNode);
    }
    if (target.node == kNoNode) return;
    const CostId instruction = target.costs;
    if (missed_cell != kNoCost) target.costs = missed_cell;
    const auto add = [=](Costs costs, std::uint64_t times) {
        const auto count = [&](Event event) __attribute__((always_inline)) {
            costs[column(event)] += times;
        };
        const auto count_level = [&](Level level) __attribute__((always_inline)) {
            if (!misses(outcome, level)) return;
            const LevelEvents& events = kLevelEvents[level];
            count(events.misses[kKind]);
            if constexpr (kTraits.why) {
                constexpr bool kIsData = kMissed != Missed::kFetch;
                if (causes[level] == Cause::kFirst) count(events.first_touches[kIsData]);
                if (causes[level] == Cause::kConflict) count(events.conflicts[kIsData]);
            }
        };
        count_level(Level::kL1);
        if constexpr (kTraits.middle_level) count_level(Level::kL2);
        count_level(Level::kLL);
        if (__builtin_expect(is_elsewhere, 0)) count(Event::kD1copy);
        if constexpr (kTraits.write_back) {
            if (outcome == Outcome::kLLDirtyMiss) count(kDirtyMisses[kKind]);
        }
    };
    state_.ledger.charge(target, add);
    if (__builtin_expect(state_.core_costs.counts(), 0)) count_on(state_.current->core, add);
    if constexpr (kFollowsPaths) {
        state_.flow->charge(state_.flow_frame(*state_.current), instruction, [&](Costs costs) { add(costs, 1); });
    }
}

// Of code that is loaded, and that `instruction` is charged for: its own, unless it calls a function that is not shown.
template <CacheTraits kTraits, class Observer>
CostId CacheReplay<kTraits, Observer>::code_cell(CostId instruction) {
    const ObjectFile& object = *cursor_.exit().block->function->object;
    const CallSite& site = state_.current->charged_site;
    const ObjectFile& charged = site ? *site.from->block->function->object : object;
    const CostId cell = state_.objects->code_cell(instruction, charged, object);
    if (missed_cell_ == kNoCost) missed_cell_ = cell;
    return cell;
}

// Of the data that `instruction` loads because of this address.
template <CacheTraits kTraits, class Observer>
[[gnu::noinline]] CostId CacheReplay<kTraits, Observer>::data_cell(CostId instruction, Address address) {
    Objects& objects = *state_.objects;
    const GroupId group = objects.find(address, cursor_.stack_pointer(), *state_.current, state_.threads);
    const CostId cell = objects.cell(instruction, group);
    if constexpr (kTraits.why) {
        if (loaded_cell_ == kNoCost) loaded_cell_ = cell;
    }
    if (missed_cell_ == kNoCost) missed_cell_ = cell;
    return cell;
}

}  // namespace bd
