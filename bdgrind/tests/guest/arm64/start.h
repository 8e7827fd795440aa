// SPDX-License-Identifier: GPL-2.0-or-later
//
// As ../start.h, for arm64: for guest programs whose totals are worked out completely. An instruction has 4 bytes.

#include "../sections.h"

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
