// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/lines.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace bd::calibrate {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStrideLines = 5;
constexpr std::size_t kMostNearby = 6;  // lines

std::uint64_t next_random(std::uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// The compiler must believe that the value is used.
void use(std::uint64_t value) {
    asm volatile("" : : "r"(value));
}

// Addresses of which each is stored at the one before, in a circle.
class Chain : public Measurement {
public:
    explicit Chain(std::vector<char*> places) : places_(std::move(places)), at_(places_.front()) {}

    // The buffer is shared: others have their own circles in it.
    void warm() override {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            *reinterpret_cast<char**>(places_[i]) = places_[i + 1 == places_.size() ? 0 : i + 1];
        }
        at_ = places_.front();
        run(static_cast<long>(std::min(places_.size(), kMostWarmed)));
    }

    void run(long times) override {
        char* at = at_;
        for (long i = 0; i < times; ++i) at = *reinterpret_cast<char**>(at);
        at_ = at;
        use(reinterpret_cast<std::uintptr_t>(at));
    }

private:
    static constexpr std::size_t kMostWarmed = 1 << 20;

    std::vector<char*> places_;
    char* at_;
};

// All addresses are known in advance.
class Loads : public Measurement {
public:
    Loads(char* data, std::size_t bytes, std::size_t line) : data_(data), lines_(bytes / line), line_(line) {}

    void warm() override {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < lines_; ++i) sum += *reinterpret_cast<std::uint64_t*>(data_ + i * line_);
        use(sum);
    }

protected:
    char* data_;
    std::size_t lines_;
    std::size_t line_;
};

// `step` lines further each time, and from the end to the next line at the beginning: all of them in turn, `kAtOnce` of
// them between two looks at the loop's end.
template <std::size_t kAtOnce>
class Steps : public Loads {
public:
    Steps(char* data, std::size_t bytes, std::size_t line, std::size_t step) : Loads(data, bytes, line), step_(step) {}

    void run(long times) override {
        std::uint64_t sums[4] = {};
        const std::size_t bytes = step_ * line_;
        for_each_place(times, [&](char* at) {
#pragma GCC unroll 8
            for (std::size_t k = 0; k < kAtOnce; ++k) {
                sums[k % 4] += *reinterpret_cast<const volatile std::uint64_t*>(at + k * bytes);
            }
        });
        use(sums[0] + sums[1] + sums[2] + sums[3]);
    }

protected:
    // Where each `kAtOnce` of them begin. What is counted stays in registers.
    template <class Visit>
    void for_each_place(long times, Visit visit) {
        const std::size_t end = lines_ - (kAtOnce - 1) * step_;
        std::size_t at = at_;
        for (long i = 0; i < times; i += kAtOnce) {
            visit(data_ + at * line_);
            at += kAtOnce * step_;
            if (at >= end) at = begun_anew(end);
        }
        at_ = at;
    }

private:
    std::size_t begun_anew(std::size_t end) {
        if (++first_ == step_ || first_ >= end) first_ = 0;
        return first_;
    }

    std::size_t step_;
    std::size_t first_ = 0;
    std::size_t at_ = 0;
};

// The loop's own instructions are not what is measured.
constexpr std::size_t kMany = 8;
// As compilers leave a loop. Prefetchers go by the instruction, a few of its steps ahead: eight instructions that take
// turns would make them look eight times as far.
constexpr std::size_t kOne = 1;

class Writes : public Steps<kMany> {
public:
    Writes(char* data, std::size_t bytes, std::size_t line) : Steps(data, bytes, line, 1) {}

    void run(long times) override {
        for_each_place(times, [this](char* at) {
#pragma GCC unroll 8
            for (std::size_t k = 0; k < kMany; ++k) {
                *reinterpret_cast<volatile std::uint64_t*>(at + k * line_ + sizeof(char*)) = k;
            }
        });
    }
};

class RandomLoads : public Loads {
public:
    using Loads::Loads;

    void run(long times) override {
        std::uint64_t sums[kGenerators] = {};
        std::uint64_t states[kGenerators];
        std::copy(std::begin(states_), std::end(states_), std::begin(states));
        for (long i = 0; i < times; i += kGenerators) {
#pragma GCC unroll 4
            for (std::size_t k = 0; k < kGenerators; ++k) {
                states[k] = states[k] * 6364136223846793005u + 1442695040888963407u;
                // The upper half as a fraction of the lines: no division.
                const std::uint64_t at = ((states[k] >> 32) * lines_) >> 32;
                sums[k] += *reinterpret_cast<const std::uint64_t*>(data_ + at * line_);
            }
        }
        std::copy(std::begin(states), std::end(states), std::begin(states_));
        use(sums[0] + sums[1] + sums[2] + sums[3]);
    }

private:
    // Several, as none is to wait for the one before.
    static constexpr std::size_t kGenerators = 4;

    std::uint64_t states_[kGenerators] = {1, 2, 3, 4};
};

std::vector<char*> shuffled(std::vector<char*> places) {
    std::uint64_t state = 7;
    for (std::size_t i = places.size() - 1; i > 0; --i) std::swap(places[i], places[next_random(&state) % (i + 1)]);
    return places;
}

std::vector<char*> all_lines(char* data, std::size_t bytes, std::size_t line) {
    std::vector<char*> places(bytes / line);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = data + i * line;
    return places;
}

// A few lines further on each time, at random.
std::vector<char*> nearby_lines(char* data, std::size_t bytes, std::size_t line) {
    std::vector<char*> places;
    std::uint64_t state = 7;
    for (std::size_t at = 0; at < bytes / line; at += 1 + next_random(&state) % kMostNearby) {
        places.push_back(data + at * line);
    }
    return places;
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes), data_(nullptr) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Failure("there is not enough memory for a buffer larger than the caches");
    data_ = static_cast<char*>(memory);
    madvise(memory, bytes, MADV_NOHUGEPAGE);  // not known to a kernel that has none
    for (std::size_t at = 0; at < bytes; at += kPage) data_[at] = 1;
}

Buffer::~Buffer() {
    munmap(data_, bytes_);
}

std::unique_ptr<Measurement> lines_in(Order order, const Buffer& buffer, std::size_t bytes, std::size_t line) {
    char* const data = buffer.data();
    switch (order) {
        case Order::kInOrder:
            return std::make_unique<Steps<kMany>>(data, bytes, line, 1);
        case Order::kStride:
            return std::make_unique<Steps<kOne>>(data, bytes, line, kStrideLines);
        case Order::kColumn:
            return std::make_unique<Steps<kOne>>(data, bytes, line, kPage / line + 1);
        case Order::kIndependent:
            return std::make_unique<RandomLoads>(data, bytes, line);
        case Order::kNearby:
            return std::make_unique<Chain>(nearby_lines(data, bytes, line));
        case Order::kChain:
            return std::make_unique<Chain>(shuffled(all_lines(data, bytes, line)));
        case Order::kWrite:
            return std::make_unique<Writes>(data, bytes, line);
    }
    return nullptr;
}

std::unique_ptr<Measurement> pages_in(const Buffer& buffer, std::size_t pages, bool packed, std::size_t line) {
    if (packed) return std::make_unique<Chain>(shuffled(all_lines(buffer.data(), pages * line, line)));
    std::vector<char*> places(pages);
    // Another line of each page, so that they do not share a few sets of the cache.
    for (std::size_t i = 0; i < pages; ++i) places[i] = buffer.data() + i * kPage + i * line % kPage;
    return std::make_unique<Chain>(shuffled(std::move(places)));
}

}  // namespace bd::calibrate
