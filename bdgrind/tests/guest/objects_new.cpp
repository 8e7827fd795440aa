// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// C++'s ways to allocate: each function allocates 10 blocks of known sizes and frees them.

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

struct Thing {
    double values[5];  // 40 bytes
};
struct alignas(128) Wide {
    char bytes[128];
};

void* volatile sink;

[[gnu::noinline]] void single() {
    for (int i = 0; i < 10; ++i) {
        Thing* const thing = new Thing;
        sink = thing;
        delete thing;
    }
}
[[gnu::noinline]] void arrays() {
    for (int i = 0; i < 10; ++i) {
        char* const bytes = new char[1000];
        sink = bytes;
        delete[] bytes;
    }
}
[[gnu::noinline]] void aligned() {
    for (int i = 0; i < 10; ++i) {
        Wide* const wide = new Wide;
        sink = wide;
        delete wide;
    }
}
[[gnu::noinline]] void without_exceptions() {
    for (int i = 0; i < 10; ++i) {
        char* const bytes = new (std::nothrow) char[7];
        sink = bytes;
        ::operator delete[](bytes, std::nothrow);
    }
}
[[gnu::noinline]] void vectors() {
    for (std::size_t i = 1; i <= 10; ++i) {
        std::vector<Thing> things(i);
        sink = things.data();
    }
}

int main() {
    single();
    arrays();
    aligned();
    without_exceptions();
    vectors();
    return 0;
}
