// SPDX-License-Identifier: GPL-2.0-or-later
//
// False sharing as it has been found in public programs, in small, each as it was and repaired: `sharing_cases CASE
// [repaired]`. Two threads do the same number of rounds; docs/threads.md says what each case is like.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

namespace {

constexpr int kThreads = 2;
using Word = unsigned long;

int rounds = 100000;
pthread_barrier_t start;

// What begins a line of its own in the repaired program, and follows what stands before it in the other one.
template <bool kRepaired>
constexpr size_t kApart = kRepaired ? 64 : sizeof(Word);

// Each worker counts in its element of an array.
template <bool kRepaired>
struct Workers {
    struct alignas(kApart<kRepaired>) Counts {
        volatile Word tasks, bytes;
    };
    Counts counts[kThreads];

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            counts[self].tasks = counts[self].tasks + 1;
            counts[self].bytes = counts[self].bytes + 8;
        }
    }
};
template <bool kRepaired>
alignas(64) Workers<kRepaired> workers;

// The main thread advances the clock; another one counts what came in.
template <bool kRepaired>
struct Server {
    volatile Word clock;
    alignas(kApart<kRepaired>) volatile Word received;

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            if (self == 0) clock = clock + 1;
            else received = received + 1;
        }
    }
};
template <bool kRepaired>
alignas(64) Server<kRepaired> server;

// A queue of one producer and one consumer: each keeps a copy of the other's index, and looks again when that says
// that it must wait, which is seldom.
template <bool kRepaired>
struct Ring {
    volatile Word head, copy_of_tail;
    alignas(kApart<kRepaired>) volatile Word tail, copy_of_head;

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            if (self == 0) {
                if (i % 1024 == 0) copy_of_tail = tail;
                head = head + 1;
            } else {
                if (i % 1024 == 0) copy_of_head = head;
                tail = tail + 1;
            }
        }
    }
};
template <bool kRepaired>
alignas(64) Ring<kRepaired> ring;

// The owner of a queue of tasks pushes at one end; a thief looks at the other end, and seldom at the owner's.
template <bool kRepaired>
struct Deque {
    volatile Word bottom;
    alignas(kApart<kRepaired>) volatile Word top;

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            if (self == 0) {
                bottom = bottom + 1;
            } else {
                top = top + 1;
                if (i % 512 == 0) (void)bottom;
            }
        }
    }
};
template <bool kRepaired>
alignas(64) Deque<kRepaired> deque;

// One thread takes and gives back references; another one reads what never changes.
template <bool kRepaired>
struct Shared {
    int references;
    alignas(kApart<kRepaired>) volatile Word options;

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            if (self == 0) __atomic_fetch_add(&references, 1, __ATOMIC_RELAXED);
            else (void)options;
        }
    }
};
template <bool kRepaired>
alignas(64) Shared<kRepaired> shared;

// Locks of a table's parts, each of which one thread uses.
template <bool kRepaired>
struct Locks {
    struct alignas(kApart<kRepaired>) Lock {
        int is_taken;
    };
    Lock locks[kThreads];

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            while (__atomic_exchange_n(&locks[self].is_taken, 1, __ATOMIC_ACQUIRE)) {}
            __atomic_store_n(&locks[self].is_taken, 0, __ATOMIC_RELEASE);
        }
    }
};
template <bool kRepaired>
alignas(64) Locks<kRepaired> locks;

// Random numbers: the state of each thread is a part of one block of the heap.
template <bool kRepaired>
struct Generators {
    volatile Word* const states = static_cast<Word*>(aligned_alloc(64, 128));

    void run(int self) {
        volatile Word* const state = states + self * kApart<kRepaired> / sizeof(Word);
        for (int i = 0; i < rounds; ++i) *state = *state * 1664525 + 1013904223;
    }
};
template <bool kRepaired>
Generators<kRepaired> generators;

// Each thread adds up its part of a sum in an array; one of them looks at the whole now and then.
template <bool kRepaired>
struct Sums {
    struct alignas(kApart<kRepaired>) Part {
        volatile Word value;
    };
    Part parts[kThreads];

    void run(int self) {
        for (int i = 0; i < rounds; ++i) {
            parts[self].value = parts[self].value + i;
            if (self == 0 && i % 2048 == 0) (void)parts[1].value;
        }
    }
};
template <bool kRepaired>
alignas(64) Sums<kRepaired> sums;

struct Case {
    const char* name;
    void (*run[2])(int self);
};

#define CASE(name, data) {name, {[](int self) { data<false>.run(self); }, [](int self) { data<true>.run(self); }}}
constexpr Case kCases[] = {
    CASE("workers", workers), CASE("server", server), CASE("ring", ring),             CASE("deque", deque),
    CASE("shared", shared),   CASE("locks", locks),   CASE("generators", generators), CASE("sums", sums),
};

void (*work)(int self) = kCases[0].run[0];

void* run(void* self) {
    pthread_barrier_wait(&start);
    work(static_cast<int>(reinterpret_cast<size_t>(self)));
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_repaired = argc > 2 && !strcmp(argv[2], "repaired");
    for (const Case& each : kCases) {
        if (argc > 1 && !strcmp(argv[1], each.name)) work = each.run[is_repaired];
    }
    if (argc > 3) rounds = atoi(argv[3]);
    pthread_barrier_init(&start, nullptr, kThreads);
    pthread_t threads[kThreads];
    for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], nullptr, run, reinterpret_cast<void*>(i));
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    return 0;
}
