// SPDX-License-Identifier: GPL-2.0-or-later
//
// What check-mutation puts in place of comparisons, sums and constants of the engine: as they are, but for that of the
// one mutant that is active. Included before everything else (see mutation.mk).

#pragma once

#include <type_traits>

namespace bd::mutation {

// By mutant, numbered from 1. What a test found out about it:
enum Seen : unsigned char {
    kReached = 1,
    kChanged = 2,     // the mutant's value was another one
    kImpossible = 4,  // there is no such operator
};

extern unsigned active;      // 0: none
extern unsigned char* seen;  // null: not asked for

// What the compiler computes stays as it is.
template <class T>
constexpr T pick(unsigned id, const T& original, const T& mutated) {
    if (std::is_constant_evaluated()) return original;
    if (__builtin_expect(seen != nullptr, 0)) seen[id] |= original == mutated ? kReached : kReached | kChanged;
    return active == id ? mutated : original;
}

template <class A, class B>
constexpr bool less(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a < b, a <= b);
}
template <class A, class B>
constexpr bool less_equal(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a <= b, a < b);
}
template <class A, class B>
constexpr bool greater(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a > b, a >= b);
}
template <class A, class B>
constexpr bool greater_equal(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a >= b, a > b);
}
template <class A, class B>
constexpr bool equal(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a == b, !(a == b));
}
template <class A, class B>
constexpr bool not_equal(unsigned id, const A& a, const B& b) {
    return pick<bool>(id, a != b, !(a != b));
}

// (The difference of two pointers has no counterpart.)
template <class A, class B>
concept HasSumAndDifference = requires(const A& a, const B& b) {
    a + b;
    a - b;
    requires std::is_same_v<decltype(a + b), decltype(a - b)>;
};
constexpr void note_impossible(unsigned id) {
    if (!std::is_constant_evaluated() && seen != nullptr) seen[id] |= kImpossible;
}
template <class A, class B>
constexpr auto plus(unsigned id, const A& a, const B& b) {
    if constexpr (HasSumAndDifference<A, B>) {
        return pick(id, a + b, a - b);
    } else {
        note_impossible(id);
        return a + b;
    }
}
template <class A, class B>
constexpr auto minus(unsigned id, const A& a, const B& b) {
    if constexpr (HasSumAndDifference<A, B>) {
        return pick(id, a - b, a + b);
    } else {
        note_impossible(id);
        return a - b;
    }
}

template <class T>
constexpr T number(unsigned id, T value) {
    if constexpr (std::is_same_v<T, bool>) {
        return pick(id, value, !value);
    } else {
        return pick(id, value, static_cast<T>(value + 1));
    }
}

// F != ((F != a) && (F != b)) is a && b without this, a || b with it; and the other way round.
constexpr bool flipped(unsigned id) {
    return pick(id, false, true);
}

}  // namespace bd::mutation
