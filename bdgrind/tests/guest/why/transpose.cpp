// SPDX-License-Identifier: GPL-2.0-or-later
//
// A transposition that a template does for any function of the indices, inlined into main; with -DREPAIRED, in tiles.

#include <cstddef>
#include <cstdio>

constexpr std::size_t kSize = 264;
constexpr std::size_t kTile = 8;

template <class Function>
inline void for_all(Function function) {
#ifdef REPAIRED
    for (std::size_t row = 0; row < kSize; row += kTile) {
        for (std::size_t column = 0; column < kSize; column += kTile) {
            for (std::size_t i = row; i < row + kTile; ++i) {
                for (std::size_t j = column; j < column + kTile; ++j) function(i, j);
            }
        }
    }
#else
    for (std::size_t i = 0; i < kSize; ++i) {
        for (std::size_t j = 0; j < kSize; ++j) function(i, j);
    }
#endif
}

alignas(64) double from[kSize * kSize], to[kSize * kSize];

int main() {
    for (std::size_t i = 0; i < kSize * kSize; ++i) from[i] = static_cast<double>(i);
    for (int step = 0; step < 4; ++step) {
        for_all([step](std::size_t i, std::size_t j) { to[j * kSize + i] = from[i * kSize + j] + step; });
    }
    std::printf("%g\n", to[kSize * 7 + 5]);
}
