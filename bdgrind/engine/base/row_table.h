// SPDX-License-Identifier: GPL-2.0-or-later
//
// A table of rows that are found by a hash of their key, numbered from 0 in the order in which they are added. Rows are
// never removed or moved, so a large table needs memory for its rows only, and is never copied.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace bd {

template <class Row>
class RowTable {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Row& operator[](std::size_t number) { return pieces_[number / kInPiece][number % kInPiece]; }
    const Row& operator[](std::size_t number) const { return pieces_[number / kInPiece][number % kInPiece]; }

    // The number of the first row with this hash for which is_meant(row) holds; kNone if there is none.
    template <class IsMeant>
    [[gnu::always_inline]] std::uint32_t find(std::uint32_t hash, IsMeant is_meant) const {
        if (index_.empty()) return kNone;
        for (std::size_t i = hash & (index_.size() - 1);; i = (i + 1) & (index_.size() - 1)) {
            const Entry entry = index_[i];
            if (entry.row == kNone || (entry.hash == hash && is_meant((*this)[entry.row]))) return entry.row;
        }
    }
    // Adds a row, whose key must not be in the table. Returns its number.
    std::uint32_t add(std::uint32_t hash, Row row) {
        if (2 * (size_ + 1) > index_.size()) grow();
        const auto number = static_cast<std::uint32_t>(size_);
        BD_CHECK(number != kNone);
        if (size_++ % kInPiece == 0) pieces_.push_back(std::make_unique<Row[]>(kInPiece));
        (*this)[number] = std::move(row);
        enter({hash, number});
        return number;
    }
    void clear() {
        pieces_.clear();
        index_.clear();
        size_ = 0;
    }

    // Prefetches what find() reads first.
    [[gnu::always_inline]] void host_prefetch(std::uint32_t hash) const {
        if (!index_.empty()) __builtin_prefetch(&index_[hash & (index_.size() - 1)]);
    }

    class Iterator {
    public:
        Iterator(const RowTable& table, std::size_t number) : table_(&table), number_(number) {}
        const Row& operator*() const { return (*table_)[number_]; }
        Iterator& operator++() {
            ++number_;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return number_ != other.number_; }

    private:
        const RowTable* table_;
        std::size_t number_;
    };
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size_}; }

private:
    static constexpr std::size_t kPieceBytes = 16384;
    static constexpr std::size_t kInPiece = std::bit_floor(kPieceBytes / sizeof(Row));
    static constexpr std::size_t kFewestEntries = 64;

    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t row = kNone;
    };

    void enter(Entry entry) {
        std::size_t i = entry.hash & (index_.size() - 1);
        while (index_[i].row != kNone) i = (i + 1) & (index_.size() - 1);
        index_[i] = entry;
    }
    [[gnu::noinline]] void grow() {
        const std::vector<Entry> before =
            std::exchange(index_, std::vector<Entry>(index_.empty() ? kFewestEntries : 2 * index_.size()));
        for (const Entry entry : before) {
            if (entry.row != kNone) enter(entry);
        }
    }

    std::vector<std::unique_ptr<Row[]>> pieces_;
    std::vector<Entry> index_;  // a power of two in number, at least half of them free; or empty
    std::size_t size_ = 0;
};

}  // namespace bd
