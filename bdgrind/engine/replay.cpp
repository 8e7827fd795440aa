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

// What changes with every block: in registers, from start() on, while blocks go the short way. Before anybody else
// looks at the execution, stop() brings it there.
class Course {
public:
    [[gnu::always_inline]] void start(EngineState& state) {
        execution_ = state.current;
        last_ = nullptr;
        section_ = kNoSection;
        if (execution_ == nullptr) return;
        if (execution_->last_exit != nullptr) section_ = execution_->last_exit->section_left;
        counting_in_ = counts(*execution_) ? execution_->context : kNowhere;
        lowest_ = execution_->stack.begin;
        top_span_ = execution_->top_span;
    }

    [[gnu::always_inline]] void stop(EngineState& state) {
        if (last_ == nullptr) return;
        execution_->last = last_->cost;
        execution_->last_exit = last_;
        execution_->stack_pointer = stack_pointer_;
        for (std::size_t i = 0; i < kRunningEvents; ++i) execution_->running[i] += work_[i];
        state.blocks_run += work_[kRunningEvents];
        work_ = Sum{};
    }

    // Whether the block of `exit` is where the function goes on, and no call has been left.
    [[gnu::always_inline]] bool goes_on(const Exit& exit, Address stack_pointer) const {
        return section_ == exit.section_entered && stack_pointer - lowest_ <= top_span_;
    }

    [[gnu::always_inline]] void run(const Exit& exit, Address stack_pointer) {
        last_ = &exit;
        section_ = exit.section_left;
        stack_pointer_ = stack_pointer;
    }

    // Counts the block that has run to `exit`, if that is ready: see BlockCosts.
    [[gnu::always_inline]] bool count(const Exit& exit) {
        if (__builtin_expect(exit.ready_in != counting_in_, 0)) return false;
        ++exit.taken;
        work_ += sum_of(exit);
        return true;
    }

    // Does all that with the blocks from `at` on, up to the first that does not go on, is not ready, or has guarded
    // accesses; returns where that one is. In a loop without calls all is in registers. (xz: 0.54 of the replay,
    // join: 0.79.)
    [[gnu::always_inline]] const Word* run_ahead(const Word* at, const Word* end) {
        const Exit* last = last_;
        std::uint32_t section = section_;
        Address stack_pointer = stack_pointer_;
        Sum work = work_;
        while (at < end) {
            const Exit& exit = exit_of(at[0]);
            if (exit.section_entered != section || at[1] - lowest_ > top_span_ || exit.ready_in != counting_in_) break;
            if (exit.may_skip_access) break;
            ++exit.taken;
            work += sum_of(exit);
            last = &exit;
            section = exit.section_left;
            stack_pointer = at[1];
            at += record_words(at[0]);
        }
        last_ = last;
        section_ = section;
        stack_pointer_ = stack_pointer;
        work_ = work;
        return at;
    }

    // To be stopped after so many words of the trace, and a record: the sums have 32 bits.
    static constexpr std::ptrdiff_t kMostWords = 65536;

    // Whether what runs is counted where it runs.
    static bool counts(const Execution& execution) { return execution.collecting && !execution.payer; }

private:
    using Sum [[gnu::vector_size(sizeof(Work))]] = std::uint32_t;
    static_assert(offsetof(Work, instructions) == 0 && offsetof(Work, reads) == 4 && offsetof(Work, writes) == 8 &&
                  offsetof(Work, blocks) == 4 * kRunningEvents);

    static Sum sum_of(const Work& work) {
        Sum sum;
        __builtin_memcpy(&sum, &work, sizeof sum);
        return sum;
    }

    // Stands for a context that no exit is ready in.
    static inline const Context* const kNowhere = reinterpret_cast<const Context*>(&kNoLine);

    Execution* execution_ = nullptr;
    const Exit* last_ = nullptr;  // null: none has run since the start
    std::uint32_t section_ = kNoSection;  // the only one that the function goes on in
    Address stack_pointer_ = 0;
    Address lowest_ = 0;
    Address top_span_ = 0;
    const Context* counting_in_ = kNowhere;
    Sum work_{};
};

