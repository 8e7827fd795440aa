// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/placements.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/last_level.h"
#include "engine/cache/page_placement.h"

namespace bd {
namespace {

// How many steps ahead the host is told of what it will need.
constexpr std::size_t kStepsFar = 16;
constexpr std::size_t kStepsNear = 8;

}  // namespace

class Placements::Levels {
public:
    Levels(const CacheGeometries& caches, const LastLevelConfig& config)
        : pages_(caches.pages),
          l2_bits_(caches.has_l2() ? caches.l2.line_bits() : 0),
          is_exclusive_(caches.is_exclusive()),
          last_(caches, &pages_, *this, config, {}) {
        if (caches.has_l2()) l2_ = std::make_unique<Lines>(caches.l2, &pages_);
    }

    Outcome load(Reference reference, Address address, std::uint32_t size, Address instruction) {
        instruction_ = instruction;
        std::uint32_t index;
        if (l2_ == nullptr) return last_.load(reference, address, size, &index);
        Outcome outcome = Outcome::kL1Miss;
        const Address last = address + (size - 1);
        for (Address number = address >> l2_bits_; number <= last >> l2_bits_; ++number) {
            const LineNumber line{number};
            if (l2_->use(line) != Lines::kAbsent) continue;
            const Address begin = std::max(address, number << l2_bits_);
            if (is_exclusive_) {
                outcome = std::max(outcome, move_up(reference, line, begin));
                continue;
            }
            l2_->insert(line);
            const Address end = std::min(last, ((number + 1) << l2_bits_) - 1);
            const auto bytes = static_cast<std::uint32_t>(end - begin + 1);
            outcome = std::max(outcome, last_.load(reference, begin, bytes, &index));
        }
        return outcome;
    }

    void flush() {
        if (l2_ != nullptr) {
            for (std::uint32_t index = 0; index < l2_->size(); ++index) {
                if ((*l2_)[index] != kNoLine) l2_->clear(index);
            }
        }
        last_.flush();
    }

    // Prefetch, in two steps, on the host, what load() will need.
    [[gnu::always_inline]] void host_prefetch_far(Address address) const {
        if (l2_ != nullptr) {
            l2_->host_prefetch_set(LineNumber{address >> l2_bits_});
        } else {
            last_.host_prefetch_set(address);
        }
    }
    [[gnu::always_inline]] void host_prefetch_near(Address address) {
        if (l2_ != nullptr) {
            l2_->host_prefetch_line(LineNumber{address >> l2_bits_});
            last_.host_prefetch_set(address);
        } else {
            last_.host_prefetch_line(address);
        }
    }

    // What LL asks, as its Front.
    ChargeTarget target_of_load(Reference, Address) const { return {}; }
    bool has_in_l2(LineNumber line) const { return l2_->find(line) != Lines::kAbsent; }
    Address data_instruction() const { return instruction_; }
    std::uint32_t running_core() const { return 0; }
    bool is_counted() const { return false; }

private:
    static constexpr CacheTraits kTraits{
        .common_lines = false, .line_use = false, .write_back = false, .middle_level = true};
    using Last = LastLevel<kTraits, Levels>;
    using Lines = Last::Lines;

    // With an exclusive LL: what L2 misses comes from there, else from memory; what L2 evicts goes there.
    Outcome move_up(Reference reference, LineNumber line, Address address) {
        Last::ExclusiveUse use;
        const bool misses = last_.take(reference, line, address, &use);
        const LineNumber evicted = l2_->insert(line).evicted;
        if (evicted != kNoLine) last_.put(evicted, {}, 0);
        last_.prefetch_after_take(reference, line, misses, address);
        return misses ? Outcome::kLLMiss : Outcome::kL2Miss;
    }

    PagePlacement pages_;
    unsigned l2_bits_;
    bool is_exclusive_;
    std::unique_ptr<Lines> l2_;  // null: there is none
    Last last_;
    Address instruction_ = 0;  // whose access to data is simulated
};

Placements::Placements(const CacheGeometries& caches, std::uint32_t number, const LastLevelConfig& config)
    : first_seed_(caches.pages.seed),
      has_l2_(caches.has_l2()),
      follows_instructions_(config.prefetchers.stride),
      misses_(number) {
    BD_CHECK(number >= kLeast && number <= kMost);
    BD_CHECK(caches.pages.frames == PageFrames::kRandom);
    LastLevelConfig reads_only = config;
    reads_only.write_back = false;
    steps_.reserve(kManySteps);
    for (std::uint32_t i = 1; i < number; ++i) {
        CacheGeometries elsewhere = caches;
        elsewhere.pages.seed += i;
        others_.push_back(std::make_unique<Levels>(elsewhere, reads_only));
    }
}

Placements::~Placements() = default;

void Placements::settle() {
    BD_CHECK(steps_.empty() || steps_.back().end != kNoEnd);
    for (std::size_t i = 0; i < others_.size(); ++i) {
        Levels& levels = *others_[i];
        Outcome outcome = Outcome::kHit;
        for (std::size_t at = 0; at < steps_.size(); ++at) {
            if (at + kStepsFar < steps_.size()) levels.host_prefetch_far(steps_[at + kStepsFar].address);
            if (at + kStepsNear < steps_.size()) levels.host_prefetch_near(steps_[at + kStepsNear].address);
            const Step& step = steps_[at];
            outcome = std::max(outcome, levels.load(step.reference, step.address, step.size, step.instruction));
            if (step.end == kNoEnd) continue;
            if (step.end != kUncounted) count(&misses_[i + 1], step.end, outcome);
            outcome = Outcome::kHit;
        }
    }
    steps_.clear();
}

void Placements::flush() {
    settle();
    for (const auto& other : others_) other->flush();
}

void Placements::clear_counts() {
    settle();
    misses_.assign(misses_.size(), {});
}

}  // namespace bd
