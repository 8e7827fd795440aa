// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions with several callers and levels of recursion, for the options that separate them.
//
//   main calls left twice and right 3 times, right calls left: left is called twice by main, 3 times by right
//   both call leaf: 2 + 3 times by left, 3 times by right
//   self(5) calls itself 5 times
//   ping(5) calls pong(4) calls ping(3) and so on: ping 3 times, pong 3 times
//   by main, wade reads a byte each of 32 lines, by right (3 times) of 16 lines each
//
// build: -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp -static
// counts: calls left = 5; leaf = 8; self = 6; ping = 3; pong = 3; wade = 4
// counts: self wade SpLoss1 = 63 * (32 + 3 * 16)

enum { kLine = 64 };
static _Alignas(kLine) volatile char river[32 * kLine], brooks[3][16 * kLine];
static volatile int steps;

static void leaf(void) { ++steps; }
static void left(void) { leaf(); ++steps; }
static void wade(volatile char *water, int lines)
{
    for (int i = 0; i < lines; ++i)
        water[i * kLine];
}

static void right(int time)
{
    left();
    leaf();
    wade(brooks[time], 16);
}

static void self(int more) { if (more > 0) self(more - 1); ++steps; }

static void pong(int more);
static void ping(int more) { if (more > 0) pong(more - 1); ++steps; }
static void pong(int more) { if (more > 0) ping(more - 1); ++steps; }

int main(void)
{
    left();
    left();
    for (int time = 0; time < 3; ++time)
        right(time);
    self(5);
    ping(5);
    wade(river, 32);
    return 0;
}
