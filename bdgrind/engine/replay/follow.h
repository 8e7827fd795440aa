// SPDX-License-Identifier: GPL-2.0-or-later
//
// The loop that follows the trace from block to block: who runs, in which call, and how often. It takes a good part of
// all time, so whatever is rare is out of line.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/replay/engine.h"

namespace bd {

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

    // Whether `exit` is counted where it is: see BlockCosts.
    [[gnu::always_inline]] bool is_ready(const Exit& exit) const { return exit.ready_in == counting_in_; }
    // Counts the block that has run to it.
    [[gnu::always_inline]] void count(const Exit& exit) {
        ++exit.taken;
        add_work(exit);
    }

    // The same where the latest call pays: whether `exit` is ready for that, and counting its block.
    [[gnu::always_inline]] bool is_paid_for(const Exit& exit) const {
        return exit.ready_in == kPaidFor && execution_->collecting && execution_->payer;
    }
    [[gnu::always_inline]] void pay(EngineState& state, const Exit& exit) {
        ++exit.uncredited;
        add_to_payer(state, exit);
        add_work(exit);
    }

    // Does all that with the blocks from `at` on, up to the first that does not go on, is not ready, or that `slow_way`
    // has no short way for. Returns where that one is. In a loop without calls all is in registers. (xz without caches:
    // 0.54 of the replay.)
    template <class Way>
    [[gnu::always_inline]] const Word* hurry(const Word* at, const Word* end, Way& slow_way) {
        Course course = *this;
        Way way = slow_way;
        while (at < end) {
            const Exit& exit = exit_of(at[0]);
            if (!course.goes_on(exit, at[1]) || !course.is_ready(exit) || !way.is_short(exit, at)) break;
            course.run(exit, at[1]);
            course.count(exit);
            way.run_short(exit);
            at += record_words(at[0]);
        }
        *this = course;
        slow_way = way;
        return at;
    }

    // To be stopped after so many words of the trace, and a record: the sums have 32 bits.
    static constexpr std::ptrdiff_t kMostWords = 65536;

    // Whether what runs is counted where it runs.
    static bool counts(const Execution& execution) { return execution.collecting && !execution.payer; }

    // For the next time that its block runs in the same circumstances. It must have been counted in them once.
    static void make_ready(const Exit& exit, const Execution& execution) {
        if (execution.collecting) exit.ready_in = execution.payer ? kPaidFor : execution.context;
    }

    // For code that is not counted where it runs.
    [[gnu::always_inline]] static void add_to_payer(EngineState& state, const Exit& exit) {
        const Costs paid = state.costs[state.blocks.caller(state.current->payer)];
        paid[0] += exit.instructions;
        paid[1] += exit.reads;
        paid[2] += exit.writes;
    }

private:
    using Sum [[gnu::vector_size(sizeof(Work))]] = std::uint32_t;
    static_assert(offsetof(Work, instructions) == 0 && offsetof(Work, reads) == 4 && offsetof(Work, writes) == 8 &&
                  offsetof(Work, blocks) == 4 * kRunningEvents);

    [[gnu::always_inline]] void add_work(const Exit& exit) {
        Sum work;
        __builtin_memcpy(&work, static_cast<const Work*>(&exit), sizeof work);
        work_ += work;
    }

    // Stand for contexts: one that no exit is ready in, and one of exits whose blocks are paid for elsewhere.
    static constexpr char kNone[2]{};
    static inline const Context* const kNowhere = reinterpret_cast<const Context*>(&kNone[0]);
    static inline const Context* const kPaidFor = reinterpret_cast<const Context*>(&kNone[1]);

    Execution* execution_ = nullptr;
    const Exit* last_ = nullptr;  // null: none has run since the start
    std::uint32_t section_ = kNoSection;  // the only one that the function goes on in
    Address stack_pointer_ = 0;
    Address lowest_ = 0;
    Address top_span_ = 0;
    const Context* counting_in_ = kNowhere;
    Sum work_{};
};

[[gnu::noinline]] inline bool enter_block(EngineState& state, const Block& block, Address stack_pointer) {
    BD_CHECK(state.current != nullptr);
    return state.calls.enter(*state.current, block, stack_pointer) || state.enter_elsewhere(block, stack_pointer);
}

// Counts the block that has run to `exit`, wherever what runs is counted.
[[gnu::noinline]] inline void count_block(EngineState& state, const Exit& exit) {
    Execution& execution = *state.current;
    ++state.blocks_run;
    state.blocks.note_context(exit, state.blocks.get(*exit.block, *execution.context));
    if (!Course::counts(execution)) ++exit.uncredited;
    if (!execution.collecting) return;
    if (execution.payer) {
        Course::add_to_payer(state, exit);
    } else {
        ++exit.taken;
    }
    execution.running[0] += exit.instructions;
    execution.running[1] += exit.reads;
    execution.running[2] += exit.writes;
}

// Follows the trace block by block. A Way simulates what a block did:
//
//   bool is_short(exit, record)    there is nothing to do that needs a call; only asked about exits that are ready
//   void run_short(exit)           does it then
//   void run(exit, record)         does whatever there is to do, if the exit is ready
//   void run_slowly(exit, record)  the same if it is not, and may make it ready
//   void start(), stop()           in between, it may keep things in registers, too
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
            if constexpr (!kWatches<Watch>) {
                at = course.hurry(at, pause, way);
                if (at >= pause) break;
            }
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
            if (course.is_ready(exit)) {
                course.count(exit);
                way.run(exit, at);
            } else if (course.is_paid_for(exit)) {
                course.pay(state, exit);
                way.run(exit, at);
            } else {
                way.stop();
                count_block(state, exit);
                way.run_slowly(exit, at);
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

}  // namespace bd
