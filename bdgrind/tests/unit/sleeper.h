// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a BatchQueue sleeps and wakes in tests: by the standard library instead of system calls.

#pragma once

#include <cstdint>

#include "tool/batch_queue.h"

namespace bd::test {

struct Sleeper {
    static bool sleep(WaitWord& word, std::uint32_t value) {
        word.wait(value);
        return true;
    }
    static bool wake(WaitWord& word) {
        word.notify_all();
        return true;
    }
};

}  // namespace bd::test
