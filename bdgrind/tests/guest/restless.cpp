// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O1 -pthread

   For the soak (system/soak.py): does a little of everything until SIGTERM ends it. Each round starts two threads,
   throws, raises signals whose handler jumps out, and forks now and then. What it holds on to does not grow.  */

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

volatile std::sig_atomic_t ended = 0;
thread_local sigjmp_buf* escape = nullptr;

void end(int) { ended = 1; }

// A signal may also come from outside: then nothing may wait for it.
void jump(int) {
    if (escape != nullptr) siglongjmp(*escape, 1);
}

long walk(int depth, std::vector<long>& memory, unsigned& state) {
    long sum = 0;
    for (int i = 0; i < 20; ++i) {
        state = state * 1103515245 + 12345;
        long& place = memory[(state >> 8) % memory.size()];
        sum += place;
        place = sum ^ depth;
    }
    if (depth == 0) {
        if ((state >> 12) % 4 == 0) throw std::runtime_error("up");
        return sum;
    }
    return sum + walk(depth - 1, memory, state) + ((state >> 16) % 2 ? walk(depth / 2, memory, state) : 0);
}

void* work(void* argument) {
    unsigned state = *static_cast<unsigned*>(argument);
    std::vector<long> memory(20000);
    for (int i = 0; i < 5; ++i) {
        try {
            walk(6, memory, state);
        } catch (const std::runtime_error&) {
        }
    }
    return nullptr;
}

void raise_and_jump() {
    sigjmp_buf here;
    if (sigsetjmp(here, 1) == 0) {
        escape = &here;
        std::raise(SIGUSR1);
    }
    escape = nullptr;
}

void fork_one(unsigned* state) {
    const pid_t child = fork();
    if (child == 0) {
        work(state);
        std::_Exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
}

}  // namespace

int main() {
    std::signal(SIGTERM, end);
    std::signal(SIGUSR1, jump);
    std::puts("ready");
    std::fflush(stdout);
    for (unsigned round = 1; ended == 0; ++round) {
        unsigned seeds[] = {round, round * 7};
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) {
            if (pthread_create(&threads[i], nullptr, work, &seeds[i]) != 0) std::abort();
        }
        raise_and_jump();
        for (const pthread_t thread : threads) pthread_join(thread, nullptr);
        if (round % 16 == 0) fork_one(&seeds[0]);
        usleep(1000);
    }
}
