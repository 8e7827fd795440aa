// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops of each kind, with counts that can be read off the code; test_structure.py says what is expected of them. What
// compilers make of loops is looked at elsewhere: here each instruction has a line of its own, but for `twice`.
//
// build: -nostdlib -static -no-pie

#include "start.h"

    ARRAY stack, 4096

    .data
handlers:
    .quad .Ladd, .Lsubtract, .Lhalt
program:
    .byte 0, 1, 0, 0, 1, 2
    .text

    FUNCTION _start
    mov $stack+4096, %esp
    call main
    EXIT 0
    END _start

    FUNCTION main
    call nested
    xor %eax, %eax
    call into
    inc %eax
    call into
    call interpret
    mov $2, %edi
    call search
    mov $5, %edi
    call search
    mov $9, %edi
    call search
    mov $2, %eax
    call descend
    mov $4, %ecx
    call at_entry
    mov $4, %ecx
    call at_entry
    call bouncing
    call twice
    call rarely
    mov $1, %edi
    call partly
    call partly
    ret
    END main

    FUNCTION nested
    mov $10, %ecx
.Louter:
    mov $20, %edx
.Linner:
    dec %edx
    jnz .Linner
    call leaf
    dec %ecx
    jnz .Louter
    ret
    END nested

    FUNCTION leaf
    nop
    ret
    END leaf

// Entered at both of its instructions that count.
    FUNCTION into
    mov $3, %ecx
    test %eax, %eax
    jnz .Lmiddle
.Ltop:
    inc %edx
.Lmiddle:
    dec %ecx
    jnz .Ltop
    ret
    END into

    FUNCTION interpret
    mov $program, %esi
.Lnext:
    movzbl (%rsi), %eax
    inc %rsi
    jmp *handlers(,%rax,8)
.Ladd:
    inc %edx
    jmp .Lnext
.Lsubtract:
    dec %edx
    jmp .Lnext
.Lhalt:
    ret
    END interpret

    FUNCTION search
    xor %ecx, %ecx
.Ltry:
    cmp %edi, %ecx
    je .Lfound
    inc %ecx
    cmp $5, %ecx
    jb .Ltry
.Lfound:
    ret
    END search

    FUNCTION descend
    test %eax, %eax
    jz .Lbottom
    push %rbx
    push %rbp
    mov %eax, %ebp
    mov $2, %ebx
.Lagain:
    lea -1(%rbp), %eax
    call descend
    dec %ebx
    jnz .Lagain
    pop %rbp
    pop %rbx
.Lbottom:
    ret
    END descend

// Its first instruction is its loop's.
    FUNCTION at_entry
    dec %ecx
    jnz at_entry
    ret
    END at_entry

    FUNCTION bouncing
    mov $3, %ecx
.Lbounce:
    call bounce
    dec %ecx
    jnz .Lbounce
    ret
    END bouncing

// A tail call.
    FUNCTION bounce
    nop
    jmp leaf
    END bounce

// A loop that was made two of.
    FUNCTION twice
    mov $20, %ecx
1:  dec %ecx; jnz 1b; mov $5, %ecx; 2: dec %ecx; jnz 2b
    ret
    END twice

// What compilers do with what is hardly executed: it is jumped to, and jumps back. Of 8
// iterations, the third goes through the beginning of the cold part, the sixth through the rest of it.
    FUNCTION rarely
    mov $8, %ecx
.Lhot:
    cmp $3, %ecx
    je .Lodd
    cmp $6, %ecx
    je rarely.cold
.Lgo_on:
    dec %ecx
    jnz .Lhot
    ret
    END rarely

    FUNCTION rarely.cold
    call leaf
    jmp .Lgo_on
.Lodd:
    nop
    jmp .Lgo_on
    END rarely.cold

// What is left of a function whose beginning was inlined.
    FUNCTION partly
    mov $3, %ecx
.Lhalf:
    test %edi, %edi
    jz .Lwhole
    call partly.part.0
.Lwhole:
    dec %ecx
    jnz .Lhalf
    ret
    END partly

    FUNCTION partly.part.0
    mov $4, %edx
.Lpart:
    dec %edx
    jnz .Lpart
    ret
    END partly.part.0
