// SPDX-License-Identifier: GPL-2.0-or-later
//
// A static program that relocates itself.
//
// build: -O0 -static-pie
// expect: calls main > outer = 4; outer > inner = 8; inner = 8

static volatile int sum;
static void (*volatile pointer)(void);

static void inner(void) { ++sum; }

static void outer(void)
{
    inner();
    pointer();
}

int main(void)
{
    pointer = inner;
    for (int i = 0; i < 4; ++i)
        outer();
    return sum == 8 ? 0 : 1;
}
