// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../branches.S, where each count is explained: branches, conditional and indirect. The predictor leaves out the
// lowest two bits of addresses, as instructions have 4 bytes.
//
//   branch          history before each               taken     mispredicted
//   100 x b.ne      0000000, ..., 0111111 (7)         yes       7: each of these counters is new
//                   1111111 (92)                      yes       2, then the counter has got it
//                   1111111                           no        1
//     1 x cbz       1111110                           no        0
//    20 x b.lo      1111100, 1111001, ..., 0111111    yes       7
//                   1111111 (12)                      yes       2
//                   1111111                           no        1
//     5 x b.lo      1111110, ..., 1110111 (4)         yes       4
//       (dispatch)  1101111                           no        0
//
// dispatch calls one, one, two, two, one from the same place: the first, third and fifth are mispredicted. The jump
// at the end is, too, as it is executed once. Returns are no branches, whatever register they use. What cbz looks at
// comes from memory: VEX makes no branch of one on a constant.
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,16,64 --branch-sim=yes
// last: 3
// expect: total Bc = 100 + 1 + 20 + 5; Bcm = 10 + 10 + 4; Bi = 5 + 1; Bim = 3 + 1
// expect: self dispatch Bc = 5; Bcm = 4; Bi = 5; Bim = 3
// expect: self one Bc = 0; Bi = 0; self main Bc = 121; Bcm = 20; Bi = 1; Bim = 1
// expect: inclusive main Bc = 126; Bcm = 24; Bi = 6; Bim = 4
// expect: inclusive (below main) Bc = 126; Bim = 4; self (below main) Bc = 0; Bi = 0

#include "start.h"

    ARRAY stack, 4096

    .data
table:
    .quad one, one, two, two, one
end_of_main:
    .quad .Lend
is_set:
    .quad 1
    .text

    FUNCTION _start
    ADDRESS x0, stack+4096
    mov sp, x0
    bl main
    EXIT 0
    END _start

    FUNCTION main
    ENTER
    mov w19, #100
.Lhundred:
    subs w19, w19, #1
    b.ne .Lhundred
    ADDRESS x0, is_set
    ldr x0, [x0]
    cbz x0, .Lend
.Ltwenty:
    add w19, w19, #1
    cmp w19, #20
    b.lo .Ltwenty
    bl dispatch
    ADDRESS x1, end_of_main
    ldr x1, [x1]
    br x1
    udf #0
.Lend:
    LEAVE
    END main

    FUNCTION dispatch
    ENTER
    mov w20, #0
.Lnext:
    ADDRESS x1, table
    ldr x0, [x1, w20, uxtw #3]
    blr x0
    add w20, w20, #1
    cmp w20, #5
    b.lo .Lnext
    LEAVE
    END dispatch

    FUNCTION one
    ret
    END one

    FUNCTION two
    mov x10, x30
    ret x10
    END two
