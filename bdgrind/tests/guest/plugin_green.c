// SPDX-License-Identifier: GPL-2.0-or-later
//
// One of the libraries of plugins.c.
//
// build: -O0 -shared -fPIC

void green_work(void);

static void green_part(void) {}

void green_work(void)
{
    green_part();
    __asm__("nop; nop; nop; nop");
}
