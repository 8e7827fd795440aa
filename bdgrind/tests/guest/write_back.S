// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines that were written to, and leave the LL. It is direct-mapped, and `high` lies one LL size above `low`: line n of
// one evicts line n of the other.
//
//   write 100 lines of low      DLmw 100
//   read 100 lines of high      DLmr 100   each evicts a dirty line
//   read 100 lines of low       DLmr 100   clean ones
//   write 100 lines of high     DLmw 100   clean ones: they were read again, after having been written back
//   write 50 lines of low       DLmw 50    dirty ones
//   write one line              DLmw 1     where the code of `late` is to go, whose fetch then drives it out
//
// build: -nostdlib -static -no-pie
// run: --I1=1024,2,64 --D1=512,1,64 --LL=65536,1,64 --simulate-wb=yes
// last: 3
// expect: total DLmr = 200; DLmw = 251; D1mr = 200; D1mw = 251
// expect: total DLdmr = 100; DLdmw = 50; ILdmr = 1
// expect: self late ILdmr = 1; DLdmr = 0; self (below main) DLdmr = 100; DLdmw = 50

#include "start.h"

    ARRAY low, 65536
    ARRAY high, 65536

.macro LINES count, array, instruction:vararg
    mov $\array, %esi
    mov $\count, %ecx
1:
    \instruction
    add $64, %rsi
    dec %ecx
    jnz 1b
.endm

    FUNCTION _start
    jmp .Lbegin
.Lend:
    EXIT 0
.Lbegin:
    LINES 100, low, mov %al, (%rsi)
    LINES 100, high, mov (%rsi), %al
    LINES 100, low, mov (%rsi), %al
    LINES 100, high, mov %al, (%rsi)
    LINES 50, low, mov %al, (%rsi)
    mov $late, %eax
    sub $low, %eax
    and $0xffff, %eax
    mov %al, low(%rax)
    jmp late
    END _start

    FUNCTION late
    jmp .Lend
    END late
