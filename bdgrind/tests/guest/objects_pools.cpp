// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// Two pools that hand out parts of what they get from malloc, and use again what is given back: one for each size, of
// a C++ program, and one for all sizes together. What they are called for, in bytes, and how often:
//
//     make_bodies     48      1000 times, of which each second one is given back and made again: 1500
//     make_joints     24      300
//     make_facets     72      1000
//     make_ridges     40      1000

#include <cstddef>
#include <cstdlib>
#include <new>

#define NOINLINE __attribute__((noinline, noclone))

struct Body {
    double place[2];
    double speed[2];
    float mass;
    int id;
    Body *next;
};
struct Joint {
    Body *one;
    Body *other;
    double length;
};
struct Facet {
    double normal[3];
    double offset;
    Facet *next;
    void *vertices[3];
    int id;
};
struct Ridge {
    Facet *top;
    Facet *bottom;
    Ridge *next;
    long id;
    long seen;
};

class Pool {
public:
    NOINLINE void *allocate(std::size_t size) {
        const std::size_t which = size / kStep;
        if (free_[which] == nullptr) {
            auto *const chunk = static_cast<char *>(std::malloc(kChunk));
            for (std::size_t at = 0; at + size <= kChunk; at += size) {
                auto *const link = reinterpret_cast<Link *>(chunk + at);
                link->next = at + 2 * size <= kChunk ? reinterpret_cast<Link *>(chunk + at + size) : nullptr;
            }
            free_[which] = reinterpret_cast<Link *>(chunk);
        }
        Link *const found = free_[which];
        free_[which] = found->next;
        return found;
    }
    NOINLINE void release(void *block, std::size_t size) {
        auto *const link = static_cast<Link *>(block);
        link->next = free_[size / kStep];
        free_[size / kStep] = link;
    }

private:
    struct Link {
        Link *next;
    };
    static constexpr std::size_t kStep = 8;
    static constexpr std::size_t kChunk = 16384;
    Link *free_[16] = {};
};

static Pool pool;

// Of all sizes: what is left of a buffer is given up when it does not suffice.
static char *buffer;
static std::size_t left;
static void *given_back[16];

extern "C" NOINLINE void *mem_alloc(std::size_t size) {
    if (void *const found = given_back[size / 8]) {
        given_back[size / 8] = *static_cast<void **>(found);
        return found;
    }
    if (left < size) {
        left = 65536;
        buffer = static_cast<char *>(std::malloc(left));
        *reinterpret_cast<void **>(buffer) = nullptr;  // a list of buffers, in other programs
        buffer += 16;
        left -= 16;
    }
    buffer += size;
    left -= size;
    return buffer - size;
}
extern "C" NOINLINE void mem_free(void *block, std::size_t size) {
    *static_cast<void **>(block) = given_back[size / 8];
    given_back[size / 8] = block;
}

NOINLINE static Body *make_body(Body *next, int id) {
    auto *const body = new (pool.allocate(sizeof(Body))) Body;
    *body = {{}, {}, 1, id, next};
    return body;
}
NOINLINE static Joint *make_joint(Body *one) {
    auto *const joint = new (pool.allocate(sizeof(Joint))) Joint;
    *joint = {one, one, 1};
    return joint;
}
NOINLINE static Facet *make_facet(Facet *next, int id) {
    auto *const facet = static_cast<Facet *>(mem_alloc(sizeof(Facet)));
    *facet = {{}, 0, next, {}, id};
    return facet;
}
NOINLINE static Ridge *make_ridge(Ridge *next, Facet *top) {
    auto *const ridge = static_cast<Ridge *>(mem_alloc(sizeof(Ridge)));
    *ridge = {top, top, next, 0, 0};
    return ridge;
}

NOINLINE static long sum(const Body *bodies, const Facet *facets, const Ridge *ridges) {
    long all = 0;
    for (const Body *body = bodies; body != nullptr; body = body->next) all += body->id;
    for (const Facet *facet = facets; facet != nullptr; facet = facet->next) all += facet->id;
    for (const Ridge *ridge = ridges; ridge != nullptr; ridge = ridge->next) all += ridge->top->id;
    return all;
}

int main() {
    Body *bodies = nullptr;
    Facet *facets = nullptr;
    Ridge *ridges = nullptr;
    for (int i = 0; i < 1000; ++i) {
        bodies = make_body(bodies, i);
        if (i % 3 == 0 && i < 900) make_joint(bodies);
        facets = make_facet(facets, i);
        ridges = make_ridge(ridges, facets);
    }
    for (Body *body = bodies; body != nullptr && body->next != nullptr;) {
        Body *const gone = body->next;
        body->next = gone->next;
        pool.release(gone, sizeof(Body));
        body = body->next;
    }
    for (int i = 0; i < 500; ++i) bodies = make_body(bodies, i);
    long all = 0;
    for (int i = 0; i < 10; ++i) all += sum(bodies, facets, ridges);
    return all == 0;
}
