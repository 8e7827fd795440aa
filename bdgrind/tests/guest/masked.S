// SPDX-License-Identifier: GPL-2.0-or-later
//
// Masked loads and stores: only the lanes whose mask is set are accesses. The mask sets lanes 0, 3
// and 7 of eight; the second pair of instructions has an empty mask and touches nothing.
//
//                     Dr    Dw    bytes
//   the mask          1           32
//   masked load       3           3 * 4      one line: the first lane misses
//   masked store            3     3 * 4      likewise
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// needs: avx2
// expect: total Ir = 10; Dr = 4; Dw = 3; D1mr = 2; D1mw = 1; DLmr = 2; DLmw = 1; I1mr = 1
// expect: total AcCost1 = 1000 + 333 + 333 + 1000 // 10; EvLine1 = 4; Access1 = 7 + 10
// expect: total UsByte1 = 32 + 12 + 12 + 59; SpLoss1 = 32 + 52 + 52 + 64 - 59

#include "start.h"

    .section .rodata
    .balign 64
mask:
    .int -1, 0, 0, -1, 0, 0, 0, -1

    ARRAY array, 4*64

    FUNCTION _start
    mov $array, %ebx
    vmovdqa mask, %ymm1
    vpmaskmovd (%rbx), %ymm1, %ymm2
    vpmaskmovd %ymm2, %ymm1, 64(%rbx)
    vpxor %ymm1, %ymm1, %ymm1
    vpmaskmovd 128(%rbx), %ymm1, %ymm2
    vpmaskmovd %ymm2, %ymm1, 192(%rbx)
    EXIT 0
    END _start
