// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of the simulated caches: their shapes and outcomes, and data accesses one at a time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <utility>

#include "engine/base/geometry.h"
#include "engine/cache/hierarchy.h"
#include "engine/program/block.h"
#include "program.h"

namespace bd {

inline std::ostream& operator<<(std::ostream& out, Outcome outcome) {
    static constexpr const char* kNames[] = {"hit", "L1 miss", "L2 miss", "LL miss", "dirty LL miss"};
    return out << kNames[static_cast<unsigned>(outcome)];
}

namespace test {

// What caches may be compiled for.
constexpr CacheTraits kCommonUse{.common_lines = true, .line_use = true, .write_back = false};
constexpr CacheTraits kCommonNoUse{.common_lines = true, .line_use = false, .write_back = false};
constexpr CacheTraits kCommonAll{.common_lines = true, .line_use = true, .write_back = true};
constexpr CacheTraits kCommonDirty{.common_lines = true, .line_use = false, .write_back = true};
constexpr CacheTraits kAnyUse{.common_lines = false, .line_use = true, .write_back = false};
constexpr CacheTraits kAnyNoUse{.common_lines = false, .line_use = false, .write_back = false};
constexpr CacheTraits kAnyAll{.common_lines = false, .line_use = true, .write_back = true};
constexpr CacheTraits kAnyDirty{.common_lines = false, .line_use = false, .write_back = true};

// The same where it is asked why.
constexpr CacheTraits kCommonWhy{
    .common_lines = true, .line_use = true, .write_back = false, .why = true};
constexpr CacheTraits kAnyWhy{.common_lines = false, .line_use = true, .write_back = true, .why = true};

constexpr Outcome kHit = Outcome::kHit;
constexpr Outcome kL1Miss = Outcome::kL1Miss;
constexpr Outcome kL2Miss = Outcome::kL2Miss;
constexpr Outcome kLLMiss = Outcome::kLLMiss;
constexpr Outcome kLLDirtyMiss = Outcome::kLLDirtyMiss;

// The same with an L2.
constexpr CacheTraits with_l2(CacheTraits traits) {
    traits.middle_level = true;
    return traits;
}

constexpr CacheGeometry cache(std::uint64_t sets, std::uint32_t ways, std::uint32_t line_bytes) {
    return {sets * ways * line_bytes, ways, line_bytes};
}

constexpr LineNumber line(std::uint64_t number) {
    return LineNumber{number};
}

// All but the last, which is behind all records.
template <class Chunk>
auto true_misses(const Chunk& chunk) {
    return std::span(chunk.misses).first(chunk.misses.size() - 1);
}

// Makes accesses as the replay does: the first-level caches run ahead, here by one record of a single access, then what
// they miss is loaded. That record is where the hierarchy is until the next access.
template <class Hierarchy>
class Accesses {
public:
    // `hierarchy` must live as long.
    explicit Accesses(Hierarchy& hierarchy)
        : hierarchy_(hierarchy), program_(hierarchy.stage().instructions().line_bits()) {}

    // Of data, by code that is not fetched.
    Outcome data(AccessKind kind, Address address, std::uint32_t size) {
        trace_ = Trace().run(accessing(kind, size), 0, {address});
        auto& stage = hierarchy_.stage();
        stage.instructions().run({}, &chunk_.fetched, [](auto) { return Batch{}; });
        stage.data().run(trace_.all(), &chunk_);
        return load();
    }

    // Of an instruction.
    Outcome fetch(Address address, std::uint32_t size) {
        trace_ = Trace().run(fetched(address, size), 0, {});
        hierarchy_.stage().run(trace_.all(), &chunk_);
        return load();
    }

private:
    Outcome load() {
        EXPECT_EQ(chunk_.words.size(), trace_.all().size());
        hierarchy_.set_chunk(chunk_);
        hierarchy_.set_data_position({});
        hierarchy_.set_fetch_position({});
        Outcome outcome = kHit;
        for (const auto& miss : true_misses(chunk_.fetched)) outcome = std::max(outcome, hierarchy_.follow_fetch(miss));
        for (const auto& miss : true_misses(chunk_)) outcome = std::max(outcome, hierarchy_.follow_data(miss));
        hierarchy_.set_data_position({.record = 0, .access = 1, .address = 0});
        hierarchy_.set_fetch_position({.record = 0, .instruction = 1, .address = 0});
        return outcome;
    }

    Block& accessing(AccessKind kind, std::uint32_t size) {
        Block*& block = accessing_[{kind, size}];
        if (block == nullptr) block = &program_.code(function_, 0x1000).op().access(size, kind, false).ends();
        return *block;
    }
    Block& fetched(Address address, std::uint32_t size) {
        return program_.code(function_, address).op(size).ends();
    }

    Hierarchy& hierarchy_;
    Program program_;
    const Function& function_ = program_.function("f");
    std::map<std::pair<AccessKind, std::uint32_t>, Block*> accessing_;
    Trace trace_;
    typename Hierarchy::Chunk chunk_;
};

}  // namespace test
}  // namespace bd
