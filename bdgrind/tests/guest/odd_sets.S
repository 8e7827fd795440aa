// SPDX-License-Identifier: GPL-2.0-or-later
//
// 48 sets of one line in D1 and LL: not a power of two. Lines 48 apart share a set, lines 64 apart
// do not, and 48 lines in a row fill the cache without pushing each other out.
//
//   10 times lines 0 and 48 in turn:      20 misses of D1; in LL, direct mapped too, 20
//   10 times lines 5 and 69 in turn:      2 misses (with 32 or 64 sets: 20)
//   two rounds over lines 0 to 47:        set of 0 holds 48, 5 is still there, 69 sits in the set of
//                                         21: 47 misses, then none (with 32 sets: 32 and more)
//
// Callgrind cannot simulate such caches. The code is 90 bytes in two lines. The rounds push them out of LL, but I1 holds them to the end.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=3072,1,64 --LL=3072,1,64
// expect: total Dr = 20 + 20 + 96; D1mr = 20 + 2 + 47; DLmr = 20 + 2 + 47; Dw = 0; ILmr = 2
// expect: total EvLine1 = 69 + 2; EvLine2 = 69 + 2; SpLoss1 = 69 * 56 + 128 - 90

#include "start.h"

    ARRAY array, 70*64

    FUNCTION _start
    mov $10, %ecx
.Lclash:
    mov array, %rax
    mov array+48*64, %rdx
    dec %ecx
    jnz .Lclash
    mov $10, %ecx
.Lno_clash:
    mov array+5*64, %rax
    mov array+69*64, %rdx
    dec %ecx
    jnz .Lno_clash
    mov $2, %edx
.Lround:
    xor %eax, %eax
.Lline:
    mov array(%rax), %rcx
    add $64, %eax
    cmp $48*64, %eax
    jb .Lline
    dec %edx
    jnz .Lround
    EXIT 0
    END _start
