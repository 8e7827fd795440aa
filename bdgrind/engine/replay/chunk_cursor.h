// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the replay is in a chunk of the trace that D1 has been simulated for. Its positions lie within each other, and
// each is valid while the one around it is:
//
//     chunk          from start_chunk() until all words are skipped; all misses must have been taken by then
//       record       from start_record() to the next one: the block that runs off the fast path
//         instruction  from go_to() on: what is charged for what happens
//
// Misses are taken in the order of the trace.

#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/check.h"
#include "engine/cache/data_cache.h"
#include "engine/program/block.h"
#include "engine/trace/trace.h"

namespace bd {

// `Data`: a DataCache.
template <class Data>
class ChunkCursor {
public:
    using Chunk = typename Data::Chunk;
    using Miss = typename Data::Miss;

    // --- The chunk, which must stay as it is until its end.

    bool is_at_end() const { return rest_.empty(); }
    bool has_taken_all() const { return miss_ == last_miss_; }

    void start_chunk(const Chunk& chunk) {
        BD_CHECK(is_at_end() && has_taken_all());
        rest_ = chunk.words;
        begin_ = rest_.data();
        miss_ = chunk.misses.data();
        last_miss_ = miss_ + chunk.misses.size() - 1;
        exit_ = nullptr;
    }

    // What has not been replayed yet.
    Batch rest() const { return rest_; }
    void skip(std::size_t words) { rest_ = rest_.subspan(words); }

    // The record that has the next miss; behind all others if there is none.
    [[gnu::always_inline]] const Word* next_missing_record() const { return begin_ + miss_->at.record; }

    // --- The record of a block that runs to `exit`, and its accesses

    void start_record(TracedExit& exit, const Word* record) {
        exit_ = &exit;
        record_ = static_cast<std::uint32_t>(record - begin_);
        accesses_ = 0;
        instruction_ = kNowhere;
        BD_DCHECK(miss_->at.record >= record_);  // else one of an earlier record was left out
    }
    TracedExit& exit() const { return *exit_; }
    Address stack_pointer() const { return begin_[record_ + 1]; }

    // The next miss, if it is by one of the first so many accesses of the block; else null.
    const Miss* miss_before(std::size_t access) const {
        return miss_->at.record == record_ && miss_->at.access < access ? miss_ : nullptr;
    }
    bool has_miss_at(std::size_t access) const { return miss_->at.record == record_ && miss_->at.access == access; }
    const Miss& take_miss() { return *miss_++; }

    // The miss that is so many behind the next one; null if there are not so many.
    [[gnu::always_inline]] const Miss* miss_ahead(std::ptrdiff_t distance) const {
        return last_miss_ - miss_ > distance ? miss_ + distance : nullptr;
    }

    // --- The instruction

    // Its accesses are simulated, or its bytes are fetched, from here on.
    void go_to(std::size_t instruction) { instruction_ = instruction; }
    std::size_t instruction() const {
        BD_DCHECK(instruction_ != kNowhere);
        return instruction_;
    }

    // How many accesses of the block come before those of `instruction`. Instructions must be asked about in order.
    std::size_t accesses_before(std::size_t instruction) {
        const Access* const accesses = exit_->block->accesses_;
        BD_DCHECK(accesses_ == 0 || accesses[accesses_ - 1].instruction < instruction);
        while (accesses_ < exit_->accesses && accesses[accesses_].instruction < instruction) ++accesses_;
        return accesses_;
    }
    DataPosition position_before(std::size_t access) const { return {record_, static_cast<std::uint16_t>(access), 0}; }

private:
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    Batch rest_;
    const Word* begin_ = nullptr;
    const Miss* miss_ = nullptr;
    const Miss* last_miss_ = nullptr;  // stands behind all records

    TracedExit* exit_ = nullptr;
    std::uint32_t record_ = 0;  // in words of the chunk
    std::size_t accesses_ = 0;  // so many come before the instruction asked about last
    std::size_t instruction_ = kNowhere;
};

}  // namespace bd
