// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts system calls and the time they take, for --collect-systime.

#pragma once

namespace bd {

// Registers with the core if the options ask for it; to be called once they are complete.
void watch_system_calls();

}  // namespace bd
