// SPDX-License-Identifier: GPL-2.0-or-later
//
// For start.h, and that of arm64: where the code and the data of a guest program lie, and what its functions are.

// Valgrind reads the symbols of a file only if it maps something writable from it.
    .data
    .quad 0
    .text

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
