// SPDX-License-Identifier: GPL-2.0-or-later
//
// Direct, mutual and indirect recursion.
//
//   fibonacci(10)     2 * F(11) - 1 = 177 calls, all but the first by itself
//   is_even(20)       is_even for 20, 18 ... 0: 11 calls; is_odd for 19, 17 ... 1: 10 calls
//   ring(30)          through a pointer: red, green, blue, red ... 30 calls, 10 of each
//
// build: -O0 -static
// expect: calls fibonacci = 177; main > fibonacci = 1; fibonacci > fibonacci = 176
// expect: calls is_even = 11; is_odd = 10; main > is_even = 1; is_odd > is_even = 10
// expect: calls red = 10; green = 10; blue = 10; main > red = 1; blue > red = 9; red > green = 10

#include <stdbool.h>

static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static bool is_odd(int n);
static bool is_even(int n) { return n == 0 || is_odd(n - 1); }
static bool is_odd(int n) { return n != 0 && is_even(n - 1); }

typedef void member(int left);
static member *ring[3];
static void red(int left) { if (left > 0) ring[1](left - 1); }
static void green(int left) { if (left > 0) ring[2](left - 1); }
static void blue(int left) { if (left > 0) ring[0](left - 1); }

int main(void)
{
    ring[0] = red;
    ring[1] = green;
    ring[2] = blue;
    ring[0](29);
    return fibonacci(10) == 55 && is_even(20) ? 0 : 1;
}
