// SPDX-License-Identifier: GPL-2.0-or-later
//
// The loop that follows the trace from block to block: which execution runs, in which call, and how often. It takes a
// large part of the replay, so whatever is rare is out of line.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/replay/engine_state.h"

namespace bd {

// The observer where only caches are simulated, without write-backs and prefetching. An observer has
//
//   bool kObserves                            whether it has these:
//   bool wants_state()                        whether the execution has to be up to date when they are called
//   void before(block, exit)                  a block is about to run. `exit`: how the latest block ended, or null
//   void after(exit)                          the block has run, up to this exit
//   bool allows_fast_path()                   whether blocks on the fast path need not be passed to the others
//
// An observer that follows where control goes is called less often off the fast path, and also has
//
//   bool kFollowsFlow                         whether it does
//   bool kFollowsPaths                        whether charges are made to its FlowPaths, too
//   bool takes_fast_path(exit, next, record)  a block goes on from `exit` and ends by `next`; false: go_on() has to be
//                                             called
//   void before_change(record)                a call may be made or left, or there is a marker
//   void go_on(cursor, next, record)          the latest call goes on after the cursor's latest exit
//   void after_change(next, record)           the same after a change, if it is still that call
struct NoObserver {
    static constexpr bool kObserves = false;
    static constexpr bool kFollowsFlow = false;
    static constexpr bool kFollowsScopes = false;
    static constexpr bool kFollowsPaths = false;
    explicit NoObserver(EngineState&) {}
    static constexpr bool allows_fast_path() { return true; }
};

// What changes with every block. From start() on, while blocks take the fast path, it is kept in registers; stop()
// writes it to the execution, before anything else looks at that.
class ReplayCursor {
public:
    [[gnu::always_inline]] void start(EngineState& state) {
        execution_ = state.current;
        last_ = nullptr;
        continuation_ = kNoContinuation;
        if (execution_ == nullptr) return;
        if (execution_->last_exit != nullptr) continuation_ = execution_->last_exit->continuation_left;
        counting_in_ = counts(*execution_) ? execution_->context : kNowhere;
        lowest_ = execution_->stack.begin;
        top_span_ = execution_->top_span;
    }

    [[gnu::always_inline]] void stop(EngineState& state) {
        if (last_ == nullptr) return;
        execution_->last = last_->cost;
        execution_->last_exit = last_;
        execution_->stack_pointer = stack_pointer_;
        for (std::size_t i = 0; i < kRunningEvents; ++i) execution_->running[i] += totals_[i];
        state.blocks_run += totals_[kRunningEvents];
        totals_ = Totals{};
    }

    // Whether the block of `exit` is where the function goes on, and no call has been left.
    [[gnu::always_inline]] bool continues(const Exit& exit, Address stack_pointer) const {
        return continuation_ == exit.continuation_expected && stack_pointer - lowest_ <= top_span_;
    }

    [[gnu::always_inline]] void run(TracedExit& exit, Address stack_pointer) {
        last_ = &exit;
        continuation_ = exit.continuation_left;
        stack_pointer_ = stack_pointer;
    }

    // How the latest block ended; null if none has run.
    const Exit* latest_exit() const {
        if (last_ != nullptr) return last_;
        return execution_ == nullptr ? nullptr : execution_->last_exit;
    }

    // Where the latest block is counted; null if none has run.
    BlockCost* latest_cost() const {
        if (last_ != nullptr) return last_->cost;
        return execution_ == nullptr ? nullptr : execution_->last;
    }

    // Whether the latest block has run since start(), and is known to have led to that of `next` when it last did.
    [[gnu::always_inline]] bool goes_where_it_went(const TracedExit& next) const {
        return last_ != nullptr && last_->next == next.begin;
    }

    // Whether the block of `exit` is counted where it runs, see BlockCosts.
    [[gnu::always_inline]] bool is_on_fast_path(const TracedExit& exit) const {
        return exit.fast_path_context == counting_in_;
    }
    // Counts the block that has run to it.
    [[gnu::always_inline]] void count(TracedExit& exit) {
        ++exit.taken;
        add_totals(exit);
    }

