// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tail calls: first jumps to second by a plain branch, which VEX takes for a call, second to third by a conditional one,
// third to fourth by its address, which returns to main. A jump to the beginning of a function is a call, and one return
// leaves all four. `after`, called next, must be called by main. Each executes its instructions in each of 10 rounds.
//
// build: -nostdlib -static -no-pie
// last: 3
// expect: calls main > first = 10; first > second = 10; second > third = 10; third > fourth = 10; main > after = 10
// expect: calls first = 10; second = 10; third = 10; fourth = 10; after = 10; main > main = 0
// expect: inclusive first Ir = 10 * 7; inclusive second Ir = 10 * 6; inclusive third Ir = 10 * 4
// expect: self first Ir = 10; self second Ir = 20; self third Ir = 30; self fourth Ir = 10
// expect: inclusive main Ir = 2 + 10 * (4 + 7 + 1) + 2

#include "start.h"

    ARRAY stack, 4096

    FUNCTION _start
    ADDRESS x0, stack+4096
    mov sp, x0
    bl main
    EXIT 0
    END _start

    FUNCTION main
    ENTER
    mov w19, #10
.Lround:
    bl first
    bl after
    subs w19, w19, #1
    b.ne .Lround
    LEAVE
    END main

    FUNCTION first
    b second
    END first

    FUNCTION second
    nop
    cbnz w19, third
    END second

    FUNCTION third
    ADDRESS x9, fourth
    br x9
    END third

    FUNCTION fourth
    ret
    END fourth

    FUNCTION after
    ret
    END after
