// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two arrays of 16 lines exactly 4 GiB apart, read alternately, all 8 bytes of their first word.
// Line i of both maps to the same set of D1 and LL, and only bits 32 and up differ: a tag
// that drops these bits finds the second array in the cache as soon as the first one is, and half
// of the misses vanish. D1 (64 lines, 4 ways) holds both arrays: the second round hits.
//
// Each of the 32 lines is read twice. The code is 134 bytes in three lines, which 12, 175 and 2
// instructions touch.
//
// build: -nostdlib -static -no-pie
// callgrind: no
// run: --I1=4096,4,64 --D1=4096,4,64 --LL=65536,4,64
// expect: total Ir = 2 * 9 + 1 + 2 * (1 + 16 * 5 + 2) + 3; Dr = 2 * 2 * 16; Dw = 0
// expect: total I1mr = 3; D1mr = 32; D1mw = 0; ILmr = 3; DLmr = 32; DLmw = 0
// expect: total AcCost1 = 32 * 500 + 1000 // 12 + 1000 // 175 + 1000 // 2
// expect: total SpLoss1 = 32 * 56 + 192 - 134; EvLine1 = 35; UsByte1 = 32 * 8 + 134
// expect: total AcCost2 = 32 * 500 + 1000 // 12 + 1000 // 175 + 1000 // 2
// expect: total SpLoss2 = 32 * 56 + 192 - 134; EvLine2 = 35; UsByte2 = 32 * 8 + 134

#include "start.h"

    // mmap(%rdi, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
    .macro MAP
    mov $4096, %esi
    mov $3, %edx
    mov $0x32, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    mov $9, %eax
    syscall
    .endm

    FUNCTION _start
    movabs $0x1000000000, %rdi
    mov %rdi, %rbx
    MAP
    movabs $0x1100000000, %rdi
    mov %rdi, %rbp
    MAP
    mov $2, %edx
.Lround:
    xor %eax, %eax
.Lline:
    mov (%rbx,%rax), %rcx
    mov (%rbp,%rax), %rsi  // into another register: VEX drops a load that is not used
    add $64, %eax
    cmp $1024, %eax
    jb .Lline
    dec %edx
    jnz .Lround
    EXIT 0
    END _start
