// SPDX-License-Identifier: GPL-2.0-or-later
//
// Programs with types whose layout is at fault, and with -DREPAIRED, as bd_annotate advises.

#include <cstddef>
#include <cstdio>
#include <vector>

#define APART [[gnu::noinline]]

#ifdef BODIES
// Three functions, each of which needs other fields of an array's elements.

#ifdef REPAIRED
struct Motion {
    double x, y, z, vx, vy, vz;
};
struct Weight {
    double mass, charge;
};
struct Rest {
    char name[40];
    double history[8];
};
struct Bodies {
    explicit Bodies(std::size_t size) : motion(size), weight(size), rest(size) {}
    std::size_t size() const { return motion.size(); }

    std::vector<Motion> motion;
    std::vector<Weight> weight;
    std::vector<Rest> rest;
};
#define MOTION(bodies, i) bodies.motion[i]
#define WEIGHT(bodies, i) bodies.weight[i]
#define REST(bodies, i) bodies.rest[i]
#else
struct Body {
    double x, y, z;
    char name[40];
    double vx, vy, vz;
    double mass;
    double history[8];
    double charge;
};
using Bodies = std::vector<Body>;
#define MOTION(bodies, i) bodies[i]
#define WEIGHT(bodies, i) bodies[i]
#define REST(bodies, i) bodies[i]
#endif

APART void move(Bodies& bodies) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto& body = MOTION(bodies, i);
        body.x += body.vx;
        body.y += body.vy;
        body.z += body.vz;
    }
}

APART double weigh(const Bodies& bodies) {
    double sum = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) sum += WEIGHT(bodies, i).mass * WEIGHT(bodies, i).charge;
    return sum;
}

APART int count_letters(const Bodies& bodies) {
    int sum = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) sum += REST(bodies, i).name[0] != '\0';
    return sum;
}

int main() {
    Bodies bodies(5000);
    double sum = 0;
    for (int step = 0; step < 20; ++step) {
        move(bodies);
        sum += weigh(bodies);
        sum += weigh(bodies);
    }
    std::printf("%g %d\n", sum, count_letters(bodies));
}
#endif

#ifdef CHAINS
// A hash table with chains of nodes that are allocated one by one: a search needs a node's first field and its last.

struct Node {
#ifdef REPAIRED
    unsigned long key;
    Node* next;
    unsigned count;
    char text[104];
#else
    unsigned long key;
    char text[104];
    unsigned count;
    Node* next;
#endif
};

constexpr unsigned long kChains = 1024;
static Node* chains[kChains];

APART void add(unsigned long key) {
    Node* const node = new Node();
    node->key = key;
    node->next = chains[key % kChains];
    chains[key % kChains] = node;
}

APART Node* find(unsigned long key) {
    Node* node = chains[key % kChains];
    while (node != nullptr && node->key != key) node = node->next;
    return node;
}

int main() {
    for (unsigned long i = 0; i < 10000; ++i) add(i * 2654435761 % 100003);
    unsigned long found = 0;
    for (unsigned long i = 0; i < 20000; ++i) {
        if (Node* const node = find(i * 7919 % 100003)) {
            ++node->count;
            ++found;
        }
    }
    std::printf("%lu\n", found);
}
#endif

#ifdef TABLE
// A variable, of which two fields are needed that lie far from each other.

#ifdef REPAIRED
static struct {
    double x, y;
} table[5000];
static struct {
    char name[80];
    double past[4];
} table_rest[5000];
#else
static struct Item {
    double x;
    char name[80];
    double past[4];
    double y;
} table[5000];
#endif

APART double sum_up() {
    double sum = 0;
    for (auto& item : table) {
        sum += item.x * item.y;
        item.x += 1;
    }
    return sum;
}

int main() {
    for (auto& item : table) {
        item.x = 1;
        item.y = 2;
    }
    double sum = 0;
    for (int step = 0; step < 20; ++step) sum += sum_up();
#ifdef REPAIRED
    sum += table_rest[0].past[0];
#endif
    std::printf("%g\n", sum);
}
#endif
