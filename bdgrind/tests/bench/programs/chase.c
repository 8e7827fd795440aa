// SPDX-License-Identifier: GPL-2.0-or-later
/* chase NODES STEPS: pointer chasing. A list whose nodes form one random cycle, each on a cache line of
   its own, of which the walk uses 16 bytes; and a random binary tree of 40-byte nodes that lookups
   descend. Nearly every step misses: the slow path of a cache simulator is the subject. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ListNode {
    struct ListNode *next;
    uint64_t value;
    char unused[48];
} ListNode;

typedef struct TreeNode {
    struct TreeNode *child[2];
    uint64_t key;
    uint64_t hits;
    uint64_t unused;
} TreeNode;

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "chase: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Sattolo's shuffle of the identity is a permutation of one single cycle. */
static ListNode *make_cycle(size_t count)
{
    ListNode *nodes = checked(aligned_alloc(64, count * sizeof *nodes));
    size_t *order = checked(malloc(count * sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = next_random() % i;
        size_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        nodes[i].next = &nodes[order[i]];
        nodes[i].value = i;
    }
    free(order);
    return nodes;
}

static __attribute__((noinline)) uint64_t walk(const ListNode *node, size_t steps)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < steps; i++) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}

static TreeNode *make_tree(size_t count)
{
    TreeNode *nodes = checked(calloc(count, sizeof *nodes));
    nodes[0].key = next_random();
    for (size_t i = 1; i < count; i++) {
        nodes[i].key = next_random();
        TreeNode **place = &nodes[0].child[nodes[i].key > nodes[0].key];
        while (*place)
            place = &(*place)->child[nodes[i].key > (*place)->key];
        *place = &nodes[i];
    }
    return nodes;
}

static __attribute__((noinline)) TreeNode *find(TreeNode *root, uint64_t key)
{
    TreeNode *node = root;
    while (node && node->key != key)
        node = node->child[key > node->key];
    return node;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: chase NODES STEPS\n");
        return 2;
    }
    size_t count = strtoul(argv[1], NULL, 10);
    size_t steps = strtoul(argv[2], NULL, 10);
    ListNode *cycle = make_cycle(count);
    uint64_t once = walk(cycle, count);
    if (once != (uint64_t)count * (count - 1) / 2) {
        fprintf(stderr, "chase: the list is not one cycle\n");
        return 1;
    }
    uint64_t sum = walk(cycle, steps);

    size_t tree_count = count / 4 + 1;
    TreeNode *tree = make_tree(tree_count);
    size_t lookups = steps / 16;
    for (size_t i = 0; i < lookups; i++) {
        TreeNode *found = find(tree, tree[next_random() % tree_count].key);
        if (!found) {
            fprintf(stderr, "chase: a key of the tree was not found\n");
            return 1;
        }
        found->hits++;
    }
    uint64_t hits = 0;
    for (size_t i = 0; i < tree_count; i++)
        hits += tree[i].hits;
    printf("chase: sum %llu, %llu lookups\n", (unsigned long long)sum, (unsigned long long)hits);
    return hits == lookups ? 0 : 1;
}
