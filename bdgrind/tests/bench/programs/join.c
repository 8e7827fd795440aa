// SPDX-License-Identifier: GPL-2.0-or-later
/* join ROWS ROUNDS: a hash join. ROWS orders of 48 bytes are put into a chained hash table; eight times as
   many items of 32 bytes look theirs up and add to its total. Rows are read in sequence and use few of
   their columns, buckets and orders are touched at random. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kItemsPerOrder = 8 };

typedef struct Order {
    uint64_t key;
    uint64_t total;
    struct Order *next;
    uint64_t customer;
    uint64_t date;
    uint64_t unused;
} Order;

typedef struct {
    uint64_t order_key;
    uint64_t amount;
    uint64_t part;
    uint64_t unused;
} Item;

typedef struct {
    Order **bucket;
    size_t mask;
} Table;

static void *new_rows(size_t count, size_t size_bytes)
{
    void *rows = calloc(count, size_bytes);
    if (!rows) {
        fprintf(stderr, "join: out of memory\n");
        exit(1);
    }
    return rows;
}

static uint64_t mix(uint64_t key)
{
    key ^= key >> 31;
    key *= 0x7fb5d329728ea185u;
    key ^= key >> 27;
    key *= 0x81dadef4bc2dd44du;
    return key ^ key >> 33;
}

static __attribute__((noinline)) void insert(Table *table, Order *order)
{
    Order **bucket = &table->bucket[mix(order->key) & table->mask];
    order->next = *bucket;
    *bucket = order;
}

static __attribute__((noinline)) Order *look_up(const Table *table, uint64_t key)
{
    Order *order = table->bucket[mix(key) & table->mask];
    while (order && order->key != key)
        order = order->next;
    return order;
}

static void build(Table *table, Order *orders, size_t count)
{
    for (size_t i = 0; i <= table->mask; i++)
        table->bucket[i] = NULL;
    for (size_t i = 0; i < count; i++)
        insert(table, &orders[i]);
}

static uint64_t probe(const Table *table, const Item *items, size_t count)
{
    uint64_t matched = 0;
    for (size_t i = 0; i < count; i++) {
        Order *order = look_up(table, items[i].order_key);
        if (order) {
            order->total += items[i].amount;
            matched++;
        }
    }
    return matched;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: join ROWS ROUNDS\n");
        return 2;
    }
    size_t order_count = strtoul(argv[1], NULL, 10);
    int rounds = atoi(argv[2]);
    size_t item_count = order_count * kItemsPerOrder;
    Order *orders = new_rows(order_count, sizeof *orders);
    Item *items = new_rows(item_count, sizeof *items);
    /* Order i has the key 3 i. Even items ask for the key of some order, odd ones for a key between
       two orders', so that exactly half of the lookups find something. */
    for (size_t i = 0; i < order_count; i++)
        orders[i] = (Order){.key = 3 * i, .customer = mix(i), .date = i % 365};
    uint64_t expected = 0;
    for (size_t j = 0; j < item_count; j++) {
        size_t m = mix(j) % order_count;
        int finds = (j & 1) == 0;
        items[j] = (Item){.order_key = 3 * m + (finds ? 0 : 1), .amount = 1, .part = j};
        expected += finds;
    }
    Table table = {.mask = 1};
    while (table.mask + 1 < order_count)
        table.mask = table.mask * 2 + 1;
    table.bucket = new_rows(table.mask + 1, sizeof *table.bucket);

    uint64_t matched = 0;
    for (int round = 0; round < rounds; round++) {
        build(&table, orders, order_count);
        matched += probe(&table, items, item_count);
    }
    uint64_t total = 0;
    for (size_t i = 0; i < order_count; i++)
        total += orders[i].total;
    printf("join: %llu matches\n", (unsigned long long)matched);
    return matched == expected * (uint64_t)rounds && total == matched ? 0 : 1;
}
