// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the guest program asks for itself: the requests of bdgrind.h, and those of callgrind.h and cachegrind.h that
// mean the same.

#pragma once

namespace bd {

// Registers with the core; to be called while the tool registers.
void take_client_requests();

}  // namespace bd
