// SPDX-License-Identifier: GPL-2.0-or-later
//
// For guest programs whose totals are worked out completely: no library, no stack unless they make
// one, nothing executed but what stands in the file. Code begins at a cache line, and every byte of
// it is executed: n bytes of code lose 64 - n bytes of an instruction line.

#include "sections.h"

.macro EXIT status
    mov $\status, %edi
    mov $60, %eax
    syscall
.endm
