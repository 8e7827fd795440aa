// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the tool wants to know of system calls: the time they take, for --collect-systime, that another program is about
// to be executed, and which of them could see the engine's thread.

#pragma once

namespace bd {

// Registers with the core; to be called once the options are complete.
void watch_system_calls();

}  // namespace bd
