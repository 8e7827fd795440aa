// SPDX-License-Identifier: GPL-2.0-or-later
//
// Batches of the trace on their way between threads: one submits them, another, the engine's, works on them in order. A
// third one, the helper, may take some work off the engine's thread. Both may ask for what only the first may do.
//
// Nothing is shared but what is below, and of that nothing is written by two threads at a time:
//
//   batches_    a slot is written before submitted_ says so and read before done_ does; submit() checks that they do
//               not meet
//   submitted_  written by the thread that submits; releases the slot, and stopping_
//   done_       written by the engine's thread; releases all that it did with the batch
//   helped_     written by the helper: so many batches had been submitted when it last found nothing to help with. From
//               then until it sees another one submitted, it touches nothing
//   turn_       held by the thread that asks
//   task_       and its argument: written by that thread before asking_ says so; the submitting thread then has them
//               until it clears asking_, for the other waits
//   progress_   no more than a bell: it changes after done_, helped_ or asking_ has
//   fails_      only ever set, by any; a late look at it costs time, not order
//
// All of them are read with acquire where they are waited for and written with release.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "engine/base/check.h"
#include "engine/base/spin_lock.h"
#include "engine/trace/trace.h"

namespace bd {

// So many submitted batches may be not done.
inline constexpr unsigned kMostSubmitted = 32;

// A word that a thread can wait on.
using WaitWord = std::atomic<std::uint32_t>;

// `Sleeper` has two static functions, which return whether the system let them:
//
//   sleep(word, value)  sleeps until woken unless the word has another value by now. It may return at any time, and
//                       must after some, in case that another thread has been refused a wake.
//   wake(word)          wakes all threads that sleep there
//
// If the system refuses, which filters of system calls do, both sides look again and again instead of sleeping.
template <class Sleeper>
class BatchQueue {
public:
    using Work = void (*)(Batch batch);
    using Task = void (*)(void* argument);
    using Help = bool (*)();

    // `first`: the number that batches begin with.
    constexpr explicit BatchQueue(std::uint32_t first = 0)
        : submitted_(first), done_(first), helped_(first), progress_(first) {}

    // --- For the engine's thread

    // Works on what is submitted, until the other thread wants no more.
    void run(Work work) {
        for (;;) {
            const std::uint32_t number = done_.load(std::memory_order_relaxed);
            wait_while(submitted_, number);
            if (stopping_.load(std::memory_order_relaxed)) return;
            work(batches_[number % kMostSubmitted]);
            done_.store(number + 1, std::memory_order_release);
            ring();
        }
    }

    // --- For the helper

    // Calls `help` whenever something has been submitted, until that returns that there is nothing to help with.
    // Returns when the engine's thread does.
    void run_helper(Help help) {
        for (;;) {
            const std::uint32_t number = submitted_.load(std::memory_order_acquire);
            if (stopping_.load(std::memory_order_relaxed)) return;
            while (help()) continue;
            helped_.store(number, std::memory_order_release);
            ring();
            wait_while(submitted_, number);
        }
    }

    // --- For either

    // Waits until the submitting thread has carried out `task`: when it submits or waits for the next time.
    void ask(Task task, void* argument) {
        const std::scoped_lock turn(turn_);
        task_ = task;
        argument_ = argument;
        asking_.store(1, std::memory_order_release);
        ring();
        wait_while(asking_, 1);
    }

    // --- For the thread that submits

    // The batch must stay as it is until it is done.
    void submit(Batch batch) {
        const std::uint32_t number = submitted_.load(std::memory_order_relaxed);
        BD_CHECK_OP(number - done_.load(std::memory_order_acquire), <, kMostSubmitted);
        batches_[number % kMostSubmitted] = batch;
        submitted_.store(number + 1, std::memory_order_release);
        wake(submitted_);
    }

    // Waits until at most `count` submitted batches are not done; with 0, also until the helper has found nothing more
    // to do. Calls `help` while it would have to wait, until that returns that there is nothing to help with.
    void wait(unsigned count, Help help) {
        const std::uint32_t all = submitted_.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t seen = progress_.load(std::memory_order_acquire);
            serve();
            const bool is_idle = count > 0 || !has_helper_ || helped_.load(std::memory_order_acquire) == all;
            if (all - done_.load(std::memory_order_acquire) <= count && is_idle) return;
            if (!help()) wait_while(progress_, seen);
        }
    }

    // To be called before run_helper() is, with all done. No helper is expected if none could be started.
    void expect_helper() {
        has_helper_ = true;
        helped_.store(submitted_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    void expect_no_helper() { has_helper_ = false; }
    bool has_helper() const { return has_helper_; }

    // All is done, and run() and run_helper() are to return.
    void stop() {
        stopping_.store(true, std::memory_order_relaxed);
        submitted_.fetch_add(1, std::memory_order_release);
        wake(submitted_);
    }

    // As new, with no thread in run() or run_helper().
    void reset() {
        stopping_ = false;
        has_helper_ = false;
        submitted_ = 0;
        done_ = 0;
        helped_ = 0;
    }

    // --- For all

    // The system has refused to let a thread sleep or to wake one. Nothing is lost, but waiting takes processor time
    // and a wake may be late.
    bool fails() const { return fails_.load(std::memory_order_relaxed); }

    // Looks a while before it sleeps: the other side is mostly about to come. (perl with data objects: five times as
    // long takes 1.05 of the processor time, an eighth of that 1.03 of the time.)
    void wait_while(WaitWord& word, std::uint32_t value) {
        for (int i = 0; i < 400; ++i) {
            if (word.load(std::memory_order_acquire) != value) return;
            relax_processor();
        }
        while (word.load(std::memory_order_acquire) == value) {
            if (fails()) {
                relax_processor();
            } else if (!Sleeper::sleep(word, value)) {
                fails_.store(true, std::memory_order_relaxed);
            }
        }
    }

private:
    void wake(WaitWord& word) {
        if (!Sleeper::wake(word)) fails_.store(true, std::memory_order_relaxed);
    }

    void ring() {
        progress_.fetch_add(1, std::memory_order_release);
        wake(progress_);
    }

    void serve() {
        if (asking_.load(std::memory_order_acquire) == 0) return;
        task_(argument_);
        asking_.store(0, std::memory_order_release);
        wake(asking_);
    }

    // Batches are numbered from 0, and again after 2^32, of which kMostSubmitted is a divisor.
    Batch batches_[kMostSubmitted]{};
    SpinLock turn_;
    Task task_ = nullptr;
    void* argument_ = nullptr;
    bool has_helper_ = false;  // only for the thread that submits
    WaitWord submitted_;
    WaitWord done_;
    WaitWord helped_;
    WaitWord progress_;
    WaitWord asking_{0};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> fails_{false};
};

}  // namespace bd
