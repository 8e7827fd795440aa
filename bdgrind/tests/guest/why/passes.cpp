// SPDX-License-Identifier: GPL-2.0-or-later
//
// Three passes over a vector by templates that are inlined into their caller; with -DREPAIRED, one.

#include <cstdio>
#include <vector>

template <class Function>
inline void for_each_index(std::size_t size, Function function) {
    for (std::size_t i = 0; i < size; ++i) function(i);
}

__attribute__((noipa)) static double work(std::vector<double>& values, const std::vector<double>& weights) {
    double sum = 0;
#ifdef REPAIRED
    for_each_index(values.size(), [&](std::size_t i) {
        const double value = values[i] * 0.5 + weights[i];
        values[i] = value;
        sum += value * value;
    });
#else
    for_each_index(values.size(), [&](std::size_t i) { values[i] *= 0.5; });
    for_each_index(values.size(), [&](std::size_t i) { values[i] += weights[i]; });
    for_each_index(values.size(), [&](std::size_t i) { sum += values[i] * values[i]; });
#endif
    return sum;
}

int main() {
    std::vector<double> values(60000, 1.0), weights(60000, 0.25);
    double sum = 0;
    for (int step = 0; step < 4; ++step) sum += work(values, weights);
    std::printf("%g\n", sum);
}
