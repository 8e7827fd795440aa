// SPDX-License-Identifier: GPL-2.0-or-later
/* sort RECORDS ROUNDS: the C library's sort and search with callbacks of ours: calls that come back from
   another object, through pointers and the procedure linkage table. The first sort moves records of 40
   bytes, the second only pointers to them, so that each comparison loads two records elsewhere. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[16];
    uint64_t number;
    uint64_t unused[2];
} Record;

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 16;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const Record *)left)->number;
    uint64_t b = ((const Record *)right)->number;
    return (a > b) - (a < b);
}

static int by_name(const void *left, const void *right)
{
    const Record *a = *(const Record *const *)left;
    const Record *b = *(const Record *const *)right;
    int order = strcmp(a->name, b->name);
    return order ? order : by_number(a, b);
}

static void fill(Record *records, size_t count, uint64_t seed)
{
    random_state = seed;
    for (size_t i = 0; i < count; i++) {
        records[i].number = next_random();
        uint64_t letters = next_random();
        for (int c = 0; c < 7; c++) {
            records[i].name[c] = (char)('a' + (letters & 15));
            letters >>= 4;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: sort RECORDS ROUNDS\n");
        return 2;
    }
    size_t count = strtoul(argv[1], NULL, 10);
    int rounds = atoi(argv[2]);
    Record *records = calloc(count, sizeof *records);
    const Record **pointers = calloc(count, sizeof *pointers);
    if (!records || !pointers) {
        fprintf(stderr, "sort: out of memory\n");
        return 1;
    }
    uint64_t found = 0;
    for (int round = 0; round < rounds; round++) {
        fill(records, count, (uint64_t)round + 1);
        qsort(records, count, sizeof *records, by_number);
        for (size_t i = 0; i < count; i++)
            pointers[i] = &records[i];
        qsort(pointers, count, sizeof *pointers, by_name);
        for (size_t i = 1; i < count; i++) {
            if (by_number(&records[i - 1], &records[i]) > 0 || by_name(&pointers[i - 1], &pointers[i]) > 0) {
                fprintf(stderr, "sort: not sorted at %zu\n", i);
                return 1;
            }
        }
        for (size_t i = 0; i < count; i++) {
            const Record *wanted = &records[next_random() % count];
            found += bsearch(&wanted, pointers, count, sizeof *pointers, by_name) != NULL;
        }
    }
    printf("sort: %llu found\n", (unsigned long long)found);
    return found == (uint64_t)count * (uint64_t)rounds ? 0 : 1;
}
