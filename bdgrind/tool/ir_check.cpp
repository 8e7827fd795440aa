// SPDX-License-Identifier: GPL-2.0-or-later
//
// VEX checks each block twice while it translates it: as it was decoded, and as the tool has instrumented it and VEX
// cleaned it up. A block that fails ends the run. The checks take as much of a translation as a pass of the optimiser
// does, and what they find are faults of VEX or of instrument.cpp; so the linker puts this in their place (--wrap), and
// they are made where --check-ir=yes asks for them, as the tests do.

#include "tool/options.h"
#include "tool/valgrind.h"

extern "C" {

// VEX' own. A libvex that names it otherwise makes its checks itself, and leaves this without a definition.
[[gnu::weak]] void __real_sanityCheckIRSB(const IRSB* block, const HChar* step, Bool must_be_flat, IRType guest_word);

void __wrap_sanityCheckIRSB(const IRSB* block, const HChar* step, Bool must_be_flat, IRType guest_word) {
    if (bd::options.check_ir && __real_sanityCheckIRSB != nullptr) {
        __real_sanityCheckIRSB(block, step, must_be_flat, guest_word);
    }
}

}  // extern "C"
