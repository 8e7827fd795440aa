// SPDX-License-Identifier: GPL-2.0-or-later
//
// Instructions with a REP prefix. Each iteration is an instruction of its own; the one that finds
// nothing left to do is an instruction as well, without an access.
//
//   rep movsb, 100 bytes       101 instructions, 100 reads, 100 writes
//   rep movsb, nothing left      1
//   rep stosq, 10 words         11                           10
//   repe cmpsb, equal for 50,   50              2 * 50
//     differs at the 50th
//
// The bytes lie in lines of their own: copied from array (2 lines), to array + 1024 (2 lines),
// stored to array + 2048 (2 lines), compared at array + 3072 (1 line) and array + 4096 (1 line).
// The compared bytes are equal, 0, but for the last: the program sets it to 49 beforehand.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=65536,16,64 --LL=65536,16,64
// expect: total Ir = 3 + 101 + 1 + 2 + 11 + 4 + 50 + 3; Dr = 100 + 2 * 50; Dw = 100 + 10 + 1
// expect: total D1mr = 2 + 1; D1mw = 2 + 2 + 1; DLmr = 3; DLmw = 5
// expect: total UsByte1 = 100 + 100 + 80 + 50 + 50 + 69; EvLine1 = 8 + 2
// expect: total SpLoss1 = 10 * 64 - 449

#include "start.h"

    ARRAY array, 8192

    FUNCTION _start
    mov $array, %esi
    mov $array+1024, %edi
    mov $100, %ecx
    rep movsb
    rep movsb
    mov $array+2048, %edi
    mov $10, %ecx
    rep stosq
    movb $49, array+4096+49
    mov $array+3072, %esi
    mov $array+4096, %edi
    mov $60, %ecx
    repe cmpsb
    EXIT 0
    END _start
