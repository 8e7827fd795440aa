// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/cores.h"

#include <sched.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

namespace bd::calibrate {
namespace {

constexpr long kStop = -1;
// Further looks at the line are not worth it: the other thread does not run.
constexpr int kMostLooks = 20'000;

// The processors on which a thread may run.
class Processors {
public:
    Processors() : is_known_(sched_getaffinity(0, sizeof set_, &set_) == 0) {}

    bool has(int number) const { return is_known_ && CPU_ISSET(number, &set_); }
    void apply() const {
        if (is_known_) sched_setaffinity(0, sizeof set_, &set_);
    }

    static void pin_to(int number) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(number, &set);
        sched_setaffinity(0, sizeof set, &set);
    }

private:
    cpu_set_t set_{};
    bool is_known_;
};

// Which core a processor belongs to, across packages; empty if the kernel does not say.
std::string core_of(int processor) {
    std::string found;
    for (const char* const name : {"physical_package_id", "core_id"}) {
        const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/" + name;
        std::FILE* const file = std::fopen(path.c_str(), "r");
        if (file == nullptr) return "";
        char text[32] = "";
        const bool is_read = std::fgets(text, sizeof text, file) != nullptr;
        std::fclose(file);
        if (!is_read) return "";
        found += text;
    }
    return found;
}

struct Pair {
    int one;
    int other;
};

std::optional<Pair> two_cores() {
    const Processors allowed;
    std::optional<int> one;
    for (int number = 0; number < CPU_SETSIZE; ++number) {
        if (!allowed.has(number)) continue;
        if (!one) {
            one = number;
        } else if (core_of(number).empty() || core_of(number) != core_of(*one)) {
            return Pair{*one, number};
        }
    }
    return {};
}

class Transfers : public Measurement {
public:
    explicit Transfers(Pair pair) : pair_(pair) {}

    void warm() override {
        line_ = 0;
        partner_ = std::thread([this] {
            Processors::pin_to(pair_.other);
            for (long turn = 1;; turn += 2) {
                if (!wait_for(turn)) return;
                line_.store(turn + 1, std::memory_order_release);
            }
        });
        Processors::pin_to(pair_.one);
        turn_ = 0;
        run(64);
    }

    // A line goes to the other processor and comes back: two of them.
    void run(long times) override {
        for (long i = 0; i < times; i += 2) {
            line_.store(turn_ + 1, std::memory_order_release);
            turn_ += 2;
            wait_for(turn_);
        }
    }

    void cool() override {
        line_.store(kStop, std::memory_order_release);
        partner_.join();
        allowed_.apply();
    }

private:
    // Whether there is a turn, or the end.
    bool wait_for(long turn) const {
        for (int looks = 0;; ++looks) {
            const long found = line_.load(std::memory_order_acquire);
            if (found == turn) return true;
            if (found == kStop) return false;
            if (looks == kMostLooks) {
                looks = 0;
                sched_yield();
            }
        }
    }

    Pair pair_;
    Processors allowed_;
    std::thread partner_;
    long turn_ = 0;
    alignas(128) std::atomic<long> line_{0};  // the last: what follows would be in it
};

}  // namespace

std::unique_ptr<Measurement> transfers() {
    const std::optional<Pair> pair = two_cores();
    if (!pair) return nullptr;
    return std::make_unique<Transfers>(*pair);
}

}  // namespace bd::calibrate
