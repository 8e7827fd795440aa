// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines evicted from LL while their copies in D1 and I1 live on. LL has 64 sets of one line; line 0
// and line 64 of the array share a set, and line 32 shares that of the code. (The array begins 32
// lines off a page, the code at a page.)
//
//   read line 0, bytes 0-7        D1 and LL load it
//   read line 64, bytes 0-15      LL evicts line 0, which first takes over 8 bytes, 1 access
//   read line 0, bytes 32-39      hits D1: LL hears nothing of it, neither now nor at the end, where
//                                 its set holds line 64
//   read line 32, bytes 0-7       LL evicts the code, which first takes over 32 bytes, 4 accesses
//                                 from I1
//
//              used    accesses                   used    accesses
//   D1 0       16      2               LL 0       8       1
//   D1 64      16      1               LL 64      16      1
//   D1 32      8       1               LL 32      8       1
//   I1 code    44      7               LL code    32      4
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=4096,64,64 --LL=4096,1,64
// expect: total Ir = 7; Dr = 4; D1mr = 3; DLmr = 3; I1mr = 1; ILmr = 1
// expect: total AcCost1 = 500 + 1000 + 1000 + 1000 // 7; AcCost2 = 3 * 1000 + 250
// expect: total SpLoss1 = 48 + 48 + 56 + 20; SpLoss2 = 56 + 48 + 56 + 32
// expect: total EvLine1 = 4; EvLine2 = 4; UsByte1 = 84; UsByte2 = 64; Access1 = 11; Access2 = 7

#include "start.h"

    ARRAY page, 2048 + 65*64
    .set array, page + 2048

    FUNCTION _start
    mov array, %rbx
    movups array+64*64, %xmm0
    mov array+32, %rbp
    mov array+32*64, %r8
    EXIT 0
    END _start
