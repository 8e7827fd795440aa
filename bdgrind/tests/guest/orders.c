// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O2 -fno-tree-vectorize -fno-tree-loop-distribute-patterns -fno-unroll-loops
//
// Goes through memory in orders that are known. A comment behind a line says it for the accesses of that line:
//
//   order: STEPS DEPENDS
//
// STEPS is near, same, far, or a number: so many bytes each time. DEPENDS is what addresses are computed from:
// arithmetic, or what was loaded: an index, a pointer, or a chain.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 2000, kRows = 96, kColumns = 96, kPages = 300 };

#define NOINLINE __attribute__((noipa))

double matrix[kRows][kColumns];
static int data[1 << 16];
static int odd[kCount * 25];

typedef struct Node Node;
struct Node {
    Node *next;
    Node *left, *right;
    long key;
    char room[88];
};
static Node nodes[kCount];
static Node *pointers[kCount];
static uint32_t indices[kCount];
static int32_t links[kCount];

static unsigned long long state = 1;
static unsigned long long next_random(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 33;
}

NOINLINE static long stream(const int *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[i];  // order: near arithmetic
    }
    return sum;
}

NOINLINE static long strided(const int *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[i * 32];  // order: 128 arithmetic
    }
    return sum;
}

NOINLINE static long odd_stride(const int *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[i * 25];  // order: 100 arithmetic
    }
    return sum;
}

NOINLINE static long backward(const int *from, long count) {
    long sum = 0;
    for (long i = count - 1; i >= 0; --i) {
        sum += from[i * 16];  // order: -64 arithmetic
    }
    return sum;
}

// What the compiler takes to be unlikely lies behind the function's other code, though it is executed in every third
// round.
NOINLINE static long out_of_line(const int *from, const int *rare, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        if (__builtin_expect(i % 3 == 1, 0)) {
            sum ^= rare[i * 16];  // order: 192 arithmetic
            if (sum == 77) abort();
        }
        sum += from[i * 20];  // order: 80 arithmetic
    }
    return sum;
}

// The same in a loop around another one; and an inner loop that goes on from there.
NOINLINE static double out_of_line_around(int seldom) {
    double sum = 0;
    for (int j = 0; j < kColumns; ++j) {
        if (__builtin_expect(j % 3 == seldom, 0)) {
            sum = -sum;
            data[j]++;
        }
        for (int i = 0; i < kRows; ++i) {
            if (__builtin_expect(i % 8 == seldom, 0)) {
                data[i]++;
                continue;
            }
            sum -= matrix[i][j] * 3;  // along columns
        }
    }
    return sum;
}

NOINLINE static double column_walk(void) {
    double sum = 0;
    for (int j = 0; j < kColumns; ++j) {
        for (int i = 0; i < kRows; ++i) {
            sum += matrix[i][j];  // order: 768 arithmetic
        }
    }
    return sum;
}

NOINLINE static long page_walk(const char *pages) {
    long sum = 0;
    for (long i = 0; i < kPages; ++i) {
        sum += pages[i * 4096];  // order: 4096 arithmetic
    }
    return sum;
}

NOINLINE static long indexed(const int *from, const uint32_t *index, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[  // order: far index
            index[i]];
    }
    return sum;
}

NOINLINE static long by_pointer(Node *const *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[i]->key;  // order: far pointer
    }
    return sum;
}

NOINLINE static long list(const Node *node) {
    long sum = 0;
    while (node != NULL) {
        sum += node->key;  // order: far chain
        node = node->next;
    }
    return sum;
}

NOINLINE static long linked_by_index(const int32_t *next, long count) {
    long at = 0;
    while (count-- != 0) {
        at = next[at];  // order: far chain
    }
    return at;
}

NOINLINE static long tree_search(const Node *node, long key) {
    while (node != NULL && node->key != key) {  // order: far chain
        node = node->key < key ? node->right : node->left;
    }
    return node != NULL;
}

NOINLINE static long searches(const Node *root, long count) {
    long found = 0;
    for (long i = 0; i < count; ++i) found += tree_search(root, (long)(next_random() % kCount));
    return found;
}

// An address at random, but none that waits for a load.
NOINLINE static long computed(const int *from, long count) {
    unsigned long long random = 7;
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        sum += from[random >> 48];  // order: far arithmetic
    }
    return sum;
}

