// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sample=bursts: when the program is observed, and which part of that counts. Time is how many blocks have run.
//
//     not observed  ->  warming: caches fill  ->  counting  ->  cooling: what was loaded is used on  ->  not observed
//
// Each period has one burst. Where in the period it begins to count is random, but follows from the seed, so that each
// block of the program is as likely to be counted as any other, and no rhythm of the program's can hide from all
// bursts.

#pragma once

#include <algorithm>
#include <cstdint>

namespace bd {

// Lengths are in blocks.
struct BurstRules {
    std::uint64_t length = 0;  // that count; 0: there are no bursts
    std::uint64_t period = 0;  // of which one burst is taken; at least `length`
    std::uint64_t seed = 0;

    // What is simulated before and behind that, and does not count.
    std::uint64_t margin() const { return std::max<std::uint64_t>(length / 10, 100'000); }
};

class BurstSchedule {
public:
    enum class Phase : std::uint8_t { kUnobserved, kWarming, kCounting, kCooling };

    explicit BurstSchedule(const BurstRules& rules) : rules_(rules) { plan(); }

    Phase phase() const { return phase_; }

    // So many blocks have run by now. True: another phase has begun, and it is to be called again.
    bool go_on(std::uint64_t blocks) {
        if (blocks < change_at_) return false;
        switch (phase_) {
            case Phase::kUnobserved:
                phase_ = Phase::kWarming;
                // What is late has to be warmed all the same; at the program's start, caches are cold.
                change_at_ = std::max(count_at_, blocks == 0 ? 0 : blocks + rules_.margin());
                break;
            case Phase::kWarming:
                phase_ = Phase::kCounting;
                change_at_ = blocks + rules_.length;
                break;
            case Phase::kCounting:
                phase_ = Phase::kCooling;
                change_at_ = blocks + rules_.margin();
                break;
            case Phase::kCooling:
                phase_ = Phase::kUnobserved;
                ++number_;
                plan();
                break;
        }
        return true;
    }

private:
    void plan() {
        count_at_ = number_ * rules_.period + random(rules_.seed, number_) % rules_.period;
        change_at_ = count_at_ - std::min(count_at_, rules_.margin());
    }

    // The finaliser of MurmurHash3, of two numbers.
    static std::uint64_t random(std::uint64_t seed, std::uint64_t number) {
        std::uint64_t value = seed * 0x9e3779b97f4a7c15u + (number + 1) * 0xbf58476d1ce4e5b9u;
        value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
        value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
        return value ^ value >> 33;
    }

    BurstRules rules_;
    std::uint64_t number_ = 0;
    std::uint64_t count_at_ = 0;   // where this period's burst begins to count
    std::uint64_t change_at_ = 0;  // when the next phase begins
    Phase phase_ = Phase::kUnobserved;
};

}  // namespace bd
