// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tail calls into another object, through the procedure linkage table: shout jumps to the C library's toupper, whose
// return leaves both. `after` is called by main.
//
// build: -O2 -fno-builtin -fno-inline -fno-ipa-cp -fno-ipa-ra -fcf-protection=none
// x86: no (Debian's 32-bit dynamic linker has no symbols, so that its resolver is an unknown function)
// expect: calls main > shout = 10; shout > toupper = 10; toupper = 10; main > after = 10; after = 10

#include <ctype.h>

static void after(void) { __asm__ volatile(""); }
static int shout(int letter) { return toupper(letter); }

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
        sum += shout('a');
        after();
    }
    return sum == 10 * 'A' ? 0 : 1;
}