    // The same where the caller is charged: whether `exit` has been prepared for that, and the charge.
    [[gnu::always_inline]] bool is_charged_to_caller(const TracedExit& exit) const {
        return exit.fast_path_context == kChargedToCaller && execution_->collecting && execution_->charged_site;
    }
    [[gnu::always_inline]] void charge_caller(EngineState& state, TracedExit& exit) {
        add_to_caller(state, exit);
        add_totals(exit);
    }

    // Follows the blocks from `at` on, up to the first one that does not continue, or that has no fast path here or in
    // `block_handler`. Returns its position. In a loop without calls, everything is in registers. (xz without caches:
    // 46 % less replay.)
    template <class Observer, class Handler>
    [[gnu::always_inline]] const Word* run_fast_path(const Word* at, const Word* end, Observer& observer,
                                                     Handler& block_handler) {
        ReplayCursor cursor = *this;
        Handler handler = block_handler;
        while (at < end) {
            __builtin_prefetch(at + kWordsAhead);
            TracedExit& exit = exit_of(at[0]);
            if (!cursor.continues(exit, at[1]) || !cursor.is_on_fast_path(exit)) break;
            if (!handler.takes_fast_path(exit, at)) break;
            if constexpr (Observer::kFollowsFlow) {
                // The exit before the first block is in the execution.
                if (cursor.last_ == nullptr || !observer.takes_fast_path(*cursor.last_, exit, at)) break;
            }
            cursor.run(exit, at[1]);
            cursor.count(exit);
            handler.run_fast(exit);
            at += record_words(at[0]);
        }
        *this = cursor;
        block_handler = handler;
        return at;
    }

    // It has to be stopped after this many words of the trace and one record, as the sums have 32 bits.
    static constexpr std::ptrdiff_t kMostWords = 65536;

    // Words are prefetched, as another processor has written them. (Binary trees that are built and dropped, with the
    // engine's thread: 12 % less time; 32 or 128 words ahead are much the same. Loops: no difference.)
    static constexpr std::ptrdiff_t kWordsAhead = 64;

    // Whether blocks are counted where they run.
    static bool counts(const Execution& execution) { return execution.collecting && !execution.charged_site; }

    // Lets the block of `exit` take the fast path when it next runs in the same circumstances. It must have been
    // counted in these once.
    static void allow_fast_path(TracedExit& exit, const Execution& execution) {
        if (!execution.collecting) return;
        exit.fast_path_context = execution.charged_site ? kChargedToCaller : execution.context;
    }

    // Counts a block that is charged to a caller.
    [[gnu::always_inline]] static void add_to_caller(EngineState& state, const Exit& exit) {
        const Costs charged = state.costs[state.blocks.caller(state.current->charged_site)];
        charged[0] += exit.instructions;
        charged[1] += exit.reads;
        charged[2] += exit.writes;
    }

private:
    using Totals [[gnu::vector_size(2 * sizeof(ExitTotals))]] = std::uint32_t;
    using ShortTotals [[gnu::vector_size(sizeof(ExitTotals))]] = std::uint16_t;
    static_assert(offsetof(ExitTotals, instructions) == 0 && offsetof(ExitTotals, reads) == 2 &&
                  offsetof(ExitTotals, writes) == 4 && offsetof(ExitTotals, blocks) == 2 * kRunningEvents);

    [[gnu::always_inline]] void add_totals(const Exit& exit) {
        ShortTotals totals;
        __builtin_memcpy(&totals, static_cast<const ExitTotals*>(&exit), sizeof totals);
        totals_ += __builtin_convertvector(totals, Totals);
    }

    // Two values that stand for contexts: one that no exit has, and one of exits whose blocks are charged to a caller.
    static constexpr char kNone[2]{};
    static inline const Context* const kNowhere = reinterpret_cast<const Context*>(&kNone[0]);
    static inline const Context* const kChargedToCaller = reinterpret_cast<const Context*>(&kNone[1]);

