// SPDX-License-Identifier: GPL-2.0-or-later
//
// Five lines that are read 1, 999, 1000, 1001 and 70,000 times. The access cost of a line is
// 1000 / n, rounded down: 1000, 1, 1, 0 and 0. The count must not stop, or begin again, at 16 bits.
//
// Only the first byte of each line is used. The numbers lie in a line of their own; the code is 43 bytes in one line.
//
// build: -nostdlib -static -no-pie
// last: 3
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// expect: total Ir = 2 + 5 + 3 * 73001 + 5 * 4 + 3
// expect: total Dr = 73001 + 5; D1mr = 5 + 1; DLmr = 5 + 1
// expect: total AcCost1 = 1000 + 1 + 1 + 200; AcCost2 = 1000 + 1 + 1 + 200

#include "start.h"

    .section .rodata
    .balign 64
times:
    .int 1, 999, 1000, 1001, 70000

    ARRAY array, 5*64

    FUNCTION _start
    xor %esi, %esi
    mov $array, %edi
.Lline:
    mov times(,%rsi,4), %ecx
.Lread:
    movzbl (%rdi), %eax
    dec %ecx
    jnz .Lread
    add $64, %edi
    inc %esi
    cmp $5, %esi
    jb .Lline
    EXIT 0
    END _start
