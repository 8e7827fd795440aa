// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the replay is in a chunk of the trace that the first-level caches have been simulated for. Its positions lie
// within each other, and each is valid while the one around it is:
//
//     chunk          from start_chunk() until all words are skipped; all misses must have been taken by then
//       record       from start_record() to the next one: a block that misses something
//         instruction  from go_to() on: what is charged for what happens
//
// Misses of each cache are taken in the order of the trace.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/base/check.h"
#include "engine/cache/l1_stage.h"
#include "engine/program/block.h"
#include "engine/trace/trace.h"

namespace bd {

// `Stage`: an L1Stage.
template <class Stage>
class ChunkCursor {
public:
    using Chunk = typename Stage::Chunk;
    using DataMiss = typename Stage::Data::Miss;
    using FetchMiss = typename Stage::Instructions::Miss;

    // --- The chunk, which must stay as it is until its end.

    bool is_at_end() const { return rest_.empty(); }
    bool has_taken_all() const { return miss_ == last_miss_ && fetch_miss_ == last_fetch_miss_; }

    void start_chunk(const Chunk& chunk) {
        BD_CHECK(is_at_end() && has_taken_all());
        rest_ = chunk.words;
        begin_ = rest_.data();
        miss_ = chunk.misses.data();
        last_miss_ = miss_ + chunk.misses.size() - 1;
        fetch_miss_ = chunk.fetched.misses.data();
        last_fetch_miss_ = fetch_miss_ + chunk.fetched.misses.size() - 1;
        exit_ = nullptr;
    }

    // What has not been replayed yet.
    Batch rest() const { return rest_; }
    void skip(std::size_t words) { rest_ = rest_.subspan(words); }

    // The record that has the next miss, or that at `other`, an index, if that is before it; behind all others if there
    // is none.
    [[gnu::always_inline]] const Word* next_missing_record(std::uint32_t other) const {
        return begin_ + std::min({miss_->at.record, fetch_miss_->at.record, other});
    }

    // --- The record of a block that runs to `exit`, and its accesses

    void start_record(TracedExit& exit, const Word* record) {
        exit_ = &exit;
        record_ = static_cast<std::uint32_t>(record - begin_);
        accesses_ = 0;
        instruction_ = kNowhere;
        // Else one of an earlier record was left out.
        BD_DCHECK(miss_->at.record >= record_ && fetch_miss_->at.record >= record_);
    }
    TracedExit& exit() const { return *exit_; }
    TracedExit& exit_at(std::uint32_t record) const { return exit_of(begin_[record]); }
    Address stack_pointer() const { return begin_[record_ + 1]; }

    // D1's next miss, if it is by one of the first so many accesses of the block; else null.
    const DataMiss* miss_before(std::size_t access) const {
        return miss_->at.record == record_ && miss_->at.access < access ? miss_ : nullptr;
    }
    bool has_miss_at(std::size_t access) const { return miss_->at.record == record_ && miss_->at.access == access; }
    // The same if it is one that loads nothing.
    bool has_note_at(std::size_t access) const { return has_miss_at(access) && !miss_->loads(); }
    const DataMiss& take_miss() { return *miss_++; }

    // I1's next miss, if it is in this record; else null.
    const FetchMiss* fetch_miss() const { return fetch_miss_->at.record == record_ ? fetch_miss_ : nullptr; }
    const FetchMiss& take_fetch_miss() { return *fetch_miss_++; }

    // The miss that is so many behind the next one; null if there are not so many.
    [[gnu::always_inline]] const DataMiss* miss_ahead(std::ptrdiff_t distance) const {
        return last_miss_ - miss_ > distance ? miss_ + distance : nullptr;
    }
    [[gnu::always_inline]] const FetchMiss* fetch_miss_ahead(std::ptrdiff_t distance) const {
        return last_fetch_miss_ - fetch_miss_ > distance ? fetch_miss_ + distance : nullptr;
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
    DataPosition before_access(std::size_t access) const { return {record_, static_cast<std::uint16_t>(access), 0}; }
    FetchPosition before_fetch(std::size_t instruction) const {
        return {record_, static_cast<std::uint32_t>(instruction), 0};
    }

private:
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    Batch rest_;
    const Word* begin_ = nullptr;
    const DataMiss* miss_ = nullptr;
    const DataMiss* last_miss_ = nullptr;  // stands behind all records
    const FetchMiss* fetch_miss_ = nullptr;
    const FetchMiss* last_fetch_miss_ = nullptr;  // the same

    TracedExit* exit_ = nullptr;
    std::uint32_t record_ = 0;  // in words of the chunk
    std::size_t accesses_ = 0;  // so many come before the instruction asked about last
    std::size_t instruction_ = kNowhere;
};

}  // namespace bd
