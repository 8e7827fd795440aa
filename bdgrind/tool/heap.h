// SPDX-License-Identifier: GPL-2.0-or-later
//
// The memory behind operator new. Valgrind's own allocator may only be called by Valgrind's own thread; the engine
// allocates on another one at the same time. So there is a heap of our own, with a lock, that takes large pieces of
// memory from Valgrind. One of them is always taken in advance: once there is none to be had, the heap runs out, and
// that last piece is there to bring the run to an end.
//
// Blocks are freed into a list for their size class and never joined: most live as long as the run, and growing
// containers leave sizes that others of their kind take up. Large ones go back to Valgrind: what a container has left
// behind would be as much as the container.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/base/spin_lock.h"

namespace bd {

class Heap {
public:
    // Gets memory: so much of it, 16-byte aligned; null if there is none. Called without the lock, on any thread.
    using Supplier = void* (*)(std::size_t size_bytes);
    // Takes back what the supplier has given, as a whole. Called like it.
    using Taker = void (*)(void* memory, std::size_t size_bytes);
    // There is nothing left to allocate. Does not return.
    using Exhausted = void (*)();

    constexpr Heap(Supplier supplier, Taker taker, Exhausted exhausted)
        : supplier_(supplier), taker_(taker), exhausted_(exhausted) {}
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // 16-byte aligned; not zeroed. Any size. Never null.
    void* allocate(std::size_t size_bytes);
    void free(void* block);  // null is fine

    // Whether the piece in advance is being used up, and no other can be had.
    bool runs_out() const { return runs_out_.load(std::memory_order_relaxed); }

private:
    // Four size classes to a doubling, from 32 bytes.
    static constexpr std::size_t kClasses = 160;

    struct FreeBlock {
        FreeBlock* next;
    };

    // Memory that has not been allocated yet.
    struct Piece {
        std::byte* begin = nullptr;
        std::size_t size_bytes = 0;
    };

    std::byte* cut(std::size_t bytes);
    std::byte* allocate_anew(std::size_t bytes);
    Piece new_piece();

    const Supplier supplier_;
    const Taker taker_;
    const Exhausted exhausted_;
    std::atomic<bool> runs_out_{false};  // only ever set
    SpinLock lock_;  // for all that follows; held for a few instructions
    Piece current_;
    Piece next_;
    std::size_t used_bytes_ = 0;  // of all pieces
    FreeBlock* free_[kClasses]{};
};

}  // namespace bd
