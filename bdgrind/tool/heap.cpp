// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/heap.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "engine/base/check.h"

namespace bd {
namespace {

// Before each block lies the number of its size class. Blocks are whole multiples of this, and so is what follows the
// number aligned.
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kHeaderBytes = kAlignment;

// A piece is a quarter of what is used, within limits. It counts against the guest's limit of address space, if there
// is one, but is no memory before it is touched.
constexpr std::size_t kLeastPieceBytes = std::size_t{2} << 20;
constexpr std::size_t kMostPieceBytes = std::size_t{64} << 20;
// Blocks from here on have memory of their own.
constexpr std::size_t kLargeBytes = kLeastPieceBytes / 2;

// The size of a class, header included: 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, ...
constexpr std::size_t class_bytes(std::size_t size_class) {
    const std::size_t doubling = size_class / 4;
    const std::size_t bytes = (std::size_t{4} + size_class % 4) << (doubling + 3);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The smallest class whose blocks have `size_bytes`.
constexpr std::size_t class_of(std::size_t size_bytes) {
    if (size_bytes <= 32) return 0;
    const auto top = static_cast<unsigned>(std::bit_width(size_bytes - 1)) - 1;  // size_bytes - 1 >= 2^top
    const std::size_t quarter = (size_bytes - 1) >> (top - 2);                   // 4 to 7
    return std::size_t{top - 5} * 4 + (quarter - 4) + 1;
}

static_assert(class_bytes(0) == 32 && class_of(32) == 0 && class_of(33) == 1 && class_bytes(4) == 64);
static_assert(class_of(64) == 4 && class_of(65) == 5 && class_bytes(5) == 80 && class_bytes(class_of(1000)) == 1024);

}  // namespace

void* Heap::allocate(std::size_t size_bytes) {
    const std::size_t size_class = class_of(size_bytes + kHeaderBytes);
    BD_CHECK_OP(size_class, <, kClasses);
    const std::size_t bytes = class_bytes(size_class);
    std::byte* block = nullptr;
    {
        const std::scoped_lock lock(lock_);
        if (FreeBlock* const freed = free_[size_class]; freed != nullptr) {
            free_[size_class] = freed->next;
            return freed;
        }
        used_bytes_ += bytes;
        if (bytes < kLargeBytes && bytes <= current_.size_bytes) block = cut(bytes);
    }
    if (block == nullptr) block = allocate_anew(bytes);
    *reinterpret_cast<std::size_t*>(block) = size_class;
    return block + kHeaderBytes;
}

// From the current piece, with the lock.
std::byte* Heap::cut(std::size_t bytes) {
    current_.size_bytes -= bytes;
    return std::exchange(current_.begin, current_.begin + bytes);
}

// No lock is held while the supplier is asked: it may have to wait for the other thread, which may be about to
// allocate.
std::byte* Heap::allocate_anew(std::size_t bytes) {
    if (bytes >= kLargeBytes) {
        if (void* const memory = supplier_(bytes)) return static_cast<std::byte*>(memory);
        runs_out_ = true;
    }
    do {
        const Piece fresh = new_piece();
        const std::scoped_lock lock(lock_);
        // What is left of the current piece is lost; it has not been touched yet.
        if (current_.size_bytes < bytes && next_.size_bytes >= bytes) current_ = std::exchange(next_, {});
        if (next_.begin == nullptr) next_ = fresh;
        if (current_.size_bytes >= bytes) return cut(bytes);
    } while (!runs_out());
    void* const memory = supplier_(bytes);
    if (memory == nullptr) exhausted_();
    return static_cast<std::byte*>(memory);
}

// Empty if there is none to be had.
Heap::Piece Heap::new_piece() {
    if (runs_out()) return {};
    std::size_t size_bytes = 0;
    {
        const std::scoped_lock lock(lock_);
        size_bytes = std::clamp(used_bytes_ / 4, kLeastPieceBytes, kMostPieceBytes);
    }
    void* memory = supplier_(size_bytes);
    if (memory == nullptr) memory = supplier_(size_bytes = kLeastPieceBytes);
    if (memory == nullptr) {
        runs_out_ = true;
        return {};
    }
    return {static_cast<std::byte*>(memory), size_bytes};
}

void Heap::free(void* block) {
    if (block == nullptr) return;
    const std::size_t size_class =
        *reinterpret_cast<std::size_t*>(static_cast<std::byte*>(block) - kHeaderBytes);
    BD_CHECK_OP(size_class, <, kClasses);
    const std::size_t bytes = class_bytes(size_class);
    // Once the heap has run out, a large block may be a part of a piece.
    if (bytes >= kLargeBytes && !runs_out()) {
        {
            const std::scoped_lock lock(lock_);
            used_bytes_ -= bytes;
        }
        taker_(static_cast<std::byte*>(block) - kHeaderBytes, bytes);
        return;
    }
    auto* const freed = static_cast<FreeBlock*>(block);
    const std::scoped_lock lock(lock_);
    freed->next = free_[size_class];
    free_[size_class] = freed;
}

}  // namespace bd
