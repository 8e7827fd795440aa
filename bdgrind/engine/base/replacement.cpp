// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/replacement.h"

#include "engine/base/random_numbers.h"

namespace bd {
namespace {

constexpr struct {
    ReplacementPolicy policy;
    std::string_view name;
} kNames[]{
    {ReplacementPolicy::kLru, "lru"},          {ReplacementPolicy::kTreePlru, "tree-plru"},
    {ReplacementPolicy::kBitPlru, "bit-plru"}, {ReplacementPolicy::kFifo, "fifo"},
    {ReplacementPolicy::kRandom, kRandomName}, {ReplacementPolicy::kLru3Plru4, "lru3plru4"},
};
constexpr std::string_view kQuadAge = "QLRU_";
constexpr std::string_view kOnMisses = "_UMO";

bool take(std::string_view* text, std::string_view start) {
    if (!text->starts_with(start)) return false;
    text->remove_prefix(start.size());
    return true;
}

// A digit of 0 to `last`.
bool take_digit(std::string_view* text, std::uint8_t last, std::uint8_t* digit) {
    if (text->empty() || text->front() < '0' || text->front() > '0' + last) return false;
    *digit = static_cast<std::uint8_t>(text->front() - '0');
    text->remove_prefix(1);
    return true;
}

const char* parse_quad_ages(std::string_view text, QuadAges* ages) {
    if (!take(&text, "H") || !take_digit(&text, 2, &ages->hit_at_3) || !take_digit(&text, 1, &ages->hit_at_2) ||
        !take(&text, "_M") || !take_digit(&text, 3, &ages->loaded) || !take(&text, "_R") ||
        !take_digit(&text, 2, &ages->replace) || !take(&text, "_U") || !take_digit(&text, 3, &ages->update) ||
        ages->hit_at_2 > ages->hit_at_3) {
        return "it must be QLRU_H<00 10 11 20 21>_M<0-3>_R<0-2>_U<0-3>, or that with _UMO at its end";
    }
    ages->update_on_misses = take(&text, kOnMisses);
    if (!text.empty()) return "behind U<0-3>, a policy's name can only have _UMO";
    if (ages->replace != 1 && ages->update > 1) return "R0 and R2 need a line of age 3, which only U0 and U1 make";
    return nullptr;
}

}  // namespace

const char* parse_replacement(std::string_view text, Replacement* replacement) {
    for (const auto& [policy, name] : kNames) {
        if (text != name) continue;
        *replacement = {.policy = policy};
        return nullptr;
    }
    const char* error = "it must be lru, tree-plru, lru3plru4, bit-plru, fifo, random[,<seed>] or QLRU_...";
    Replacement read{};
    if (take(&text, kRandomName)) {
        read.policy = ReplacementPolicy::kRandom;
        error = parse_seed(text, &read.seed);
    } else if (take(&text, kQuadAge)) {
        read.policy = ReplacementPolicy::kQuadAge;
        error = parse_quad_ages(text, &read.ages);
    }
    if (error == nullptr) *replacement = read;
    return error;
}

void write_replacement(TextOutput& out, const Replacement& replacement) {
    for (const auto& [policy, name] : kNames) {
        if (policy == replacement.policy) out << name;
    }
    if (replacement.policy == ReplacementPolicy::kRandom) out << ',' << replacement.seed;
    if (replacement.policy != ReplacementPolicy::kQuadAge) return;
    const auto digit = [](std::uint8_t number) { return static_cast<char>('0' + number); };
    const QuadAges& ages = replacement.ages;
    out << kQuadAge << 'H' << digit(ages.hit_at_3) << digit(ages.hit_at_2) << "_M" << digit(ages.loaded) << "_R"
        << digit(ages.replace) << "_U" << digit(ages.update);
    if (ages.update_on_misses) out << kOnMisses;
}

}  // namespace bd
