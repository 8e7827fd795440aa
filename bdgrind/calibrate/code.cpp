// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/code.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

// How many instructions a loop has must be known, so it is not left to the compiler.
namespace bd::calibrate {
namespace {

constexpr int kWords = 512;
alignas(64) std::array<std::uint64_t, kWords> words;

#if defined(__x86_64__)
constexpr long kFree = 10, kPlain = 9, kChained = 8;

void free_loop(std::uint64_t times) {
    std::uint64_t a = 0, b = 0, at = 0, x = 0, y = 0;
    asm volatile(
        "1: mov (%[p],%[at],8), %[x]\n mov 8(%[p],%[at],8), %[y]\n add %[x], %[a]\n xor %[y], %[b]\n"
        "lea 1(%[x]), %[x]\n lea 3(%[y]), %[y]\n add $2, %[at]\n and $255, %[at]\n dec %[n]\n jnz 1b\n"
        : [a] "+r"(a), [b] "+r"(b), [at] "+r"(at), [x] "+r"(x), [y] "+r"(y), [n] "+r"(times)
        : [p] "r"(words.data())
        : "cc", "memory");
}

void plain_loop(std::uint64_t times) {
    std::uint64_t hash = 1, at = 0, x = 0;
    asm volatile(
        "1: movzbl (%[p],%[at]), %k[x]\n xor %[x], %[hash]\n rol $5, %[hash]\n"
        "inc %[at]\n and $2047, %[at]\n cmp $300, %[x]\n ja 2f\n dec %[n]\n jnz 1b\n2:\n"
        : [hash] "+r"(hash), [at] "+r"(at), [x] "+r"(x), [n] "+r"(times)
        : [p] "r"(words.data())
        : "cc", "memory");
}

void chained_loop(std::uint64_t times) {
    std::uint64_t a = 1;
    asm volatile(
        "1: add $3, %[a]\n xor $5, %[a]\n rol $7, %[a]\n add $9, %[a]\n not %[a]\n sub $4, %[a]\n"
        "dec %[n]\n jnz 1b\n"
        : [a] "+r"(a), [n] "+r"(times)
        :
        : "cc");
}
#elif defined(__aarch64__)
constexpr long kFree = 10, kPlain = 9, kChained = 8;

void free_loop(std::uint64_t times) {
    std::uint64_t a = 0, b = 0, at = 0, x = 0, y = 0;
    asm volatile(
        "1: ldr %[x], [%[p], %[at], lsl #3]\n ldr %[y], [%[p], %[at], lsl #3]\n add %[a], %[a], %[x]\n"
        "eor %[b], %[b], %[y]\n add %[x], %[x], #1\n add %[y], %[y], #3\n add %[at], %[at], #2\n"
        "and %[at], %[at], #255\n subs %[n], %[n], #1\n b.ne 1b\n"
        : [a] "+r"(a), [b] "+r"(b), [at] "+r"(at), [x] "+r"(x), [y] "+r"(y), [n] "+r"(times)
        : [p] "r"(words.data())
        : "cc", "memory");
}

void plain_loop(std::uint64_t times) {
    std::uint64_t hash = 1, at = 0, x = 0;
    asm volatile(
        "1: ldrb %w[x], [%[p], %[at]]\n eor %[hash], %[hash], %[x]\n ror %[hash], %[hash], #59\n"
        "add %[at], %[at], #1\n and %[at], %[at], #2047\n cmp %[x], #300\n b.hi 2f\n"
        "subs %[n], %[n], #1\n b.ne 1b\n2:\n"
        : [hash] "+r"(hash), [at] "+r"(at), [x] "+r"(x), [n] "+r"(times)
        : [p] "r"(words.data())
        : "cc", "memory");
}

void chained_loop(std::uint64_t times) {
    std::uint64_t a = 1;
    asm volatile(
        "1: add %[a], %[a], #3\n eor %[a], %[a], #7\n ror %[a], %[a], #7\n add %[a], %[a], #9\n"
        "mvn %[a], %[a]\n sub %[a], %[a], #4\n subs %[n], %[n], #1\n b.ne 1b\n"
        : [a] "+r"(a), [n] "+r"(times)
        :
        : "cc");
}
#else
#error bd_calibrate is for amd64 and arm64
#endif

template <void (*kRun)(std::uint64_t), long kLength>
class Instructions : public Measurement {
public:
    void run(long times) override { kRun(static_cast<std::uint64_t>((times + kLength - 1) / kLength)); }
};

class Branches : public Measurement {
public:
    explicit Branches(std::uint64_t mask) : mask_(mask) {}

