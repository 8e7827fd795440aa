// SPDX-License-Identifier: GPL-2.0-or-later
//
// Without symbols, functions are known by where calls go. The program calls one function twice
// and another three times; its costs are those of the same program with symbols.
//
// build: -nostdlib -static -no-pie -s
// last: 3
// expect: total Ir = 1 + 2 * 2 + 3 * 3 + 3; Dw = 5; Dr = 5

#include "start.h"

    ARRAY stack, 4096

    FUNCTION _start
    mov $stack+4096, %esp
    call two
    call two
    call three
    call three
    call three
    EXIT 0
    END _start

    FUNCTION two
    ret
    END two

    FUNCTION three
    nop
    ret
    END three
