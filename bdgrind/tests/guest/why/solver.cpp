// SPDX-License-Identifier: GPL-2.0-or-later
//
// Steps of a solver, in small functions that are inlined: the residual, its norm, and a direction that needs the norm.
// So only the first two loops can be one; with -DREPAIRED, they are.

#include <cstddef>
#include <cstdio>
#include <vector>

using Vector = std::vector<double>;

static void subtract(Vector& from, double factor, const Vector& what) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] -= factor * what[i];
}

static double square(const Vector& of) {
    double sum = 0;
    for (double one : of) sum += one * one;
    return sum;
}

static void turn(Vector& direction, double factor, const Vector& to) {
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = to[i] + factor * direction[i];
}

int main() {
    constexpr std::size_t size = 4000;
    Vector residual(size, 1), product(size, 0.5), direction(size, 0.25);
    double last = 4;
    for (int step = 0; step < 20; ++step) {
#ifdef REPAIRED
        double norm = 0;
        for (std::size_t i = 0; i < size; ++i) {
            residual[i] -= 0.01 * product[i];
            norm += residual[i] * residual[i];
        }
#else
        subtract(residual, 0.01, product);
        double norm = square(residual);
#endif
        double factor = norm / last;
        turn(direction, factor, residual);
        last = norm;
    }
    std::printf("%g %g\n", last, direction[size / 2]);
}
