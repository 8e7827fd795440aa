// SPDX-License-Identifier: GPL-2.0-or-later
//
// A replay loop: runs the records of a trace through caches and calls. There are several, each compiled for some of the
// options.

#pragma once

#include <cstddef>
#include <memory>

#include "engine/trace/trace.h"

namespace bd {

struct EngineState;

class Replay {
public:
    virtual ~Replay() = default;

    // Processes whole records, up to the first that makes requests. Returns the number of words processed.
    virtual std::size_t run(Batch batch) = 0;

    // See Engine.
    virtual void announce(Batch batch) = 0;
    virtual bool advance() = 0;
    virtual bool is_supplied() const = 0;

    // Empties the caches, as if every line were evicted.
    virtual void flush() = 0;

    // Lines that are cached now will not be charged when they are evicted.
    virtual void drop_charges() = 0;

    static std::unique_ptr<Replay> make(EngineState& state);
};

}  // namespace bd
