// SPDX-License-Identifier: GPL-2.0-or-later
//
// What its owner notes about things that have dense numbers, such as functions and blocks, which others own and must
// not change.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bd {

template <class T>
class SideTable {
public:
    SideTable() = default;
    SideTable(const SideTable&) = delete;
    SideTable& operator=(const SideTable&) = delete;

    // The note about the thing with this number, T{} at first. It is valid until another one is asked for.
    T& operator[](std::uint32_t number) {
        if (__builtin_expect(number >= size_, 0)) grow(number);
        return notes_[number];
    }

private:
    // Makes room for the note with this number.
    [[gnu::noinline, gnu::cold]] void grow(std::uint32_t number) {
        room_.resize(std::max(std::size_t{number} + 1, 2 * room_.size()));
        notes_ = room_.data();
        size_ = room_.size();
    }

    // Here, as std::vector would compute its size each time.
    T* notes_ = nullptr;
    std::size_t size_ = 0;
    std::vector<T> room_;
};

}  // namespace bd
