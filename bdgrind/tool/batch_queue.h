// SPDX-License-Identifier: GPL-2.0-or-later
//
// Batches of the trace on their way between two threads: one submits them, the other, the engine's, works on them in
// order. The engine's thread may also ask for what only the other one may do.
//
// Nothing is shared but what is below, and of that nothing is written by both at a time:
//
//   batches_    a slot is written before submitted_ says so and read before done_ does; submit() checks that they do
//               not meet
//   submitted_  written by the thread that submits; releases the slot, and stopping_
//   done_       written by the engine's thread; releases all that it did with the batch
//   task_       written by the engine's thread before asking_ says so; the other then has it until it clears asking_,
//               for the engine waits
//   progress_   no more than a bell: it changes after done_ or asking_ has
//   fails_      only ever set, by either; a late look at it costs time, not order
//
// All of them are read with acquire where they are waited for and written with release.

#pragma once

#include <atomic>
#include <cstdint>

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
//                       must after some, in case that the other thread has been refused a wake.
//   wake(word)          wakes the thread that sleeps there
//
// If the system refuses, which filters of system calls do, both sides look again and again instead of sleeping.
template <class Sleeper>
class BatchQueue {
public:
    using Work = void (*)(Batch batch);
    using Task = void (*)();
    using Help = bool (*)();

    // `first`: the number that batches begin with.
    constexpr explicit BatchQueue(std::uint32_t first = 0) : submitted_(first), done_(first), progress_(first) {}

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

    // Waits until the other thread has carried out `task`: when it submits or waits for the next time.
    void ask(Task task) {
        task_ = task;
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

    // Waits until at most `count` submitted batches are not done. Calls `help` while it would have to wait, until that
    // returns that there is nothing to help with.
    void wait(unsigned count, Help help) {
        const std::uint32_t all = submitted_.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t seen = progress_.load(std::memory_order_acquire);
            serve();
            if (all - done_.load(std::memory_order_acquire) <= count) return;
            if (!help()) wait_while(progress_, seen);
        }
    }

    // All is done, and run() is to return.
    void stop() {
        stopping_.store(true, std::memory_order_relaxed);
        submitted_.fetch_add(1, std::memory_order_release);
        wake(submitted_);
    }

    // As new, with no thread in run().
    void reset() {
        stopping_ = false;
        submitted_ = 0;
        done_ = 0;
    }

    // --- For both

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
        task_();
        asking_.store(0, std::memory_order_release);
        wake(asking_);
    }

    // Batches are numbered from 0, and again after 2^32, of which kMostSubmitted is a divisor.
    Batch batches_[kMostSubmitted]{};
    Task task_ = nullptr;
    WaitWord submitted_;
    WaitWord done_;
    WaitWord progress_;
    WaitWord asking_{0};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> fails_{false};
};

}  // namespace bd
