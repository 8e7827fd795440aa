// SPDX-License-Identifier: GPL-2.0-or-later
//
// The guide's program on layout: particles that move. A step needs three numbers of each, which lie among much else.

#include <cstdio>
#include <vector>

struct Particle {
    double x, y, z;
    char name[80];
    double history[12];
};

static double step(std::vector<Particle>& all)
{
    double sum = 0;
    for (Particle& each : all) {
        each.x += 0.5 * each.z;
        sum += each.x * each.y;
    }
    return sum;
}

int main()
{
    std::vector<Particle> all(20000);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].x = 0.25 * double(i);
        all[i].y = 2;
        all[i].z = 1;
    }
    double sum = 0;
    for (int i = 0; i < 20; ++i) sum += step(all);
    std::printf("%g\n", sum);
}
