// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../compare_and_swap.S: atomic instructions, each on a line of its own. What reads and writes one place is one
// access, counted as a write. Of ldadd, swp and stset, VEX reads the old value first and then makes a compare-and-swap
// of it: a read, which is the miss, and a write that hits. If that failed, it would leave the block for the same
// instruction once more, which is no branch of the program's. (Before a store that has lost its reservation it would do
// so for the next one.) There are two branches, both not taken: of the loop, and one to itself.
//
//               Dr    Dw    bytes
//   cas         -     1     8
//   casp        -     1     16
//   cas         -     1     4
//   ldadd       1     1     8
//   swp         1     1     8
//   stset       1     1     8
//   ldxr        1     -     8
//   stxr        -     1     the same
//
// The code has 21 instructions: 16 in its first line, 5 in the second.
//
// build: -nostdlib -static -no-pie -march=armv8.1-a
// needs: atomics
// callgrind: no
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64 --branch-sim=yes
// expect: total Ir = 21; Dr = 4; Dw = 7; D1mr = 4; D1mw = 3; DLmr = 4; DLmw = 3
// expect: total Bc = 2; Bcm = 0; Bi = 0
// expect: total AcCost1 = 3 * 1000 + 4 * 500 + 1000 // 16 + 1000 // 5; EvLine1 = 7 + 2
// expect: total UsByte1 = 5 * 8 + 16 + 4 + 84; SpLoss1 = 9 * 64 - 144

#include "start.h"

    ARRAY array, 7*64

    FUNCTION _start
    ADDRESS x0, array
    cas x1, x2, [x0]
    add x0, x0, #64
    casp x2, x3, x4, x5, [x0]
    add x0, x0, #64
    cas w1, w2, [x0]
    add x0, x0, #64
    ldadd x1, x2, [x0]
    add x0, x0, #64
    swp x1, x2, [x0]
    add x0, x0, #64
    stset x1, [x0]
    add x0, x0, #64
.Lagain:
    ldxr x1, [x0]
    stxr w2, x1, [x0]
    cbnz w2, .Lagain
    cbz x0, .
    EXIT 0
    END _start
