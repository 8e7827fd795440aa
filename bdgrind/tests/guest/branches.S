// SPDX-License-Identifier: GPL-2.0-or-later
//
// Branches, conditional and indirect. The predictor of conditional ones counts separately for each branch and each
// history of seven branches (1: taken); a counter at 0 or 1 predicts "not taken", and one at 3 takes two to turn.
//
//   branch          history before each               taken     mispredicted
//   100 x jnz       0000000, ..., 0111111 (7)         yes       7: each of these counters is new
//                   1111111 (92)                      yes       2, then the counter has got it
//                   1111111                           no        1
//     1 x jz        1111110                           no        0
//    20 x jb        1111100, 1111001, ..., 0111111    yes       7
//                   1111111 (12)                      yes       2
//                   1111111                           no        1
//     5 x jb        1111110, ..., 1110111 (4)         yes       4
//       (dispatch)  1101111                           no        0
//
// VEX turns jnz around, but not jb.
//
// dispatch calls one, one, two, two, one from the same place: the first, third and fifth are mispredicted. The jump
// at the end is, too, as it is executed once. Returns are no branches.
//
// The loops' jumps are followed 99, 19 and 4 times.
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
    .text

    FUNCTION _start
    mov $stack+4096, %esp
    call main
    EXIT 0
    END _start

    FUNCTION main
    mov $100, %ecx
.Lhundred:
    dec %ecx
    jnz .Lhundred
    mov $1, %eax
    test %eax, %eax
    jz .Lend
.Ltwenty:
    inc %ecx
    cmp $20, %ecx
    jb .Ltwenty
    call dispatch
    jmp *end_of_main
    ud2
.Lend:
    ret
    END main

    FUNCTION dispatch
    xor %ebx, %ebx
.Lnext:
    mov table(,%rbx,8), %rax
    call *%rax
    inc %ebx
    cmp $5, %ebx
    jb .Lnext
    ret
    END dispatch

    FUNCTION one
    ret
    END one

    FUNCTION two
    ret
    END two
