// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// Maps files of every kind and moves what is mapped, in the folder that is its argument. walk() reads a byte of each of
// 100 lines, none of which is in a D1 of 64 lines: so it loads exactly 100 lines into D1 for each mapping.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kSize = 8192, kLines = 100 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;

NOINLINE void walk(const volatile char *object) {
    for (int i = 0; i < kLines; i++) sink = object[64 * i];
}

NOINLINE char *mapped(void *where, size_t size, int flags, int file) {
    char *block = mmap(where, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (block == MAP_FAILED) abort();
    return block;
}

NOINLINE int file_of(const char *name, off64_t size) {
    const int file = open64(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate64(file, size) != 0) abort();
    return file;
}

/* To look at each word of that takes many minutes. */
NOINLINE void large(void) {
    const size_t size = (size_t)1 << (sizeof(size_t) == 8 ? 32 : 29);
    const int file = file_of("sparse", (off64_t)size);
    char *block = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
    if (block == MAP_FAILED) abort();
    walk(block);
    walk(block + size - kSize);
    munmap(block, size);
    for (int i = 0; i < 100; i++) {
        block = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
        sink = block[0];
        munmap(block, size);
    }
    close(file);
}

NOINLINE void kinds(void) {
    char *block = mapped(0, kSize, MAP_PRIVATE, file_of("private", kSize));
    block[kSize - 1] = 1; /* this page is no more the file's */
    walk(block);
    block = mapped(0, kSize, MAP_SHARED, file_of("shared", kSize));
    walk(block);
    const int deleted = file_of("deleted", kSize);
    unlink("deleted");
    walk(mapped(0, kSize, MAP_SHARED, deleted));
    block = mapped(0, kSize, MAP_SHARED, file_of("deleted later", kSize));
    unlink("deleted later");
    walk(block);
    const int memory = memfd_create("frames", 0);
    if (memory < 0 || ftruncate(memory, kSize) != 0) abort();
    walk(mapped(0, kSize, MAP_SHARED, memory));
    walk(mapped(0, kSize, MAP_PRIVATE, open("/dev/zero", O_RDWR)));
}

NOINLINE char *moved(char *block, size_t size, void *to) {
    block = mremap(block, kSize, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (block == MAP_FAILED) abort();
    return block;
}

NOINLINE void moves(void) {
    char *const hole = mapped(0, 4 * kSize, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    munmap(hole, 4 * kSize);
    char *block = mapped(0, kSize, MAP_SHARED, file_of("moved", 2 * kSize));
    walk(block);
    block = moved(block, 2 * kSize, hole + kSize);
    walk(block);
    walk(block + kSize); /* new */
    block = moved(mapped(0, kSize, MAP_PRIVATE | MAP_ANONYMOUS, -1), kSize, hole + 3 * kSize);
    walk(block);
}

/* An arena whose blocks are never freed, with a file in its place; and malloc's blocks, whose place is used again. */
static char *arena;
NOINLINE char *arena_alloc(size_t size) { return (arena += size) - size; }
NOINLINE char *from_arena(void) { char *block = arena_alloc(kSize); sink = 0; return block; }
NOINLINE char *from_malloc(void) { char *block = malloc(1 << 20); sink = 0; return block; }

NOINLINE void heaps(void) {
    char *const all = arena = mapped(0, 4 * kSize, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (int i = 0; i < 4; i++) walk(from_arena());
    munmap(all + 2 * kSize, 2 * kSize);
    const int file = file_of("instead", 4 * kSize);
    mapped(all, 4 * kSize, MAP_SHARED | MAP_FIXED, file);
    for (int i = 0; i < 4; i++) walk(all + i * kSize);
    char *const block = from_malloc();
    char *const page = (char *)(((size_t)block + 4095) & ~(size_t)4095);
    walk(block + kSize);
    free(block); /* and unmap */
    walk(mapped(page, kSize, MAP_SHARED | MAP_FIXED, file));
}

int main(int argc, char **argv) {
    if (argc != 2 || chdir(argv[1]) != 0) return 1;
    large();
    kinds();
    moves();
    heaps();
    return 0;
}
