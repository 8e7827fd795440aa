// SPDX-License-Identifier: GPL-2.0-or-later
//
// A line that is executed and read: I1 and D1 each hold a copy, and in LL their usage meets. The
// program reads 8 bytes of its own first instruction twice and 8 bytes behind its last one once:
//
//            used                  accesses
//   I1       33                    6
//   D1       8 + 8                 3
//   LL       33 + 8                6 + 3
//
// It is one miss of LL: the fetch loads the line there before the read asks for it.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64
// expect: total Ir = 6; Dr = 3; I1mr = 1; D1mr = 1; ILmr = 1; DLmr = 0
// expect: total AcCost1 = 1000 // 6 + 1000 // 3; AcCost2 = 1000 // 9; EvLine1 = 2; EvLine2 = 1
// expect: total SpLoss1 = 31 + 48; SpLoss2 = 23; UsByte1 = 49; UsByte2 = 41; Access2 = 9

#include "start.h"

    FUNCTION _start
    mov _start(%rip), %rbx
    mov _start(%rip), %rbp
    mov _start+56(%rip), %r8
    EXIT 0
    END _start
