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

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

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
    const std::scoped_lock lock(lock_);
    if (FreeBlock* const block = free_[size_class]; block != nullptr) {
        free_[size_class] = block->next;
        return block;
    }
    const std::size_t bytes = class_bytes(size_class);
    if (static_cast<std::size_t>(end_ - next_) < bytes) BD_CHECK(supply(std::max(bytes, kPieceBytes)));
    used_bytes_ += bytes;
    std::byte* const block = std::exchange(next_, next_ + bytes);
    *reinterpret_cast<std::size_t*>(block) = size_class;
    return block + kHeaderBytes;
}

// What is left of the piece before is lost; it has not been touched yet.
bool Heap::supply(std::size_t size_bytes) {
    auto* const piece = static_cast<std::byte*>(supplier_(size_bytes));
    if (piece == nullptr) return false;
    next_ = piece;
    end_ = piece + size_bytes;
    return true;
}

bool Heap::reserve(std::size_t size_bytes) {
    const std::scoped_lock lock(lock_);
    const std::size_t wanted = size_bytes + 2 * used_bytes_;
    return static_cast<std::size_t>(end_ - next_) >= wanted || supply(2 * wanted);
}

void Heap::free(void* block) {
    if (block == nullptr) return;
    const std::size_t size_class =
        *reinterpret_cast<std::size_t*>(static_cast<std::byte*>(block) - kHeaderBytes);
    BD_CHECK_OP(size_class, <, kClasses);
    auto* const freed = static_cast<FreeBlock*>(block);
    const std::scoped_lock lock(lock_);
    freed->next = free_[size_class];
    free_[size_class] = freed;
}

}  // namespace bd
