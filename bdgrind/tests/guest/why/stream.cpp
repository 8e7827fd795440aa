// SPDX-License-Identifier: GPL-2.0-or-later
//
// A stream through three vectors, inlined into main. There is nothing to repair.

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
    std::vector<double> left(60000, 1.0), right(60000, 2.0), sums(60000);
    for (int step = 0; step < 5; ++step) {
        std::transform(left.begin(), left.end(), right.begin(), sums.begin(),
                       [step](double one, double other) { return one + step * other; });
    }
    std::printf("%g\n", sums[30000]);
}
