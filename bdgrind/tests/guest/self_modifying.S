// SPDX-License-Identifier: GPL-2.0-or-later
//
// Self-modifying code: the program writes `mov $n, %eax; ret` into a page of its own, then rewrites
// n and calls it, for n from 100 down to 1. Its exit status is 0 if the sum of the results is 5050.
//
// The written function is one line: D1 sees 8 of its bytes written, I1 sees 6 executed, LL the union
// of both, and its fetch hits LL. The stack is one line of which 8 bytes are used. The program's own
// code is 109 bytes in two lines.
//
// build: -nostdlib -static -no-pie
// last: 5
// run: --I1=4096,4,64 --D1=4096,4,64 --LL=65536,4,64
// expect: total Ir = 9 + 5 + 7 * 100 + 5; Dr = 100; Dw = 1 + 2 * 100
// expect: total I1mr = 3; ILmr = 2; D1mr = 0; DLmr = 0; D1mw = 2; DLmw = 2
// expect: total SpLoss1 = 128 - 109 + 58 + 56 + 56; EvLine1 = 5
// expect: total SpLoss2 = 128 - 109 + 56 + 56; EvLine2 = 4

#include "start.h"

    ARRAY stack, 4096

    FUNCTION _start
    mov $0x1000000000, %rdi
    mov %rdi, %rbx
    mov $4096, %esi  // mmap, as in four_gib_apart.S, but executable
    mov $7, %edx
    mov $0x32, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    mov $9, %eax
    syscall
    movabs $0xc3c3c300000001b8, %rax  // mov $1, %eax; ret
    mov %rax, (%rbx)
    lea stack + 4096, %rsp
    xor %ebp, %ebp
    mov $100, %r12d
.Lagain:
    mov %r12d, 1(%rbx)
    call *%rbx
    add %eax, %ebp
    dec %r12d
    jnz .Lagain
    cmp $5050, %ebp
    setne %dil
    movzbl %dil, %edi
    mov $60, %eax
    syscall
    END _start
