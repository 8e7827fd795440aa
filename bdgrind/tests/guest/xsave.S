// SPDX-License-Identifier: GPL-2.0-or-later
//
// xsave and xrstor of the x87 and SSE states. xsave stores what fxsave does (see fxsave.S) and 8
// bytes of a header at 512; xrstor reads the header's first 24 bytes, then the rest.
//
//                           lines
//   160 bytes               0-2: one miss
//   XMM0-15  (160-415)      2-6: 4 misses
//   header   (512-535)      8: a miss
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// needs: xsave avx
// callgrind: no
// expect: total Ir = 7; Dw = 2 + 16 + 1; Dr = 2 + 16 + 3; D1mw = 1 + 4 + 1; D1mr = 0; DLmw = 6
// expect: total EvLine1 = 8 + 1; UsByte1 = 416 + 24 + 35; SpLoss1 = 8 * 64 - 440 + 64 - 35

#include "start.h"

    ARRAY array, 1024

    FUNCTION _start
    mov $3, %eax
    xor %edx, %edx
    xsave array
    xrstor array
    EXIT 0
    END _start
