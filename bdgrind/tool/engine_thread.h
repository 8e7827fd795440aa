// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine on a thread of its own: while the guest fills one batch of the trace, batches before it are replayed.
//
// Valgrind knows nothing of that thread and is not made for one. So it is made with the clone system call, runs with
// all signals blocked, calls no Valgrind function, allocates from the tool's heap only (which has memory in advance,
// see heap.h), and waits on futexes.

#pragma once

#include "engine/trace/trace.h"

namespace bd {

class EngineThread {
public:
    // So many submitted batches may be not done.
    static constexpr unsigned kMostBatches = 32;

    // Replays one batch; called on the engine's thread.
    using Work = void (*)(Batch batch);

    // Whether this platform can have one, and whether it would help: more than one processor is available.
    static bool is_possible();
    static bool is_useful();

    // Whether the caller runs on it.
    static bool is_here();

    // Does what the engine asks for; called on Valgrind's own thread while the engine waits.
    using Serve = void (*)();

    // Takes some work off the engine; called on Valgrind's own thread while that would have to wait. False: there is
    // none.
    using Help = bool (*)();

    // Starts the thread. False if the system does not let us.
    static bool start(Work work, Serve serve, Help help);

    // To be called on the thread: waits until it has been served, for which the other one has to wait, too.
    static void ask();

    // Hands on a batch, which must stay as it is until it is done.
    static void submit(Batch batch);

    // Waits until at most `count` submitted batches are not done.
    static void wait(unsigned count);

    // Ends the thread, once all is done.
    static void stop();

    // In a forked child, which has not inherited the thread: as if it had never been started.
    static void forget();
};

}  // namespace bd
