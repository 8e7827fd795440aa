// SPDX-License-Identifier: GPL-2.0-or-later
//
// One byte used of each 64-byte line, in two rounds: byte 0, then byte 1, of 256 lines. D1 has
// 16 lines, so that the second round misses again; LL holds everything.
//
// Per round 256 lines are loaded into D1, each loses 63 bytes. In LL each line sees both rounds:
// 2 accesses, 62 bytes lost. The code is one line, of which 43 bytes are executed.
//
// build: -nostdlib -static -no-pie
// last: 3
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// expect: total Ir = 1 + 2 * (2 + 256 * 4 + 3) + 3; Dr = 512; Dw = 0
// expect: total I1mr = 1; D1mr = 512; D1mw = 0; ILmr = 1; DLmr = 256; DLmw = 0
// expect: total AcCost1 = 512 * 1000; SpLoss1 = 512 * 63 + 64 - 43; EvLine1 = 513
// expect: total UsByte1 = 512 + 43; Access1 = 512 + 2062
// expect: total AcCost2 = 256 * 500; SpLoss2 = 256 * 62 + 64 - 43; EvLine2 = 257
// expect: total UsByte2 = 512 + 43; Access2 = 512 + 2062

#include "start.h"

    ARRAY array, 256*64

    FUNCTION _start
    xor %esi, %esi
.Lround:
    mov $256, %ecx
    mov $array, %eax
.Lline:
    movzbl (%rax,%rsi), %edx
    add $64, %rax
    dec %ecx
    jnz .Lline
    inc %esi
    cmp $2, %esi
    jb .Lround
    EXIT 0
    END _start
