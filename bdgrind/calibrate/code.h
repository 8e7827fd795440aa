// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "calibrate/lines.h"

namespace bd::calibrate {

// An instruction of a loop whose data hits L1.
enum class Loop {
    kFree,     // loads and sums of their own: as many at a time as the processor can
    kPlain,    // two of nine need the one before: a checksum of bytes
    kChained,  // each needs the one before
};
std::unique_ptr<Measurement> instructions_of(Loop loop);

// An iteration of a loop with a branch that goes one way or the other; at random, or always the same way. The
// difference is half of a misprediction.
std::unique_ptr<Measurement> branches(bool at_random);

// Two loads from memory that do not depend on each other, with so many instructions that do nothing behind each:
// as long as both are looked at at the same time, they take the time of one.
std::vector<int> distances_of_loads();  // for which there is code
std::unique_ptr<Measurement> distant_loads(const Buffer& buffer, int instructions, std::size_t line);

}  // namespace bd::calibrate
