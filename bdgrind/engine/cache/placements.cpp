// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/placements.h"

#include <algorithm>
#include <span>

#include "engine/base/check.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/middle_level.h"
#include "engine/cache/page_placement.h"

namespace bd {
namespace {

// How many steps ahead the host is told of what it will need.
constexpr std::size_t kStepsFar = 16;
constexpr std::size_t kStepsNear = 8;

}  // namespace

// The levels behind L1 in one placement.
class Placements::Levels {
public:
    virtual ~Levels() = default;

    // Simulates all of these, and adds the misses of the accesses that are counted.
    virtual void run(std::span<const Step> steps, Misses* misses) = 0;
    virtual void flush() = 0;
};

template <CacheTraits kTraits>
class Placements::LevelsOf final : public Levels {
public:
    LevelsOf(const CacheGeometries& caches, const NextLevelConfig& config)
        : pages_(caches.pages), next_(caches, &pages_, *this, config, {}) {}

    void run(std::span<const Step> steps, Misses* misses) override {
        Outcome outcome = Outcome::kHit;
        for (std::size_t at = 0; at < steps.size(); ++at) {
            if (at + kStepsFar < steps.size()) next_.host_prefetch_far(steps[at + kStepsFar].address);
            if (at + kStepsNear < steps.size()) next_.host_prefetch_near(steps[at + kStepsNear].address);
            const Step& step = steps[at];
            instruction_ = step.instruction;
            std::uint32_t index = 0;
            outcome = std::max(outcome, next_.load(step.reference, step.address, step.size, &index));
            if (step.end == kNoEnd) continue;
            if (step.end != kUncounted) count(misses, step.end, outcome);
            outcome = Outcome::kHit;
        }
    }
    void flush() override { next_.flush(); }

    // What these levels ask, as their Front.
    ChargeTarget target_of_load(Reference, Address) const { return {}; }
    Address data_instruction() const { return instruction_; }
    bool is_counted() const { return false; }
    void lost(unsigned, LineNumber) {}

private:
    PagePlacement pages_;
    NextLevel<kTraits, LevelsOf> next_;
    Address instruction_ = 0;  // whose access to data is simulated
};

Placements::Placements(const CacheGeometries& caches, std::uint32_t number, const NextLevelConfig& config)
    : first_seed_(caches.pages.seed),
      has_l2_(caches.has_l2()),
      follows_instructions_(config.prefetchers.stride || config.l2_prefetchers.stride),
      misses_(number),
      stacks_(caches.d1, number, caches.pages.seed),
      missed_(number),
      told_(number) {
    BD_CHECK(number >= kLeast && number <= kMost);
    BD_CHECK(caches.pages.frames == PageFrames::kRandom);
    BD_CHECK(!caches.is_inclusive());  // else L1 would not be the same for all
    constexpr CacheTraits kTwoLevels{.common_lines = false, .line_use = false, .write_back = false};
    constexpr CacheTraits kThreeLevels{
        .common_lines = false, .line_use = false, .write_back = false, .middle_level = true};
    NextLevelConfig reads_only = config;
    reads_only.write_back = false;
    steps_.reserve(kManySteps);
    for (std::uint32_t i = 1; i < number; ++i) {
        CacheGeometries elsewhere = caches;
        elsewhere.pages.seed += i;
        if (has_l2_) {
            others_.push_back(std::make_unique<LevelsOf<kThreeLevels>>(elsewhere, reads_only));
        } else {
            others_.push_back(std::make_unique<LevelsOf<kTwoLevels>>(elsewhere, reads_only));
        }
    }
}

Placements::~Placements() = default;

void Placements::settle() {
    BD_CHECK(steps_.empty() || steps_.back().end != kNoEnd);
    for (std::size_t i = 0; i < others_.size(); ++i) others_[i]->run(steps_, &misses_[i + 1]);
    steps_.clear();
}

void Placements::flush() {
    settle();
    for (const auto& other : others_) other->flush();
    stacks_.flush();
}

void Placements::note_stacks(const std::vector<MovedStacks::Misses>& misses) {
    for (std::size_t i = 0; i < misses.size(); ++i) {
        for (std::size_t writes = 0; writes < 2; ++writes) missed_[i][writes] += misses[i][writes];
    }
}

std::uint64_t Placements::d1_misses(std::uint32_t placement, std::size_t kind) const {
    BD_CHECK(kind == 1 || kind == 2);
    const std::uint64_t so_far = d1_misses_so_far(placement, kind);
    return so_far - std::min(so_far, told_[placement][kind - 1]);
}

std::uint64_t Placements::d1_misses_so_far(std::uint32_t placement, std::size_t kind) const {
    const std::uint64_t first = before_[kind] + misses_[0][Level::kL1][kind];
    const std::uint64_t of_first = missed_[0][kind - 1];
    if (placement == 0 || of_first == 0) return first;
    const double ratio = static_cast<double>(missed_[placement][kind - 1]) / static_cast<double>(of_first);
    return static_cast<std::uint64_t>(static_cast<double>(first) * ratio + 0.5);
}

void Placements::clear_counts() {
    settle();
    for (const std::size_t kind : {1, 2}) {
        for (std::uint32_t i = 0; i < number(); ++i) told_[i][kind - 1] = d1_misses_so_far(i, kind);
        before_[kind] += misses_[0][Level::kL1][kind];
    }
    misses_.assign(misses_.size(), {});
}

}  // namespace bd