    Execution* execution_ = nullptr;
    TracedExit* last_ = nullptr;                    // null: no block has run since start()
    std::uint32_t continuation_ = kNoContinuation;  // that of the blocks by which the function goes on
    Address stack_pointer_ = 0;
    Address lowest_ = 0;
    Address top_span_ = 0;
    const Context* counting_in_ = kNowhere;
    Totals totals_{};
};

[[gnu::noinline]] inline bool enter_block(EngineState& state, Block& block, Address stack_pointer) {
    BD_CHECK(state.current != nullptr);
    return state.calls.enter(*state.current, block, stack_pointer) || state.enter_elsewhere(block, stack_pointer);
}

// Counts the block that has run to `exit`, wherever it is to be counted.
[[gnu::noinline]] inline void count_block(EngineState& state, TracedExit& exit) {
    Execution& execution = *state.current;
    ++state.blocks_run;
    state.blocks.note_context(exit, state.blocks.get(*exit.block, *execution.context));
    if (!execution.collecting) return;
    if (execution.charged_site) {
        ReplayCursor::add_to_caller(state, exit);
    } else {
        ++exit.taken;
    }
    execution.running[0] += exit.instructions;
    execution.running[1] += exit.reads;
    execution.running[2] += exit.writes;
}

// Follows the trace block by block. A block handler simulates what a block did:
//
//   bool takes_fast_path(exit, record)  whether run_fast() can do it without a call; only if the cursor allows that
//   void run_fast(exit)
//   void run(exit, record)              does all there is to do, if the cursor allows the fast path
//   void run_slow(exit, record)         the same if it does not; may allow it for the next time
//   void start(), stop()                between these, it may keep values in registers
template <class Observer, class Handler>
[[gnu::always_inline]] inline std::size_t follow(EngineState& state, Observer& observer, Batch batch, Handler handler) {
    const Word* at = batch.data();
    const Word* const end = at + batch.size();
    const auto words_done = [&] { return static_cast<std::size_t>(at - batch.data()); };
    ReplayCursor cursor;
    cursor.start(state);
    while (at < end) {
        const Word* const pause = at + std::min(end - at, ReplayCursor::kMostWords);
        while (at < pause) {
            if (observer.allows_fast_path()) {
                at = cursor.run_fast_path(at, pause, observer, handler);
                if (at >= pause) break;
            }
            TracedExit& exit = exit_of(at[0]);
            if constexpr (Observer::kObserves) {
                if (observer.wants_state()) cursor.stop(state);
                if (exit.block != nullptr) observer.before(*exit.block, cursor.latest_exit());
            }
            if (__builtin_expect(!cursor.continues(exit, at[1]), 0)) {
                cursor.stop(state);
                handler.stop();
                if constexpr (Observer::kFollowsFlow) observer.before_change(at);
                if (exit.block == nullptr) {
                    const std::size_t words = record_words(at[0]);
                    state.mark(static_cast<Marker>(exit.index), {at + 1, words - 1});
                    at += words;
                    if (!state.calls.requests().empty()) return words_done();
                    cursor.start(state);
                    continue;
                }
                if (!enter_block(state, *exit.block, at[1])) return words_done();
                cursor.start(state);
                if constexpr (Observer::kFollowsFlow) observer.after_change(exit, at);
            } else if constexpr (Observer::kFollowsFlow) {
                observer.go_on(cursor, exit, at);
            }
            cursor.run(exit, at[1]);
            if (cursor.is_on_fast_path(exit)) {
                cursor.count(exit);
                handler.run(exit, at);
            } else if (cursor.is_charged_to_caller(exit)) {
                cursor.charge_caller(state, exit);
                handler.run(exit, at);
            } else {
                handler.stop();
                count_block(state, exit);
                handler.run_slow(exit, at);
                handler.start();
            }
            if constexpr (Observer::kObserves) {
                if (observer.wants_state()) cursor.stop(state);
                observer.after(exit);
            }
            at += record_words(at[0]);
        }
        cursor.stop(state);
    }
    handler.stop();
    return words_done();
}

}  // namespace bd
