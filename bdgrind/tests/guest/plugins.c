// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two libraries, one after the other at the same address: each is opened, called and closed again.
// What happened keeps the name it had at the time. Fails if the addresses differ, for then the test
// would show nothing.
//
// build: -O0
// expect: calls main > red_work = 3; main > green_work = 5; red_work > red_part = 6
// expect: calls green_work > green_part = 5; main > after = 2

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

static void after(void) {}

int main(int argc, char *argv[])
{
    const char *names[] = {"red", "green"};
    void *addresses[2];
    (void)argc;
    for (int i = 0; i < 2; ++i) {
        char path[4096], own[4096], symbol[32];
        snprintf(own, sizeof own, "%s", argv[0]);
        snprintf(path, sizeof path, "%s/plugin_%s", dirname(own), names[i]);
        snprintf(symbol, sizeof symbol, "%s_work", names[i]);
        void *library = dlopen(path, RTLD_NOW);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        void (*work)(void);
        *(void **)&work = addresses[i] = dlsym(library, symbol);
        for (int call = 0; call < 3 + 2 * i; ++call)
            work();
        dlclose(library);
        after();
    }
    return addresses[0] == addresses[1] ? 0 : 2;
}
