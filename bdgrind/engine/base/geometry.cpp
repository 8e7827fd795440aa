// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/geometry.h"

#include <bit>
#include <charconv>

#include "engine/base/random_numbers.h"

namespace bd {
namespace {

// The engine numbers the lines and ways of a cache with 32 and 16 bits; an address space of 32 bits has less room.
constexpr bool kHasRoom = sizeof(void*) > 4;
constexpr std::uint64_t kMaxLines = std::uint64_t{1} << (kHasRoom ? 31 : 24);
constexpr std::uint32_t kMaxWays = 0xffff;

template <class T>
bool take_number(std::string_view* text, T* value) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
    if (error != std::errc{}) return false;
    text->remove_prefix(static_cast<std::size_t>(end - text->data()));
    return true;
}

bool take_comma(std::string_view* text) {
    if (!text->starts_with(',')) return false;
    text->remove_prefix(1);
    return true;
}

}  // namespace

const char* geometry_error(const CacheGeometry& geometry) {
    if (geometry.line_bytes < kMinLineBytes || geometry.line_bytes > kMaxLineBytes ||
        !std::has_single_bit(geometry.line_bytes)) {
        return "the line size must be 16, 32, 64, 128 or 256 bytes";
    }
    if (geometry.ways == 0) return "a cache needs at least 1 way";
    if (geometry.ways > kMaxWays) return "a cache can have at most 65535 ways";
    if (geometry.size_bytes == 0) return "the size must not be 0";
    const std::uint64_t set_bytes = std::uint64_t{geometry.ways} * geometry.line_bytes;
    if (geometry.size_bytes % set_bytes != 0) return "the size must be a multiple of ways times line size";
    if (geometry.lines() > kMaxLines) {
        return kHasRoom ? "a cache can have at most 2147483648 lines"
                        : "a cache for 32-bit programs can have at most 16777216 lines";
    }
    if (geometry.replacement.policy == ReplacementPolicy::kTreePlru && !std::has_single_bit(geometry.ways)) {
        return "tree-plru needs a number of ways that is a power of two";
    }
    if (geometry.replacement.policy == ReplacementPolicy::kLru3Plru4 && geometry.ways != kTrees * kTreeWays) {
        return "lru3plru4 needs 12 ways";
    }
    return nullptr;
}

const char* parse_geometry(std::string_view text, CacheGeometry* geometry) {
    if (!take_number(&text, &geometry->size_bytes) || !take_comma(&text) || !take_number(&text, &geometry->ways) ||
        !take_comma(&text) || !take_number(&text, &geometry->line_bytes) || !text.empty()) {
        return "it must be three numbers, <size>,<ways>,<line size>, in bytes";
    }
    return nullptr;
}

const char* parse_page_rules(std::string_view text, PageRules* rules) {
    PageRules read{};
    if (text.starts_with(kRandomName)) {
        read.frames = PageFrames::kRandom;
        if (const char* const error = parse_seed(text.substr(kRandomName.size()), &read.seed)) return error;
    } else if (text == "contiguous") {
        read.frames = PageFrames::kContiguous;
    } else if (text != "virtual") {
        return "it must be virtual, contiguous or random[,<seed>]";
    }
    *rules = read;
    return nullptr;
}

const char* parse_tlbs(std::string_view text, TlbGeometries* tlbs) {
    constexpr std::uint32_t kMostEntries = 0xfffe;
    TlbGeometry levels[2]{};
    for (TlbGeometry& level : levels) {
        if ((&level != levels && !take_comma(&text)) || !take_number(&text, &level.entries) || !take_comma(&text) ||
            !take_number(&text, &level.ways)) {
            return "it must be four numbers, <entries>,<ways> of the first level and of the second";
        }
    }
    if (!text.empty()) return "it must be four numbers, <entries>,<ways> of the first level and of the second";
    for (const TlbGeometry& level : levels) {
        if (level.entries == 0 || level.ways == 0) return "a TLB needs at least 1 entry and 1 way";
        if (level.entries > kMostEntries) return "a TLB can have at most 65534 entries";
        if (level.entries % level.ways != 0) return "the entries of a TLB must be a multiple of its ways";
    }
    tlbs->base = {.page_bits = kBasePageBits, .i1 = levels[0], .d1 = levels[0], .d2 = levels[1]};
    tlbs->huge = tlbs->base;
    tlbs->huge.page_bits = kHugePageBits;
    return nullptr;
}

}  // namespace bd
