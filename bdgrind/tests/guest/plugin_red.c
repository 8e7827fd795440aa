// SPDX-License-Identifier: GPL-2.0-or-later
//
// One of the libraries of plugins.c. Both have a function at the same place, and nothing in common.
//
// build: -O0 -shared -fPIC

void red_work(void);

static void red_part(void) {}

void red_work(void)
{
    red_part();
    red_part();
}
