// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calls that were open when threads were created. A thread has its own call stack, so its costs are not costs of
// these calls, but reports may show them there.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/calls/execution.h"
#include "engine/costs/contexts.h"

namespace bd {

// The threads that began in `root` and were created by `creators`: the contexts of the open calls, outermost first,
// each called by the one before it. Recursion is left out, except for the calls that lead on.
struct ThreadOrigin {
    const Context* root;
    std::vector<const Context*> creators;
    std::uint64_t threads;
};

class ThreadOrigins {
public:
    // Notes that `creator` creates the thread.
    void begin(std::uint32_t thread, const Execution& creator);

    // Notes that the thread, whose execution this is, ends. Threads without a known creator are not counted.
    void end(std::uint32_t thread, const Execution& execution);

    // Adds the origin of a thread that is still running to `origins`.
    void add_running(std::uint32_t thread, const Execution& execution, std::vector<ThreadOrigin>* origins) const;

    // The origins of the threads that have ended.
    const std::vector<ThreadOrigin>& ended() const { return ended_; }

    void forget();

private:
    std::vector<std::vector<const Context*>> creators_;  // by thread; empty: not known
    std::vector<ThreadOrigin> ended_;
};

}  // namespace bd
