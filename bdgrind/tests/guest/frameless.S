// SPDX-License-Identifier: GPL-2.0-or-later
//
// Assembly that uses the stack in its own way.
//
//   drops_caller      takes its caller's return address off the stack, returns to main: the call to
//                     its caller, through_dropper, is left with it
//   jumps_back        pops its return address and jumps there: a return in all but name
//   pushes_target     pushes the address of `target` and returns: that is a call of target, for there
//                     was no call that it could return from; target's return leaves both
//
// After each of them main calls `after`; were a call still open, main would not be its caller.
//
// build: -nostdlib -static -no-pie
// last: 3
// expect: calls main > through_dropper = 10; through_dropper > drops_caller = 10
// expect: calls main > jumps_back = 10; main > pushes_target = 10; pushes_target > target = 10
// expect: calls main > after = 30; after = 30

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
    call through_dropper
    call after
    call jumps_back
    call after
    call pushes_target
    call after
    dec %ebx
    jnz .Lround
    ret
    END main

    FUNCTION through_dropper
    nop
    call drops_caller
    ud2
    END through_dropper

    FUNCTION drops_caller
    add $8, %rsp
    ret
    END drops_caller

    FUNCTION jumps_back
    pop %rax
    jmp *%rax
    END jumps_back

    FUNCTION pushes_target
    push $target
    ret
    END pushes_target

    FUNCTION target
    ret
    END target

    FUNCTION after
    ret
    END after
