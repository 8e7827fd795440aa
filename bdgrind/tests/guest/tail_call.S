// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tail calls: first jumps to second, second to third, third returns to main. A jump to the beginning
// of a function is a call, and one return leaves all three. `after`, called next, must be called by
// main. Each of first, second and third executes its instructions in each of 10 rounds.
//
// build: -nostdlib -static -no-pie
// last: 3
// expect: calls main > first = 10; first > second = 10; second > third = 10; main > after = 10
// expect: calls first = 10; second = 10; third = 10; after = 10
// expect: inclusive first Ir = 10 * 4; inclusive second Ir = 10 * 3; inclusive third Ir = 10 * 1
// expect: self first Ir = 10; self second Ir = 20; inclusive main Ir = 1 + 10 * (4 + 4 + 1) + 1

#include "start.h"

    ARRAY stack, 4096

    FUNCTION _start
    mov $stack+4096, %esp
    call main
    EXIT 0
    END _start

    FUNCTION main
    mov $10, %ebx
.Lround:
    call first
    call after
    dec %ebx
    jnz .Lround
    ret
    END main

    FUNCTION first
    jmp second
    END first

    FUNCTION second
    nop
    jmp third
    END second

    FUNCTION third
    ret
    END third

    FUNCTION after
    ret
    END after
