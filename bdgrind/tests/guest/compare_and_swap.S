// SPDX-License-Identifier: GPL-2.0-or-later
//
// Atomic instructions and their unlocked relatives, each on a line of its own. What reads and
// writes one place is one access, counted as a write. A compare-and-swap that fails (the fifth)
// counts like one that succeeds. For xadd, xchg and lock inc VEX reads the old value first and then
// makes a compare-and-swap of it: a read, which is the miss, and a write that hits.
//
//                        Dr    Dw    bytes
//   lock cmpxchg         -     1     8
//   cmpxchg              -     1     8
//   lock cmpxchg16b      -     1     16
//   cmpxchg8b            -     1     8
//   lock cmpxchg         -     1     4
//   lock xadd            1     1     8
//   xchg                 1     1     8
//   lock inc             1     1     8
//   inc                  -     1     8
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// expect: total Dr = 3; Dw = 9; D1mr = 3; D1mw = 6; DLmr = 3; DLmw = 6
// expect: total AcCost1 = 6 * 1000 + 3 * 500 + 1000 // 8 + 1000 // 6; EvLine1 = 9 + 2
// expect: total UsByte1 = 7 * 8 + 16 + 4 + 98; SpLoss1 = 11 * 64 - 174

#include "start.h"

    ARRAY array, 9*64

    FUNCTION _start
    lock cmpxchg %rbx, array
    cmpxchg %rbx, array+64
    lock cmpxchg16b array+128
    cmpxchg8b array+192
    mov $1, %eax
    lock cmpxchg %ebx, array+256
    lock xadd %rbx, array+320
    xchg %rbx, array+384
    lock incq array+448
    incq array+512
    EXIT 0
    END _start
