// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../start.h, for arm64: for guest programs whose totals are worked out completely. An instruction has 4 bytes.

// Valgrind reads the symbols of a file only if it maps something writable from it.
    .data
    .quad 0
    .text

// Three instructions.
.macro EXIT status
    mov x0, #\status
    mov x8, #93
    svc #0
.endm

// Two instructions.
.macro ADDRESS register, place
    adrp \register, \place
    add \register, \register, :lo12:\place
.endm

// Keeps the return address, on a stack that stays aligned to 16 bytes.
.macro ENTER
    str x30, [sp, #-16]!
.endm

// Two instructions.
.macro LEAVE
    ldr x30, [sp], #16
    ret
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
