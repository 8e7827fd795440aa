// SPDX-License-Identifier: GPL-2.0-or-later
//
// A large array of zero bytes that takes memory only where it is used (the kernel's zero pages), so that simulating a
// last-level cache of half a gigabyte costs a small program nothing.

#pragma once

#include <cstddef>
#include <type_traits>

#include "engine/base/check.h"

namespace bd {

// The program that links the engine supplies these. Memory comes in whole pages. Never returns null: without memory,
// the process ends.
void* allocate_zeroed(std::size_t size_bytes);
void free_zeroed(void* memory, std::size_t size_bytes);

// All bytes zero must be a valid T.
template <class T>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    explicit ZeroedArray(std::size_t size)
        : data_(size == 0 ? nullptr : static_cast<T*>(allocate_zeroed(size * sizeof(T)))), size_(size) {}
    ~ZeroedArray() {
        if (data_ != nullptr) free_zeroed(data_, size_ * sizeof(T));
    }
    ZeroedArray(const ZeroedArray&) = delete;
    ZeroedArray& operator=(const ZeroedArray&) = delete;

    T& operator[](std::size_t index) {
        BD_DCHECK(index < size_);
        return data_[index];
    }
    const T& operator[](std::size_t index) const { return const_cast<ZeroedArray&>(*this)[index]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    std::size_t size() const { return size_; }

private:
    T* data_;
    std::size_t size_;
};

}  // namespace bd
