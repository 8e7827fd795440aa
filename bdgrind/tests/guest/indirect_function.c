// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function whose implementation is chosen when the program starts (IFUNC): the calls reach the
// chosen one, by way of the procedure linkage table even in a static program.
//
// build: -O0 -static
// expect: calls main > implementation = 10; implementation = 10; choose = 1

static int implementation(void) { return 2; }

static int (*choose(void))(void) { return implementation; }

static int chosen(void) __attribute__((ifunc("choose")));

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; ++i)
        sum += chosen();
    return sum == 20 ? 0 : 1;
}