// Runs the trace through the caches and charges what happens there to the instruction that runs and to the calls
// that are open. `Watch`: BranchWatch, and the caches may have extras, or NoWatch.
template <bool kCommon, bool kUse, class Watch>
class CacheReplay final : public Replay {
    using Caches = Hierarchy<kCommon, kUse, CacheReplay, kWatches<Watch>>;
    using Time = typename Caches::Time;

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
        const Owner owner = payer();
        if (owner.node != kNoNode) state_.tree.acquire(owner.node);
        return owner;
    }

    void evict(Level level, const Owner& owner, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes) {
        if (owner.node == kNoNode) return;
        // A line that was never touched (only a prefetch does that) is as bad as one touched once.
        const std::uint64_t rarity = accesses > 1000 ? 0 : 1000u / std::max(static_cast<unsigned>(accesses), 1u);
        const std::size_t first = column(level == Level::kFirst ? Event::kAcCost1 : Event::kAcCost2);
        const auto add = [=](Costs costs, std::uint64_t times) {
            std::uint64_t* counts = &costs[first];
            counts[0] += times * rarity;
            counts[1] += times * (line_bytes - used_bytes);
            counts[2] += times;
            counts[3] += times * used_bytes;
            counts[4] += times * accesses;
        };
        add(state_.costs[owner.costs], 1);
        state_.tree.charge(owner.node, add);
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
        for (; credited_ < executed_; ++credited_) credit(credited_);
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
    bool is_write_back(const Access& access) const {
        return kWatches<Watch> && state_.config.write_back && is_write(access.kind);
    }
    bool short_data(Address address, const AccessGroup& group, Time now) {
        return !(kWatches<Watch> && state_.config.write_back) && caches_.data_hit(address, group, now);
    }

    void fetch(const Exit& exit, Time* now);
    void data(const Exit& exit, const Word* addresses, Time* now);
    void run_slowly(const Exit& exit, const Word* addresses);
    void simulate_in_order(const Exit& exit, const Word* addresses);
    void data_from(const AccessGroup* first, std::size_t access, const Exit& exit, const Word* addresses);
    void data_alone(std::size_t index, const Word* base, bool may_hit = true);
    void make_ready(const Exit& exit);
    void expect_misses(const Exit& exit, const Word* word) const;
    void charge(Outcome outcome, Event first_miss, Event last_miss);
    void credit(std::size_t instruction);
    auto crediting() {
        return [this](const Fetch& fetch, std::uint64_t times) {
            if constexpr (kUse) {
                caches_.credit_fetch(fetch.place, fetch.first_byte, fetch.size, times * fetch.count);
            }
        };
    }

    // The instruction that is simulated from here on, off the short way.
    void go_to(std::size_t instruction) {
        instruction_ = instruction;
        payer_is_known_ = false;
    }

    CostId cost_of_instruction() {
        return state_.current->payer ? state_.blocks.caller(state_.current->payer)
                                     : state_.blocks.instruction(*exit_->cost, instruction_);
    }

    // Who pays for what the instruction misses: nobody, if costs are not collected.
    Owner payer() {
        if (!payer_is_known_) {
            payer_is_known_ = true;
            payer_ = state_.current->collecting
                         ? Owner{state_.calls.active_node(*state_.current), cost_of_instruction()}
                         : Owner{};
        }
        return payer_;
    }

    EngineState& state_;
    Caches caches_;
    [[no_unique_address]] Watch watch_;

    // Where the replay is, off the short way.
    const Word* batch_end_ = nullptr;
    const Exit* exit_ = nullptr;
    std::size_t instruction_ = 0;
    bool payer_is_known_ = false;
    Owner payer_;
    std::size_t executed_ = 0;  // so many instructions of the block have been fetched

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
    void see_guarded(const Exit& exit, const Word* addresses);

    EngineState& state_;
    [[no_unique_address]] Watch watch_;
};

