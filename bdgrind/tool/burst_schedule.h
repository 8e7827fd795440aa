// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sample=bursts: when the program is observed, and which part of that counts. Time is how many blocks have run.
//
//     start: counted  ->  cooling: what was loaded is used on
//     ->  not observed  ->  warming: caches fill  ->  burst: counted  ->  cooling  ->  not observed  ->  ...
//     ->  warming, if the next burst is close
//
// The start counts as it is, as long as a burst is. Behind it, each period has one burst, at a random place of it.
// Where the first period begins is random, too, and all of that follows from the seed. A burst counts from the first
// look of Valgrind's behind its place to the first one that is LENGTH behind it, so each piece between two looks is as
// likely to be counted as any other, however long it is: its first block is behind the place, and less than LENGTH.

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
    enum class Phase : std::uint8_t { kStart, kCooling, kUnobserved, kWarming, kCounting };

    explicit BurstSchedule(const BurstRules& rules) : rules_(rules), change_at_(rules.length) {}

    Phase phase() const { return phase_; }

    // So many blocks have run by now. True: another phase has begun, and it is to be called again.
    bool go_on(std::uint64_t blocks) {
        if (blocks < change_at_) return false;
        switch (phase_) {
            case Phase::kStart:
            case Phase::kCounting:
                phase_ = Phase::kCooling;
                change_at_ = blocks + rules_.margin();
                break;
            case Phase::kCooling:
                plan(blocks);
                if (blocks < change_at_) {
                    phase_ = Phase::kUnobserved;
                } else {
                    // The next burst is close behind: caches are warm.
                    phase_ = Phase::kWarming;
                    change_at_ = std::max(count_at_, blocks);
                }
                break;
            case Phase::kUnobserved:
                phase_ = Phase::kWarming;
                // What is late has to be warmed all the same.
                change_at_ = std::max(count_at_, blocks + rules_.margin());
                break;
            case Phase::kWarming:
                phase_ = Phase::kCounting;
                change_at_ = count_at_ + rules_.length;
                break;
        }
        return true;
    }

private:
    // Valgrind looks at least that often.
    static constexpr std::uint64_t kBetweenLooks = 100'000;

    // The next burst of which anything can still count.
    void plan(std::uint64_t blocks) {
        do {
            // The first period may begin, and its burst end, before the start has ended.
            const std::uint64_t place = rules_.length + number_ * rules_.period +
                                        random(rules_.seed, 0) % rules_.period +
                                        random(rules_.seed, number_ + 1) % rules_.period;
            ++number_;
            count_at_ = place - std::min(place, rules_.period);
        } while (count_at_ + rules_.length <= blocks);
        const std::uint64_t before = rules_.margin() + kBetweenLooks;
        change_at_ = count_at_ - std::min(count_at_, before);
    }

    // The finaliser of MurmurHash3, of two numbers.
    static std::uint64_t random(std::uint64_t seed, std::uint64_t number) {
        std::uint64_t value = seed * 0x9e3779b97f4a7c15u + (number + 1) * 0xbf58476d1ce4e5b9u;
        value = (value ^ value >> 33) * 0xff51afd7ed558ccdu;
        value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53u;
        return value ^ value >> 33;
    }

    BurstRules rules_;
    std::uint64_t number_ = 0;    // of the next period
    std::uint64_t count_at_ = 0;  // where the burst begins to count
    std::uint64_t change_at_;     // when the next phase begins
    Phase phase_ = Phase::kStart;
};

}  // namespace bd
