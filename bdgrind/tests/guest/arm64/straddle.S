// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../straddle.S: accesses that cover two lines. Each is one access and at most one miss, whether one of its lines or
// both are missing; each line it loads has its own usage. Bytes used and accesses, by line:
//
//   access            lines       0      1        2      63     64     65     66     miss
//   read   60, 8      0 and 1     4, 1   4, 1                                        both lines
//   read  120, 8      1                  12, 2                                       -
//   read  124, 8      1 and 2            12, 3    4, 1                               only line 2
//   write 4092, 8     63 and 64                          4, 1   4, 1                 a page, too
//   read  4216, 16    65 and 66                                        8, 1   8, 1   both lines
//
// Seven lines are loaded, 44 of their bytes used. The code is 48 bytes in one line.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=8192,2,64 --LL=65536,4,64
// expect: total Ir = 12; Dr = 4; Dw = 1; I1mr = 1; D1mr = 3; D1mw = 1; ILmr = 1; DLmr = 3; DLmw = 1
// expect: total AcCost1 = 6 * 1000 + 333 + 1000 // 12; AcCost2 = 6 * 1000 + 333 + 1000 // 12
// expect: total SpLoss1 = 7 * 64 - 44 + 64 - 48; SpLoss2 = 7 * 64 - 44 + 64 - 48
// expect: total EvLine1 = 8; UsByte1 = 44 + 48; Access1 = 9 + 12

#include "start.h"

    ARRAY array, 8192

    FUNCTION _start
    ADDRESS x0, array
    ldur x1, [x0, #60]
    ldur x2, [x0, #120]
    ldur x3, [x0, #124]
    add x4, x0, #4092
    str x1, [x4]
    add x5, x4, #124
    ldr q0, [x5]
    EXIT 0
    END _start