[[gnu::noinline]] bool enter_block(EngineState& state, const Block& block, Address stack_pointer) {
    BD_CHECK(state.current != nullptr);
    return state.calls.enter(*state.current, block, stack_pointer) || state.enter_elsewhere(block, stack_pointer);
}

// Counts the block that has run to `exit`, wherever what runs is counted.
void count_block(EngineState& state, const Exit& exit) {
    Execution& execution = *state.current;
    ++state.blocks_run;
    state.blocks.note_context(exit, state.blocks.get(*exit.block, *execution.context));
    if (!execution.collecting) return;
    if (execution.payer) {
        const Costs paid = state.costs[state.blocks.caller(execution.payer)];
        paid[0] += exit.instructions;
        paid[1] += exit.reads;
        paid[2] += exit.writes;
    } else {
        ++exit.taken;
    }
    execution.running[0] += exit.instructions;
    execution.running[1] += exit.reads;
    execution.running[2] += exit.writes;
}

// Follows the trace block by block. What a block did is simulated by way.run() where it is ready for the short way,
// else by way.run_slowly(). In between the way may keep things in registers, too: it is told to start() and to stop().
template <class Watch, class Way>
[[gnu::always_inline]] inline std::size_t follow(EngineState& state, Watch& watch, Batch batch, Way way) {
    const Word* at = batch.data();
    const Word* const end = at + batch.size();
    const auto words_done = [&] { return static_cast<std::size_t>(at - batch.data()); };
    Course course;
    course.start(state);
    while (at < end) {
        const Word* const pause = at + std::min(end - at, Course::kMostWords);
        while (at < pause) {
            at = way.run_ahead(course, at, pause);
            if (at >= pause) break;
            const Exit& exit = exit_of(at[0]);
            if constexpr (kWatches<Watch>) {
                course.stop(state);
                if (exit.block != nullptr) watch.before(*exit.block);
            }
            if (__builtin_expect(!course.goes_on(exit, at[1]), 0)) {
                course.stop(state);
                way.stop();
                if (exit.block == nullptr) {
                    state.mark(static_cast<Marker>(exit.index), at + 1);
                    at += kMarkerWords;
                    if (!state.calls.requests().empty()) return words_done();
                    course.start(state);
                    continue;
                }
                if (!enter_block(state, *exit.block, at[1])) return words_done();
                course.start(state);
            }
            course.run(exit, at[1]);
            if (__builtin_expect(course.count(exit), 1)) {
                way.run(exit, at + kHeaderWords);
            } else {
                way.stop();
                count_block(state, exit);
                way.run_slowly(exit, at + kHeaderWords);
                way.start();
            }
            if constexpr (kWatches<Watch>) {
                course.stop(state);
                watch.after(exit);
            }
            at += record_words(at[0]);
        }
        course.stop(state);
    }
    way.stop();
    return words_done();
}

// An access without an address: its guard was false but it has been counted with its exit, which is taken back; or it
// is none.
void see_no_access(EngineState& state, CostId cost, const Access& access) {
    if (!state.current->collecting) return;
    if (access.kind == AccessKind::kBus) {
        if (!state.events.has(Event::kGe)) return;  // a trace may have more than is asked for
        ++state.costs[cost][column(Event::kGe)];
        state.tree.charge(state.calls.active_node(*state.current),
                          [](Costs costs, std::uint64_t times) { costs[column(Event::kGe)] += times; });
        return;
    }
    const std::size_t event = column(is_write(access.kind) ? Event::kDw : Event::kDr);
    --state.costs[cost][event];
    --state.current->running[event];
}

// The short way costs the host some 50 instructions a block and some 26 a group of accesses, and touches few lines of
// its cache.
template <bool kCommon, bool kUse, class Watch>
std::size_t CacheReplay<kCommon, kUse, Watch>::run(Batch batch) {
    struct Way {
        const Word* run_ahead(Course&, const Word* at, const Word*) const { return at; }
        [[gnu::always_inline]] void start() { now = replay.caches_.time(); }
        [[gnu::always_inline]] void stop() { replay.caches_.set_time(now); }
        [[gnu::always_inline]] void run(const Exit& exit, const Word* addresses) {
            replay.fetch(exit, &now);
            replay.data(exit, addresses, &now);
        }
        void run_slowly(const Exit& exit, const Word* addresses) { replay.run_slowly(exit, addresses); }

        CacheReplay& replay;
        Time now;
    };
    batch_end_ = batch.data() + batch.size();
    return follow(state_, watch_, batch, Way{*this, caches_.time()});
}

