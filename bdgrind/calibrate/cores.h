// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "calibrate/rounds.h"

namespace bd::calibrate {

// The time until a processor has a line that another one has written: they write to it in turn. Null if this process
// may use only processors of one core.
std::unique_ptr<Measurement> transfers();

}  // namespace bd::calibrate
