// SPDX-License-Identifier: GPL-2.0-or-later
//
// A program that writes its own functions: 20 of them into one page, each calls back to `callback`
// and returns; then the page is filled with 20 others, which call `other_callback`. Nothing has
// symbols there, but the calls back are counted, and main goes on as the caller of `after`.
//
// build: -O0 -static
// expect: calls callback = 20; other_callback = 20; main > after = 2
// expect: calls main > callback = 0; main > other_callback = 0

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { kFunctions = 20, kFunctionBytes = 64 };

static int calls_back;
static void callback(void) { ++calls_back; }
static void other_callback(void) { calls_back += 100; }
static void after(void) {}

#if defined(__x86_64__)
// sub $8, %rsp; movabs $target, %rax; call *%rax; add $8, %rsp; ret
static const unsigned char begin[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8};
static const unsigned char end[] = {0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#elif defined(__aarch64__)
// stp x29, x30, [sp, #-16]!; ldr x9, target; blr x9; b past; target; past: ldp x29, x30, [sp], #16; ret
static const unsigned char begin[] = {0xfd, 0x7b, 0xbf, 0xa9, 0x69, 0x00, 0x00, 0x58,
                                      0x20, 0x01, 0x3f, 0xd6, 0x03, 0x00, 0x00, 0x14};
static const unsigned char end[] = {0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#else
// sub $12, %esp; mov $target, %eax; call *%eax; add $12, %esp; ret
static const unsigned char begin[] = {0x83, 0xec, 0x0c, 0xb8};
static const unsigned char end[] = {0xff, 0xd0, 0x83, 0xc4, 0x0c, 0xc3};
#endif

static void write_function(unsigned char *code, void (*target)(void))
{
    uintptr_t address = (uintptr_t)target;
    memcpy(code, begin, sizeof begin);
    memcpy(code + sizeof begin, &address, sizeof address);
    memcpy(code + sizeof begin + sizeof address, end, sizeof end);
}

int main(void)
{
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*targets[])(void) = {callback, other_callback};
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < kFunctions; ++i)
            write_function(page + i * kFunctionBytes, targets[round]);
        __builtin___clear_cache((char *)page, (char *)page + 4096);
        for (int i = 0; i < kFunctions; ++i) {
            void (*function)(void);
            unsigned char *code = page + i * kFunctionBytes;
            memcpy(&function, &code, sizeof function);
            function();
        }
        after();
    }
    return calls_back == kFunctions * 101 ? 0 : 1;
}
