// SPDX-License-Identifier: GPL-2.0-or-later
//
// For guest programs whose totals are worked out completely: no library, no stack unless they make
// one, nothing executed but what stands in the file. Code begins at a cache line, and every byte of
// it is executed: n bytes of code lose 64 - n bytes of an instruction line.

.macro EXIT status
    mov $\status, %edi
    mov $60, %eax
    syscall
.endm

// A zeroed array, aligned to a page.
.macro ARRAY name, bytes
    .bss
    .balign 4096
\name:
    .skip \bytes
    .text
.endm

.macro START
    .globl _start
    .type _start, @function
    .balign 64
_start:
.endm