// Chains of one or two nodes: the look-ups do not wait for each other.
NOINLINE static long hash_table(Node *const *heads, const uint32_t *keys, long count) {
    long found = 0;
    for (long i = 0; i < count; ++i) {
        const Node *node = heads[  // order: far index
            keys[i] * 2654435761u % kCount];
        while (node != NULL && node->key != keys[i]) node = node->next;
        found += node != NULL;
    }
    return found;
}

typedef struct {
    char bytes[40];
    long value;
} __attribute__((packed)) Record;

NOINLINE static long records(const Record *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        sum += from[i].value;  // order: near arithmetic
    }
    return sum;
}

// One instruction, where there is such a one.
#if defined(__x86_64__) || defined(__i386__)
#define COPY_BYTES __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory")
#else
#define COPY_BYTES while (count-- != 0) *to++ = *from++
#endif

NOINLINE static void copy(char *to, const char *from, size_t count) {
    COPY_BYTES;  // order: near arithmetic
}

// The same, not in a loop of its own: the caller's is what repeats it.
NOINLINE static long get(const Node *node) {
    return node->key;  // order: 120 arithmetic
}
NOINLINE static long by_calls(const Node *from, long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) sum += get(from + i);
    return sum;
}

// The pointer is loaded each time, as stores might change it; but it is always the same.
typedef struct {
    int *elements;
    long sum;
} Vector;
NOINLINE static void reloaded(Vector *vector, long count) {
    for (long i = 0; i < count; ++i) {
        vector->sum += (  // order: same arithmetic
            vector->elements[i * 32]);  // order: 128 arithmetic
        __asm__ volatile("" : : : "memory");
    }
}

int main(void) {
    long sum = 0;
    static long order[kCount];  // at random, but the first one
    for (long i = 0; i < kCount; ++i) {
        const long other = i == 0 ? 0 : 1 + (long)(next_random() % (unsigned long)i);
        order[i] = order[other];
        order[other] = i;
    }
    for (long i = 0; i < kCount; ++i) {
        const long next = order[(i + 1) % kCount];
        nodes[order[i]].next = i + 1 == kCount ? NULL : &nodes[next];
        nodes[i].key = i;
        pointers[i] = &nodes[order[i]];
        indices[i] = (uint32_t)(next_random() & 0xffff);
        links[order[i]] = (int32_t)next;
    }
    for (long i = 0; i < 3; ++i) {
        sum += stream(data, kCount) + strided(data, kCount) + odd_stride(odd, kCount) + backward(data, kCount);
        sum += (long)column_walk() + indexed(data, indices, kCount) + by_pointer(pointers, kCount);
        sum += list(nodes) + linked_by_index(links, kCount) + computed(data, kCount);
        sum += by_calls(nodes, kCount);
    }
    sum += out_of_line(odd, data, kCount) + (long)out_of_line_around(2);
    char *const pages = calloc(kPages + 1, 4096);
    for (int i = 0; i < 3; ++i) sum += page_walk(pages);

    // A tree in no order.
    for (long i = 0; i < kCount; ++i) {
        nodes[i].left = nodes[i].right = NULL;
        nodes[i].key = order[i] == 0 ? kCount / 2 : order[i];
    }
    for (long i = 1; i < kCount; ++i) {
        Node *at = &nodes[0];
        for (Node **to; at != &nodes[i]; at = *to) {
            to = nodes[i].key < at->key ? &at->left : &at->right;
            if (*to == NULL) *to = &nodes[i];
        }
    }
    sum += searches(nodes, kCount);

    static Node *heads[kCount];
    static uint32_t keys[kCount];
    for (long i = 0; i < kCount; ++i) {
        nodes[i].key = (long)(next_random() & 0xffffff);
        keys[i] = (uint32_t)nodes[i].key;
        Node **const head = &heads[keys[i] * 2654435761u % kCount];
        nodes[i].next = *head;
        *head = &nodes[i];
    }
    for (int i = 0; i < 3; ++i) sum += hash_table(heads, keys, kCount);

    static char bytes[kCount * 48 + 64];
    Record *const unaligned = (Record *)(bytes + 20);
    for (int i = 0; i < 3; ++i) sum += records(unaligned, kCount);
    copy(bytes, (const char *)data, kCount);

    Vector vector = {data, 0};
    reloaded(&vector, kCount);
    sum += vector.sum;
    return sum == 42;
}
