// SPDX-License-Identifier: GPL-2.0-or-later
//
// The memory behind operator new. Valgrind's own allocator may only be called by Valgrind's own thread; the engine
// allocates on another one at the same time. So there is a heap of our own, with a lock, that takes large pieces of
// memory from Valgrind.
//
// Blocks are freed into a list for their size class and never joined: most live as long as the run, and growing
// containers leave sizes that others of their kind take up.

#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/spin_lock.h"

namespace bd {

class Heap {
public:
    // Gets memory: so much of it, 16-byte aligned; null if there is none. Called with the lock held.
    using Supplier = void* (*)(std::size_t size_bytes);

    constexpr explicit Heap(Supplier supplier) : supplier_(supplier) {}
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // 16-byte aligned; not zeroed. Any size. Never null: the process ends if there is no memory.
    void* allocate(std::size_t size_bytes);
    void free(void* block);  // null is fine

    // Makes sure that the next `size_bytes`, and twice as much as has been allocated so far (a container may have to
    // grow), can be allocated without the supplier. False if there is not so much memory.
    bool reserve(std::size_t size_bytes);

private:
    // Four size classes to a doubling, from 32 bytes.
    static constexpr std::size_t kClasses = 160;

    struct FreeBlock {
        FreeBlock* next;
    };

    bool supply(std::size_t size_bytes);

    const Supplier supplier_;
    SpinLock lock_;  // held for a few instructions, and rarely for a system call
    std::byte* next_ = nullptr;  // what is left of the latest piece
    std::byte* end_ = nullptr;
    std::size_t used_bytes_ = 0;  // of all pieces
    FreeBlock* free_[kClasses]{};
};

}  // namespace bd