    void run(long times) override {
        std::uint64_t state = state_, sum = 0;
        for (long i = 0; i < times; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if ((state >> 60 & mask_) != 0) {
                asm volatile("" : "+r"(sum));  // or it would be a conditional move
                ++sum;
            }
        }
        state_ = state;
        asm volatile("" : : "r"(sum));
    }

private:
    std::uint64_t mask_;
    std::uint64_t state_ = 1;
};

// A chain through the lines of a buffer.
char* chained(char* data, std::size_t lines, std::size_t line, std::uint64_t state) {
    std::vector<std::uint32_t> order(lines);
    for (std::size_t i = 0; i < lines; ++i) order[i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = lines - 1; i > 0; --i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::swap(order[i], order[(state >> 33) % (i + 1)]);
    }
    for (std::size_t i = 0; i < lines; ++i) {
        *reinterpret_cast<char**>(data + order[i] * line) = data + order[i + 1 == lines ? 0 : i + 1] * line;
    }
    return data;
}

// Some instructions write to a register and some do not, as in other code. Nops are no measure: some processors make
// one of two.
#if defined(__x86_64__)
#define BD_BETWEEN ".rept %c0 / 4\n add $1, %%r8d\n cmp $1, %%r9d\n lea 1(%%r10), %%r11d\n test %%r10d, %%r10d\n .endr"
#define BD_WRITTEN "r8", "r11", "cc", "memory"
#else
#define BD_BETWEEN ".rept %c0 / 4\n add w9, w9, #1\n cmp w10, #1\n add w11, w10, #1\n tst w10, w10\n .endr"
#define BD_WRITTEN "w9", "w11", "cc", "memory"
#endif

// Each half of the buffer has a chain of its own.
template <int kBetween>
class DistantLoads : public Measurement {
public:
    DistantLoads(const Buffer& buffer, std::size_t line) : buffer_(buffer), line_(line) {}

    void warm() override {
        const std::size_t lines = buffer_.size() / line_ / 2;
        one_ = chained(buffer_.data(), lines, line_, 3);
        other_ = chained(buffer_.data() + lines * line_, lines, line_, 5);
    }

    void run(long times) override {
        char* one = one_;
        char* other = other_;
        for (long i = 0; i < times; ++i) {
            one = *reinterpret_cast<char* volatile*>(one);
            asm volatile(BD_BETWEEN : : "i"(kBetween) : BD_WRITTEN);
            other = *reinterpret_cast<char* volatile*>(other);
            asm volatile(BD_BETWEEN : : "i"(kBetween) : BD_WRITTEN);
        }
        one_ = one;
        other_ = other;
    }

private:
    const Buffer& buffer_;
    std::size_t line_;
    char* one_ = nullptr;
    char* other_ = nullptr;
};

template <int... kBetween>
struct Distances {
    static std::vector<int> all() { return {kBetween...}; }
    static std::unique_ptr<Measurement> made(const Buffer& buffer, int instructions, std::size_t line) {
        std::unique_ptr<Measurement> found;
        ((kBetween == instructions ? void(found = std::make_unique<DistantLoads<kBetween>>(buffer, line)) : void()),
         ...);
        return found;
    }
};
using KnownDistances = Distances<8, 64, 128, 192, 224, 256, 320, 384, 448, 512, 576, 640, 768, 1024>;

}  // namespace

std::unique_ptr<Measurement> instructions_of(Loop loop) {
    switch (loop) {
        case Loop::kFree:
            return std::make_unique<Instructions<free_loop, kFree>>();
        case Loop::kPlain:
            return std::make_unique<Instructions<plain_loop, kPlain>>();
        case Loop::kChained:
            return std::make_unique<Instructions<chained_loop, kChained>>();
    }
    return nullptr;
}

std::unique_ptr<Measurement> branches(bool at_random) {
    return std::make_unique<Branches>(at_random ? 1 : 0);
}

std::vector<int> distances_of_loads() {
    return KnownDistances::all();
}

std::unique_ptr<Measurement> distant_loads(const Buffer& buffer, int instructions, std::size_t line) {
    return KnownDistances::made(buffer, instructions, line);
}

}  // namespace bd::calibrate
