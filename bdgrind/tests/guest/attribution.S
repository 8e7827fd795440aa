// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who is charged for a line that is evicted long after the call that loaded it has returned.
//
//   main -- 3 x --> a -- 1 x --> helper      reads a byte of each of 100 lines
//        -- 5 x --> b -- 1 x --> helper      reads a byte of each of 10 lines
//
// All these lines lie in set 0 of D1, which has 2 ways: each read misses, and evicts what was loaded
// two reads ago. So the last two lines of a call to helper are evicted in the next one, those of
// a's last call under b, and b's last two when everything is over. Nevertheless:
//
//   function    lines loaded                  their loss
//   helper      350, and its code             350 * 63 + 64 - 15
//   a           300 by helper, the code of    300 * 63 + 64 - 15 + 64 - 16
//                 helper and its own
//   b           50 by helper, its own code    50 * 63 + 64 - 16
//   main        350, four lines of code       350 * 63 + 4 * 64 - 29 - 16 - 16 - 15
//
// The stack is one line in set 7; _start loads it when it calls main. Three return addresses are
// stored there. Each function's code is a line of its own, the loop of helper not at its beginning.
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=1048576,16,64
// last: 3
// expect: calls (below main) > main = 1; main > a = 3; main > b = 5
// expect: calls a > helper = 3; b > helper = 5; helper = 8
// expect: self helper EvLine1 = 351; SpLoss1 = 350 * 63 + 49; D1mr = 350; Ir = 8 + 4 * 350 + 8
// expect: self a EvLine1 = 1; SpLoss1 = 48; D1mr = 0; Ir = 3 * 4
// expect: self b EvLine1 = 1; SpLoss1 = 48; D1mr = 0; Ir = 5 * 4
// expect: self main EvLine1 = 1; SpLoss1 = 35; Ir = 2 + 3 * 3 + 5 * 3 + 1
// expect: inclusive a EvLine1 = 300 + 2; SpLoss1 = 300 * 63 + 49 + 48; AcCost1 = 300 * 1000 + 83
// expect: inclusive b EvLine1 = 50 + 1; SpLoss1 = 50 * 63 + 48
// expect: inclusive main EvLine1 = 350 + 4; SpLoss1 = 350 * 63 + 256 - 76
// expect: inclusive main EvLine2 = 110 + 4; SpLoss2 = 110 * 63 + 256 - 76; DLmr = 110
// expect: inclusive a EvLine2 = 100 + 2; AcCost2 = 100 * 333 + 83
// expect: inclusive b EvLine2 = 10 + 1; AcCost2 = 10 * 200 + 50
// expect: self (below main) EvLine1 = 2; SpLoss1 = 40 + 64 - 22; D1mw = 1
// expect: total SpLoss1 = 350 * 63 + 256 - 76 + 40 + 42; EvLine1 = 356; EvLine2 = 116

#include "start.h"

    ARRAY stack, 4096
    ARRAY lines_of_a, 100*512
    ARRAY lines_of_b, 10*512

    FUNCTION _start
    mov $stack+4096, %esp
    call main
    EXIT 0
    END _start

    FUNCTION main
    mov $3, %ebx
.La:
    call a
    dec %ebx
    jnz .La
    mov $5, %ebx
.Lb:
    call b
    dec %ebx
    jnz .Lb
    ret
    END main

    FUNCTION a
    mov $lines_of_a, %esi
    mov $100, %ecx
    call helper
    ret
    END a

    FUNCTION b
    mov $lines_of_b, %esi
    mov $10, %ecx
    call helper
    ret
    END b

    FUNCTION helper
    nop
.Lline:
    movzbl (%rsi), %eax
    add $512, %esi
    dec %ecx
    jnz .Lline
    ret
    END helper
