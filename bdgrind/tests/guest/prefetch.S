// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads a byte of each of 100 lines, upwards, with a prefetcher for the LL. The third line in a row of a page (64
// lines) fetches the fifth behind it, and so does each after it:
//
//   lines      of the LL
//   0 to 6     missed; 2 to 63 fetch 7 to 68
//   7 to 68    there
//   69, 70     missed: in a new page, 66 is the third; 66 to 99 fetch 71 to 104
//   71 to 99   there
//
// So 9 lines were loaded by misses and 62 + 34 by prefetches, of which 100 to 104 are never used: 1000 and 64 bytes
// each. The code is one line: 32 bytes, 405 instructions.
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=1024,2,64 --LL=65536,4,64 --simulate-hwpref=yes
// oracle: no
// last: 3
// expect: total Ir = 405; D1mr = 100; DLmr = 9; ILmr = 1
// expect: total EvLine1 = 101; SpLoss1 = 100 * 63 + 32; AcCost1 = 100 * 1000 + 2
// expect: total EvLine2 = 105 + 1; UsByte2 = 100 + 32; Access2 = 100 + 405
// expect: total SpLoss2 = 100 * 63 + 5 * 64 + 32; AcCost2 = 105 * 1000 + 2

#include "start.h"

    ARRAY array, 16384

    FUNCTION _start
    mov $array, %esi
    mov $100, %ecx
.Lnext:
    mov (%rsi), %al
    add $64, %rsi
    dec %ecx
    jnz .Lnext
    EXIT 0
    END _start
