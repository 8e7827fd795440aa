// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where threads were created: which calls were open then. A thread has a call stack of its own, so what it costs is no
// cost of these; reports may want to show it below them all the same.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/calls/execution.h"
#include "engine/costs/contexts.h"

namespace bd {

// Threads that began in `root` and were created while `creators` were open: those that lead there, outermost first,
// each called by the one before it. (Of recursion, only the way that leads on.)
struct ThreadOrigin {
    const Context* root;
    std::vector<const Context*> creators;
    std::uint64_t threads;
};

class ThreadOrigins {
public:
    // `creator` creates the thread.
    void begin(std::uint32_t thread, const Execution& creator);

    // The thread ends; `execution` is its own. One that is not known to have been created is none.
    void end(std::uint32_t thread, const Execution& execution);

    // Notes in `origins` where a thread began that has not ended.
    void add_running(std::uint32_t thread, const Execution& execution, std::vector<ThreadOrigin>* origins) const;

    // Of those that have ended.
    const std::vector<ThreadOrigin>& ended() const { return ended_; }

    void forget();

private:
    std::vector<std::vector<const Context*>> creators_;  // by thread; empty: not known
    std::vector<ThreadOrigin> ended_;
};

}  // namespace bd
