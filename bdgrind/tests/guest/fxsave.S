// SPDX-License-Identifier: GPL-2.0-or-later
//
// Accesses larger than a line, and lines of D1 (32 bytes) smaller than those of LL (64 bytes).
//
// fxsave stores 416 bytes: VEX makes it one access of 160 bytes, one of 8 bytes within these, and
// 16 of 16 bytes for the XMM registers behind them. fxrstor reads the same places back.
//
//                           D1 lines           LL lines
//   160 bytes               0-4: one miss      0-2: one miss
//   XMM0-1   (160-191)      5: a miss          2: a hit
//   XMM2-15  (192-415)      6-12: 7 misses     3-6: a miss each, every other miss of D1
//
// In D1 13 lines are loaded and used completely; in LL 7, of which the last one is half used. The
// code is 28 bytes in one line. Callgrind cuts accesses off at the size of a line.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=1024,2,32 --LL=65536,4,64
// expect: total Ir = 5; Dw = 18; Dr = 18; D1mw = 9; D1mr = 0; DLmw = 5; DLmr = 0
// expect: total EvLine1 = 13 + 1; SpLoss1 = 64 - 28; UsByte1 = 416 + 28
// expect: total EvLine2 = 7 + 1; SpLoss2 = 32 + 64 - 28; UsByte2 = 416 + 28

#include "start.h"

    ARRAY array, 512

    FUNCTION _start
    fxsave array
    fxrstor array
    EXIT 0
    END _start
