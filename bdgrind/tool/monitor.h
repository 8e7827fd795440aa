// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands from outside, by gdb's "monitor" or by vgdb: look at a run, and steer it. bd_control uses them.

#pragma once

namespace bd {

// False if it is not a command of ours.
bool run_monitor_command(const char* command);

}  // namespace bd
