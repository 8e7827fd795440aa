// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../attribution.S: who is charged for a line that is evicted long after the call that loaded it has returned.
//
//   main -- 3 x --> a -- 1 x --> helper      reads a byte of each of 100 lines
//        -- 5 x --> b -- 1 x --> helper      reads a byte of each of 10 lines
//
// All these lines lie in set 0 of D1, which has 2 ways: each read misses, and evicts what was loaded
// two reads ago. So the last two lines of a call to helper are evicted in the next one, those of
// a's last call under b, and b's last two when everything is over. Nevertheless:
//
//   function    lines loaded                  their loss
//   helper      350, and its code             350 * 63 + 64 - 24
//   a           300 by helper, the code of    300 * 63 + 64 - 24 + 64 - 28
//                 helper and its own
//   b           50 by helper, its own code    50 * 63 + 64 - 28
//   main        350, four lines of code and   350 * 63 + 4 * 64 - 44 - 28 - 28 - 24 + 64 - 16
//                 the stack
//
// The stack is one line in set 7; main loads it when it keeps its return address, a and b keep theirs in 8 other bytes
// of it. Each function's code is a line of its own, the loop of helper not at its beginning.
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=1048576,16,64
// last: 3
// expect: calls (below main) > main = 1; main > a = 3; main > b = 5
// expect: calls a > helper = 3; b > helper = 5; helper = 8
// expect: self helper EvLine1 = 351; SpLoss1 = 350 * 63 + 40; D1mr = 350; Ir = 8 + 4 * 350 + 8
// expect: self a EvLine1 = 1; SpLoss1 = 36; D1mr = 0; Ir = 3 * 7
// expect: self b EvLine1 = 1; SpLoss1 = 36; D1mr = 0; Ir = 5 * 7
// expect: self main EvLine1 = 2; SpLoss1 = 20 + 48; D1mw = 1; Ir = 2 + 3 * 3 + 1 + 5 * 3 + 2
// expect: inclusive a EvLine1 = 300 + 2; SpLoss1 = 300 * 63 + 40 + 36; AcCost1 = 300 * 1000 + 47
// expect: inclusive b EvLine1 = 50 + 1; SpLoss1 = 50 * 63 + 36
// expect: inclusive main EvLine1 = 350 + 5; SpLoss1 = 350 * 63 + 40 + 36 + 36 + 20 + 48
// expect: inclusive main EvLine2 = 110 + 5; SpLoss2 = 110 * 63 + 40 + 36 + 36 + 20 + 48; DLmr = 110
// expect: inclusive a EvLine2 = 100 + 2; AcCost2 = 100 * 333 + 47
// expect: inclusive b EvLine2 = 10 + 1; AcCost2 = 10 * 200 + 28
// expect: self (below main) EvLine1 = 1; SpLoss1 = 64 - 28; D1mw = 0
// expect: total SpLoss1 = 350 * 63 + 40 + 36 + 36 + 20 + 48 + 36; EvLine1 = 356; EvLine2 = 116

#include "start.h"

    ARRAY stack, 4096
    ARRAY lines_of_a, 100*512
    ARRAY lines_of_b, 10*512

    FUNCTION _start
    ADDRESS x0, stack+4096
    mov sp, x0
    bl main
    EXIT 0
    END _start

    FUNCTION main
    ENTER
    mov w19, #3
.La:
    bl a
    subs w19, w19, #1
    b.ne .La
    mov w19, #5
.Lb:
    bl b
    subs w19, w19, #1
    b.ne .Lb
    LEAVE
    END main

    FUNCTION a
    ENTER
    ADDRESS x1, lines_of_a
    mov w2, #100
    bl helper
    LEAVE
    END a

    FUNCTION b
    ENTER
    ADDRESS x1, lines_of_b
    mov w2, #10
    bl helper
    LEAVE
    END b

    FUNCTION helper
    nop
.Lline:
    ldrb w3, [x1]
    add x1, x1, #512
    subs w2, w2, #1
    b.ne .Lline
    ret
    END helper
