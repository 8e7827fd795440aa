// SPDX-License-Identifier: GPL-2.0-or-later
//
// An exception that reaches a noexcept function: std::terminate, and abort in the end. What was
// called until then is in the profile.
//
// build: -O0 -static
// oracle: amd64
// last: 5
// expect: calls promises = 1; deep = 5; promises > deep = 1; deep > deep = 4; last_words = 1
// expect: exit -6

#include <cstdlib>
#include <exception>

extern "C" {
static void last_words() { std::abort(); }

static void deep(int frames) {
    if (frames == 1) throw frames;
    deep(frames - 1);
}

static void promises() noexcept { deep(5); }
}

int main() {
    std::set_terminate(last_words);
    promises();
}
