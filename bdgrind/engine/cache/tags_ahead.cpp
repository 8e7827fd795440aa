// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/tags_ahead.h"

#include "engine/base/check.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/middle_level.h"
#include "engine/cache/page_placement.h"

namespace bd {

class TagsAhead::Levels {
public:
    virtual ~Levels() = default;

    virtual void run_on(std::uint32_t core) = 0;
    virtual void load(Reference reference, Address address, std::uint32_t size, Address instruction) = 0;
    virtual void lose(std::uint32_t core, unsigned bits, LineNumber line) = 0;
    virtual void flush() = 0;
    virtual bool has(LineNumber line) const = 0;
};

template <bool kHasL2>
class TagsAhead::LevelsOf final : public Levels {
public:
    LevelsOf(const CacheGeometries& caches, const NextLevelConfig& config, std::vector<LineNumber>* lost)
        : lost_(lost), pages_(caches.pages), next_(caches, &pages_, *this, config, {}) {}

    void run_on(std::uint32_t core) override { next_.run_on(core); }
    void load(Reference reference, Address address, std::uint32_t size, Address instruction) override {
        instruction_ = instruction;
        std::uint32_t index = 0;
        next_.load(reference, address, size, &index);
    }
    void lose(std::uint32_t core, unsigned bits, LineNumber line) override { next_.lose(core, bits, line); }
    void flush() override { next_.flush(); }
    bool has(LineNumber line) const override { return next_.last_level_has(line); }

    // What these levels ask, as their Front.
    ChargeTarget target_of_load(Reference, Address) const { return {}; }
    Address data_instruction() const { return instruction_; }
    bool is_counted() const { return false; }
    void lost(unsigned, LineNumber line) { lost_->push_back(line); }

private:
    static constexpr CacheTraits kTraits{
        .common_lines = false, .line_use = false, .write_back = false, .middle_level = kHasL2};

    std::vector<LineNumber>* lost_;
    PagePlacement pages_;
    NextLevel<kTraits, LevelsOf> next_;
    Address instruction_ = 0;
};

TagsAhead::TagsAhead(const CacheGeometries& caches, const NextLevelConfig& config) {
    BD_CHECK(caches.is_inclusive());
    NextLevelConfig lines_only = config;
    lines_only.write_back = false;
    lines_only.shares = nullptr;
    if (caches.has_l2()) {
        levels_ = std::make_unique<LevelsOf<true>>(caches, lines_only, &lost_);
    } else {
        levels_ = std::make_unique<LevelsOf<false>>(caches, lines_only, &lost_);
    }
}

TagsAhead::~TagsAhead() = default;

void TagsAhead::run_on(std::uint32_t core) {
    levels_->run_on(core);
}

void TagsAhead::load(Reference reference, Address address, std::uint32_t size, Address instruction) {
    levels_->load(reference, address, size, instruction);
}

void TagsAhead::lose(std::uint32_t core, unsigned bits, LineNumber line) {
    levels_->lose(core, bits, line);
}

void TagsAhead::flush() {
    levels_->flush();
}

bool TagsAhead::has(LineNumber line) const {
    return levels_->has(line);
}

}  // namespace bd
