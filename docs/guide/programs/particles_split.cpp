// SPDX-License-Identifier: GPL-2.0-or-later
//
// particles.cpp with what a step needs in an array of its own.

#include <cstdio>
#include <vector>

struct Place {
    double x, y, z;
};

struct Rest {
    char name[80];
    double history[12];
};

struct Particles {
    std::vector<Place> places;
    std::vector<Rest> rest;
};

static double step(Particles& all)
{
    double sum = 0;
    for (Place& each : all.places) {
        each.x += 0.5 * each.z;
        sum += each.x * each.y;
    }
    return sum;
}

int main()
{
    Particles all{std::vector<Place>(20000), std::vector<Rest>(20000)};
    for (std::size_t i = 0; i < all.places.size(); ++i) {
        all.places[i].x = 0.25 * double(i);
        all.places[i].y = 2;
        all.places[i].z = 1;
    }
    double sum = 0;
    for (int i = 0; i < 20; ++i) sum += step(all);
    std::printf("%g\n", sum);
}
