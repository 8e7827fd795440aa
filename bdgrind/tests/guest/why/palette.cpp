// SPDX-License-Identifier: GPL-2.0-or-later
//
// Colours of an image by their numbers, in a table of doubles that the cache has nearly room for; with -DREPAIRED, of
// floats. The look-up is inlined into main.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef COLOURS
#define COLOURS 720
#endif
#ifndef PIXELS
#define PIXELS 150000
#endif

#ifdef REPAIRED
using Value = float;
#else
using Value = double;
#endif

class Palette {
public:
    Palette() : values_(static_cast<Value*>(std::aligned_alloc(64, COLOURS * sizeof(Value)))) {
        for (std::size_t i = 0; i < COLOURS; ++i) values_[i] = static_cast<Value>(i) / COLOURS;
    }
    ~Palette() { std::free(values_); }
    Value operator[](std::size_t colour) const { return values_[colour]; }

private:
    Value* values_;
};

int main() {
    const Palette palette;
    std::vector<std::uint16_t> pixels(PIXELS);
    std::uint32_t random = 1;
    for (std::uint16_t& pixel : pixels) {
        random = random * 1664525u + 1013904223u;
        pixel = static_cast<std::uint16_t>((random >> 8) % COLOURS);
    }
    double brightness = 0;
    for (const std::uint16_t pixel : pixels) brightness += palette[pixel];
    std::printf("%.0f\n", brightness);
}
