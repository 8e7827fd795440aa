// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads of the engine's own. On the first, while the guest fills one batch of the trace, batches before it are
// replayed. A second one helps: it simulates the first-level caches of batches that are not replayed yet.
//
// Valgrind knows nothing of these threads and is not made for them. So they are made with the clone system call, run
// with all signals blocked, call no Valgrind function, and ask Valgrind's own thread for what they need of them. They
// meet in a BatchQueue, and sleep on futexes.

#pragma once

#include <cstddef>

#include "engine/trace/trace.h"

namespace bd {

class EngineThreads {
public:
    static constexpr std::size_t kMost = 2;

    // Replays one batch; called on the first thread.
    using Work = void (*)(Batch batch);

    // Takes some work off the first thread; called on the second, and on Valgrind's own while that would have to wait.
    // False: there is none.
    using Help = bool (*)();

    // Whether this platform can have them.
    static bool is_possible();

    // How many would help, with the processors that are available: one for each that is not the guest's. At most kMost.
    static std::size_t useful_count();

    // Whether the caller runs on one of them.
    static bool is_here();

    // Starts `count` threads, or one if the system does not let us have two. Returns how many; 0: none.
    static std::size_t start(std::size_t count, Work work, Help help);

    // Whether there are two.
    static bool has_helper();

    // To be called on one of them: has something done on Valgrind's own thread, and waits until it has been. No lock
    // may be held that Valgrind's thread waits for.
    static void ask(void (*task)(void* argument), void* argument);

    // Hands on a batch, which must stay as it is until it is done. See kMostSubmitted.
    static void submit(Batch batch);

    // Waits until at most `count` submitted batches are not done; with 0, also until the second thread is idle.
    static void wait(unsigned count);

    // Whether the system lets the threads no longer sleep or wake each other. All goes on, but should on one thread.
    static bool fails();

    // Ends the threads, once all is done.
    static void stop();

    // In a forked child, which has not inherited the threads: as if they had never been started.
    static void forget();
};

}  // namespace bd
