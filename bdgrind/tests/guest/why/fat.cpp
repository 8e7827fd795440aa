// SPDX-License-Identifier: GPL-2.0-or-later
//
// Large objects in a vector, of which a loop in main needs two numbers; with -DREPAIRED, these have a vector.

#include <cstdio>
#include <vector>

struct Motion {
    double place = 0, speed = 1;
};

struct Rest {
    char name[48] = {};
    double mass = 1, charge = 0, history[6] = {};
};

#ifdef REPAIRED
using Body = Motion;
#else
struct Body {
    double place = 0;
    Rest rest;
    double speed = 1;
};
#endif

int main() {
    std::vector<Body> bodies(6000);
    double sum = 0;
    for (int step = 0; step < 100; ++step) {
        for (auto& body : bodies) {
            body.place += body.speed;
            sum += body.place;
        }
    }
#ifdef REPAIRED
    std::vector<Rest> rest(6000);
    sum += rest[3].mass;
#endif
    std::printf("%g\n", sum);
}
