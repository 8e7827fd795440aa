// SPDX-License-Identifier: GPL-2.0-or-later
//
// A bit of everything for comparisons with the oracle over many cache geometries: sorting, strings,
// a transposition, a hash table, a linked list, unaligned fields. About 600,000 instructions.
//
// build: -O2 -static

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNumbers = 2000, kSide = 96, kBuckets = 1024, kRecords = 1500 };

struct __attribute__((packed)) record {
    char tag;
    unsigned key;
    double value;
    char padding[30];
    unsigned short next;
};

static unsigned random_state = 1;
static unsigned numbers[kNumbers];
static double matrix[kSide][kSide], transposed[kSide][kSide];
static struct record records[kRecords];
static unsigned short buckets[kBuckets];

static unsigned next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static int compare(const void *left, const void *right)
{
    unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
    return (a > b) - (a < b);
}

static unsigned sort_numbers(void)
{
    for (int i = 0; i < kNumbers; ++i)
        numbers[i] = next_random();
    qsort(numbers, kNumbers, sizeof numbers[0], compare);
    return numbers[kNumbers / 2];
}

static double transpose(void)
{
    for (int i = 0; i < kSide * kSide; ++i)
        matrix[i / kSide][i % kSide] = i;
    for (int row = 0; row < kSide; ++row)
        for (int column = 0; column < kSide; ++column)
            transposed[column][row] = matrix[row][column];
    return transposed[kSide - 1][1];
}

static double look_up(void)
{
    double sum = 0;
    for (unsigned short i = 1; i < kRecords; ++i) {
        struct record *record = &records[i];
        record->key = next_random();
        record->value = i;
        record->next = buckets[record->key % kBuckets];
        buckets[record->key % kBuckets] = i;
    }
    for (int i = 0; i < kRecords; ++i)
        for (unsigned short at = buckets[next_random() % kBuckets]; at; at = records[at].next)
            sum += records[at].value;
    return sum;
}

static size_t copy_strings(void)
{
    static char text[20000], copy[20001];
    size_t length = 0;
    for (int i = 0; i < 40; ++i) {
        size_t at = next_random() % 10000, bytes = next_random() % 1000;
        memset(text + at, 'a' + i % 26, bytes);
        memcpy(copy + at + 1, text + at, bytes);
        length += strnlen(copy + 1, sizeof copy - 1);
    }
    return length;
}

int main(void)
{
    printf("%u %g %g %zu\n", sort_numbers(), transpose(), look_up(), copy_strings());
    return 0;
}
