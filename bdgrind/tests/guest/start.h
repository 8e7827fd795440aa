// SPDX-License-Identifier: GPL-2.0-or-later
//
// For guest programs whose totals are worked out completely: no library, no stack unless they make
// one, nothing executed but what stands in the file. Code begins at a cache line, and every byte of
// it is executed: n bytes of code lose 64 - n bytes of an instruction line.

// Valgrind reads the symbols of a file only if it maps something writable from it.
    .data
    .quad 0
    .text

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

// A function at the beginning of a cache line. Valgrind ignores symbols without a size: END sets it.
.macro FUNCTION name
    .globl \name
    .type \name, @function
    .balign 64
\name:
.endm

.macro END name
    .size \name, . - \name
.endm
