// SPDX-License-Identifier: GPL-2.0-or-later
//
// A blur of the rows of a picture whose width is a power of two, inlined into main; with -DREPAIRED, it is padded.

#include <cstdio>
#include <vector>

constexpr int kWidth = 512;
constexpr int kHeight = 64;
#ifdef REPAIRED
constexpr int kPitch = kWidth + 16;
#else
constexpr int kPitch = kWidth;
#endif

struct Picture {
    Picture() : pixels(kPitch * kHeight, 1.0F) {}
    const float* row(int y) const { return &pixels[y * kPitch]; }
    float* row(int y) { return &pixels[y * kPitch]; }
    std::vector<float> pixels;
};

int main() {
    Picture from, to;
    for (int y = 3; y < kHeight - 3; ++y) {
        const float *a = from.row(y - 3), *b = from.row(y - 2), *c = from.row(y - 1), *d = from.row(y);
        const float *e = from.row(y + 1), *f = from.row(y + 2), *g = from.row(y + 3);
        float* out = to.row(y);
        for (int x = 0; x < kWidth; ++x) out[x] = (a[x] + b[x] + c[x] + 2 * d[x] + e[x] + f[x] + g[x]) / 8;
    }
    std::printf("%g\n", static_cast<double>(to.row(20)[30]));
}
