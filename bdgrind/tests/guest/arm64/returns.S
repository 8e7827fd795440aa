// SPDX-License-Identifier: GPL-2.0-or-later
//
// What VEX's word for a branch does not tell, in each of 10 rounds:
//
//   other_register   returns by another register than x30
//   spins            goes back to its own beginning by a plain branch, 4 times: tail calls of itself (rule 17 of
//                    docs/simulation.md), of which one at a time is open
//   finds_itself     calls its next instruction, to know where it is, and returns past that
//   skips            is left by a plain branch within itself, over what is never executed
//   twice            has a return in the middle that is not always executed
//   by_jump          goes back to its caller by a jump; main calls what comes next
//
// build: -nostdlib -static -no-pie
// last: 3
// expect: calls main > other_register = 10; other_register = 10
// expect: calls main > spins = 10; spins > spins = 4 * 10; spins = 5 * 10
// expect: calls main > finds_itself = 10
// expect: calls main > skips = 10; skips = 10
// expect: calls main > twice = 10; twice > leaf = 5; leaf = 5
// expect: calls main > after = 10; after = 10
// expect: calls main > by_jump = 10; by_jump = 10
// expect: self spins Ir = 10 * (1 + 5 * 2 + 4 + 1); self skips Ir = 10 * 2; self twice Ir = 5 * 2 + 5 * 5
// expect: inclusive twice Ir = 5 * 2 + 5 * 6

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
    bl other_register
    mov w1, #5
    bl spins
    bl finds_itself
    bl skips
    bl twice
    bl by_jump
    bl after
    subs w19, w19, #1
    b.ne .Lround
    LEAVE
    END main

    FUNCTION other_register
    mov x10, x30
    ret x10
    END other_register

    FUNCTION spins
    subs w1, w1, #1
    b.eq .Lenough
    b spins
.Lenough:
    mov w1, #0
    ret
    END spins

    FUNCTION finds_itself
    mov x10, x30
    bl .Lhere
.Lhere:
    mov x11, x30
    mov x30, x10
    ret
    END finds_itself

    FUNCTION skips
    b .Lbehind
    udf #0
.Lbehind:
    ret
    END skips

// The bit says whether the round's number is odd.
    FUNCTION twice
    tbnz w19, #0, .Lodd
    ret
.Lodd:
    ENTER
    bl leaf
    LEAVE
    END twice

    FUNCTION leaf
    ret
    END leaf

    FUNCTION by_jump
    br x30
    END by_jump

    FUNCTION after
    ret
    END after
