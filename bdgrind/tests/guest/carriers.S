// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -nostdlib -static -no-pie
//
// Arrays of 128 lines that are gone through from one end to the other, again and again, in a D1 of 64 lines (4 ways):
// whenever a line is loaded again, all others have been touched since. So each reading of an array but the first one
// misses 128 lines that it has missed before, and what carries that reuse can be read off the code:
//
//     nest          5 readings by the inner loop: the outer loop carries 4 of them
//     passes        3 loops, one after the other: the function carries 2 of them, but for a line each (see there)
//     thrice        3 calls of `pass`: the function carries 2 of them
//     calls_in_loop 3 calls of `pass` in a loop: the loop carries 2 of them
//     descend       4 calls within each other: 3 of them are carried by the call around
//     rotated       4 readings, in a loop that is entered at its test: it carries 3 of them
//     into          3 readings by a loop that is entered in two places: 2 of them are carried by something
//     aside         2 loops, one after the other, behind a jump back that repeats nothing: for the run, that is a loop
//                   around both, which carries what the second one misses
//
// test_carriers.py knows instructions by their text.

#include "start.h"

    ARRAY stack, 4096
    ARRAY a, 8192
    ARRAY b, 8192
    ARRAY c, 8192
    ARRAY d, 8192
    ARRAY e, 8192
    ARRAY f, 8192
    ARRAY g, 8192
    ARRAY h, 8192

// Reads the line of an array, and goes to the next; the flags say whether there is one.
.macro NEXT array
    mov \array(%rax), %ebx
    add $64, %eax
    cmp $8192, %eax
.endm

    FUNCTION _start
    mov $stack+4096, %esp
    call main
    EXIT 0
    END _start

    FUNCTION main
    call nest
    call passes
    call thrice
    call calls_in_loop
    mov $4, %edi
    call descend
    call rotated
    xor %edi, %edi
    call into
    call aside
    ret
    END main

    FUNCTION nest
    mov $5, %ecx
.Lcolumn:
    xor %eax, %eax
.Lrow:
    NEXT a
    jne .Lrow
    dec %ecx
    jnz .Lcolumn
    ret
    END nest

// The last line of each loop is read in its last iteration, which is part of the next loop, as far as is known.
    FUNCTION passes
    xor %eax, %eax
.Lfirst:
    NEXT b
    jne .Lfirst
    xor %eax, %eax
.Lsecond:
    NEXT b
    jne .Lsecond
    xor %eax, %eax
.Lthird:
    NEXT b
    jne .Lthird
    ret
    END passes

    FUNCTION pass
    xor %eax, %eax
.Lpass:
    mov (%rsi,%rax), %ebx
    add $64, %eax
    cmp $8192, %eax
    jne .Lpass
    ret
    END pass

    FUNCTION thrice
    mov $c, %esi
    call pass
    call pass
    call pass
    ret
    END thrice

    FUNCTION calls_in_loop
    mov $d, %esi
    mov $3, %ecx
.Lcall:
    call pass
    dec %ecx
    jnz .Lcall
    ret
    END calls_in_loop

    FUNCTION descend
    xor %eax, %eax
.Ldescend:
    NEXT e
    jne .Ldescend
    dec %edi
    jz .Lbottom
    call descend
.Lbottom:
    ret
    END descend

    FUNCTION rotated
    mov $4, %ecx
    jmp .Ltest
.Lbody:
    xor %eax, %eax
.Lrotated:
    NEXT f
    jne .Lrotated
    dec %ecx
.Ltest:
    test %ecx, %ecx
    jnz .Lbody
    ret
    END rotated

// Entered in the middle if %edi is 0, as here.
    FUNCTION into
    mov $3, %ecx
    xor %eax, %eax
    test %edi, %edi
    jz .Lmiddle
.Ltop:
    xor %eax, %eax
.Lmiddle:
    NEXT g
    jne .Lmiddle
    dec %ecx
    jnz .Ltop
    ret
    END into

// A compiler may lay out code in this way if it takes the jump to the end for unlikely. %edi is 0.
    FUNCTION aside
    test %edi, %edi
    jz .Laside
.Lback:
    xor %eax, %eax
.Lone:
    NEXT h
    jne .Lone
    xor %eax, %eax
.Lother:
    NEXT h
    jne .Lother
    ret
.Laside:
    mov $1, %edi
    jmp .Lback
    END aside