// The instructions up to `exit`, all of whose lines are in I1.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::fetch(const Exit& exit, Time* now) {
    if (__builtin_expect(exit.has_more_lines, 0)) {
        for (const Fetch& each : exit.block->fetches().first(exit.fetches)) caches_.use_fetched(each.place, ++*now);
        return;
    }
    caches_.use_fetched(exit.first_place, *now + 1);
    caches_.use_fetched(exit.last_place, *now += 2);
}

// Instructions and data meet in the LL only. So as long as all fetches hit I1, the accesses may go after them.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::data(const Exit& exit, const Word* addresses,
                                                                          Time* now) {
    const AccessGroup* group = exit.first_group;
    const AccessGroup* const end = group + exit.groups;
    for (const Word* address = addresses; group != end; ++group, ++address) {
        if (__builtin_expect(short_data(*address, *group, ++*now), 1)) continue;
        caches_.set_time(*now);
        data_from(group, 0, exit, addresses);
        *now = caches_.time();
        return;
    }
    if constexpr (kUse) ++exit.uncredited;
}

// The rest of them, from an access of a group that does not go the short way.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::data_from(const AccessGroup* first, std::size_t access,
                                                                const Exit& exit, const Word* addresses) {
    exit_ = &exit;
    const AccessGroup* const end = exit.first_group + exit.groups;
    for (const AccessGroup* group = first; group != end; ++group, access = 0) {
        const Word* const address = addresses + (group - exit.first_group);
        if (group != first && short_data(*address, *group, caches_.time() + 1)) {
            caches_.set_time(caches_.time() + 1);
            continue;
        }
        const bool may_hit = group->accesses != 1;
        for (; access < group->accesses; ++access) data_alone(group->first + access, address, may_hit);
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

// The block that has run to `exit`, which it makes ready for the short way if it can be.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::run_slowly(const Exit& exit, const Word* addresses) {
    for (const Fetch& each : exit.block->fetches().first(exit.fetches)) {
        if (each.place != Fetch::kNowhere) continue;
        const std::uint32_t place = caches_.fetch_place(each.line);
        if (place == caches_.kAbsent) {
            simulate_in_order(exit, addresses);
            return;
        }
        fetches_.list(*exit.block, each, place);
    }
    make_ready(exit);
    Time now = caches_.time();
    fetch(exit, &now);
    data(exit, addresses, &now);
    caches_.set_time(now);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::make_ready(const Exit& exit) {
    exit.first_place = exit.block->fetches_[0].place;
    exit.last_place = exit.block->fetches_[exit.fetches - 1].place;
    if (Course::counts(*state_.current)) exit.ready_in = state_.current->context;
}

// Where a line is absent from I1: in program order, as far as that matters.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::simulate_in_order(const Exit& exit, const Word* addresses) {
    exit_ = &exit;
    go_to(0);
    executed_ = 0;
    const Block& block = *exit.block;
    const AccessGroup* const first = exit.first_group;
    std::size_t access = 0;
    const auto data_before = [&](std::size_t instruction) {
        for (; access < exit.accesses && block.accesses_[access].instruction < instruction; ++access) {
            data_alone(access, addresses + block.accesses_[access].group);
        }
    };
    if (caches_.keeps_fetched(exit.fetches)) {
        // An instruction may miss two lines: that is one miss.
        Outcome outcome = Outcome::kHit;
        for (const Fetch& each : block.fetches().first(exit.fetches)) {
            std::uint32_t place = each.place;
            if (place == Fetch::kNowhere) {
                place = caches_.fetch_place(each.line);
                if (place == caches_.kAbsent) {
                    if (each.instruction != instruction_) {
                        charge(std::exchange(outcome, Outcome::kHit), Event::kI1mr, Event::kILmr);
                        data_before(each.instruction);
                        go_to(each.instruction);
                        executed_ = each.instruction;
                    }
                    outcome = std::max(outcome, caches_.load_fetched(each.line, &place));
                }
                fetches_.list(block, each, place);
            }
            caches_.use_fetched(place);
        }
        charge(outcome, Event::kI1mr, Event::kILmr);
        make_ready(exit);
        if (access == exit.accesses) {
            data_from(first + exit.groups, 0, exit, addresses);
        } else {
            const AccessGroup& group = first[block.accesses_[access].group];
            data_from(&group, access - group.first, exit, addresses);
        }
        return;
    }
    in_order_ = true;
    for (std::size_t i = 0; i < exit.instructions; ++i) {
        go_to(i);
        const Outcome outcome = caches_.fetch(block.instruction_address(i), block.instructions_[i].size);
        charge(outcome, Event::kI1mr, Event::kILmr);
        data_before(i + 1);
    }
    in_order_ = false;
}

// One access of the block that exit_ is of; `base` is its group's address. `may_hit`: the short way has not been tried.
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::data_alone(std::size_t index, const Word* base, bool may_hit) {
    const Access& access = exit_->block->accesses_[index];
    const Address address = *base + static_cast<Address>(std::int64_t{access.distance});
    if (may_hit && !is_write_back(access) && caches_.data_hit(address, access.size)) return;
    go_to(access.instruction);
    executed_ = instruction_ + 1;
    if (*base == 0 && access.guarded) {
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
    expect_misses(*exit_, base);
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
    if (outcome == Outcome::kHit) return;
    const Owner owner = payer();
    if (owner.node == kNoNode) return;
    const auto add = [=](Costs costs, std::uint64_t times) {
        costs[column(first_miss)] += times;
        if (outcome >= Outcome::kLastMiss) costs[column(last_miss)] += times;
        if constexpr (kWatches<Watch>) {
            const std::size_t dirty_miss = column(Event::kILdmr) + column(last_miss) - column(Event::kILmr);
            if (outcome == Outcome::kDirtyMiss) costs[dirty_miss] += times;
        }
    };
    add(state_.costs[owner.costs], 1);
    state_.tree.charge(owner.node, add);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::credit(std::size_t instruction) {
    const Block& block = *exit_->block;
    caches_.credit_fetched(block.instruction_address(instruction), block.instructions_[instruction].size);
}

// The trace has the addresses of all groups, or of the guarded ones only.
template <class Watch>
void PlainReplay<Watch>::see_guarded(const Exit& exit, const Word* addresses) {
    const bool has_all = exit.block->traces_all;
    for (const AccessGroup& group : exit.block->groups().first(exit.groups)) {
        const Access& access = exit.block->accesses_[group.first];
        if (!access.guarded) {
            if (has_all) ++addresses;
            continue;
        }
        if (*addresses++ != 0) continue;
        const CallSite& payer = state_.current->payer;
        see_no_access(state_,
                      payer ? state_.blocks.caller(payer) : state_.blocks.instruction(*exit.cost, access.instruction),
                      access);
    }
}

template <class Watch>
std::size_t PlainReplay<Watch>::run(Batch batch) {
    struct Way {
        void start() {}
        void stop() {}
        [[gnu::always_inline]] const Word* run_ahead(Course& course, const Word* at, const Word* end) const {
            return kWatches<Watch> ? at : course.run_ahead(at, end);
        }
        [[gnu::always_inline]] void run(const Exit& exit, const Word* addresses) {
            if (__builtin_expect(exit.may_skip_access, 0)) replay.see_guarded(exit, addresses);
        }
        void run_slowly(const Exit& exit, const Word* addresses) {
            if (Course::counts(*replay.state_.current)) exit.ready_in = replay.state_.current->context;
            run(exit, addresses);
        }

        PlainReplay& replay;
    };
    return follow(state_, watch_, batch, Way{*this});
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
