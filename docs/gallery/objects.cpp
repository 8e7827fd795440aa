// SPDX-License-Identifier: GPL-2.0-or-later
//
// Objects of 200 bytes of which the loop needs 24: the other fields share the lines and are never used.
//   g++ -O2 -g objects.cpp -o objects

#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Particle {
    double x, y, charge;    // all that each step needs
    char name[104];         // for reports only
    double history[9];      // for a debugger only
};

static double field(const std::vector<Particle>& particles) {
    double sum = 0;
    for (const Particle& particle : particles) {
        sum += particle.charge * (particle.x + particle.y);  // guilty: 24 of 200 bytes
    }
    return sum;
}

static void move(std::vector<Particle>& particles, double by) {
    for (Particle& particle : particles) {
        particle.x += by * particle.charge;  // guilty: 16 of 200 bytes
    }
}

int main() {
    std::vector<Particle> particles(20'000);
    std::map<std::string, int> kinds;
    for (std::size_t i = 0; i < particles.size(); ++i) {
        Particle& particle = particles[i];
        particle.x = static_cast<double>(i % 100);
        particle.y = static_cast<double>(i / 100);
        particle.charge = i % 2 == 0 ? 1.0 : -1.0;
        std::snprintf(particle.name, sizeof particle.name, "particle %zu", i % 64);
        ++kinds[particle.name];
    }
    double sum = 0;
    for (int step = 0; step < 40; ++step) {
        sum += field(particles);
        move(particles, 0.5);
    }
    std::printf("%zu kinds, %g\n", kinds.size(), sum);
}
