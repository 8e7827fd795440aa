// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine on a thread of its own: while the guest fills one batch of the trace, batches before it are replayed.
//
// Valgrind knows nothing of that thread and is not made for one. So it is made with the clone system call, runs with
// all signals blocked, calls no Valgrind function, and asks Valgrind's own thread for what it needs of them. The two
// meet in a BatchQueue, and sleep on futexes.

#pragma once

#include "engine/trace/trace.h"

namespace bd {

class EngineThread {
public:
    // Replays one batch; called on the engine's thread.
    using Work = void (*)(Batch batch);

    // Takes some work off the engine; called on Valgrind's own thread while that would have to wait. False: there is
    // none.
    using Help = bool (*)();

    // Whether this platform can have one, and whether it would help: more than one processor is available.
    static bool is_possible();
    static bool is_useful();

    // Whether the caller runs on it.
    static bool is_here();

    // Starts the thread. False if the system does not let us.
    static bool start(Work work, Help help);

    // To be called on the thread: has something done on Valgrind's own thread, and waits until it has been. No lock may
    // be held that the other one waits for.
    static void ask(void (*task)());

    // Hands on a batch, which must stay as it is until it is done. See kMostSubmitted.
    static void submit(Batch batch);

    // Waits until at most `count` submitted batches are not done.
    static void wait(unsigned count);

    // Whether the system lets the threads no longer sleep or wake each other. All goes on, but should on one thread.
    static bool fails();

    // Ends the thread, once all is done.
    static void stop();

    // In a forked child, which has not inherited the thread: as if it had never been started.
    static void forget();
};

}  // namespace bd
