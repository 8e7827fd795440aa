// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay: what each block of the trace did, with caches; without any, see plain_replay.h.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/replay/branch_watch.h"
#include "engine/cache/chunk_queue.h"
#include "engine/replay/engine.h"
#include "engine/replay/follow.h"
#include "engine/cache/hierarchy.h"
#include "engine/replay/plain_replay.h"
#include "engine/cache/uncredited_fetches.h"

namespace bd {
namespace {

// Runs the trace through the caches and charges what happens there to the instruction that runs and to the calls
// that are open. `Watch`: BranchWatch, and the caches may have extras, or NoWatch.
template <bool kCommon, bool kUse, class Watch>
class CacheReplay final : public Replay {
    using Caches = Hierarchy<kCommon, kUse, CacheReplay, kWatches<Watch>>;
    using Time = typename Caches::Time;
    using Miss = typename Caches::DataMiss;

public:
    explicit CacheReplay(EngineState& state)
        : state_(state),
          caches_(state.config.caches, *this,
                  {.write_back = state.config.write_back, .prefetch = state.config.prefetch}),
          watch_(state),
          queue_(caches_.data()),
          fetches_(caches_.fetch_places()) {}

    std::size_t run(Batch batch) override;
    void flush() override {
        BD_CHECK(miss_ == last_miss_);  // else D1 is ahead
        caches_.flush();
    }
    void disown() override { caches_.disown(); }
    void announce(Batch batch) override { queue_.announce(batch); }
    bool advance() override { return queue_.advance(); }
    bool is_supplied() const override { return queue_.is_supplied(); }

    // The caches' sink.

    Owner load() {
        state_.live_nodes_at_loads += state_.tree.stats().live;
        ++state_.loads;
        const Owner owner = payer();
        if (owner.node != kNoNode) state_.tree.acquire(owner.node);
        return owner;
    }

    void evict(Level level, const Owner& owner, std::uint64_t accesses, unsigned used_bytes, unsigned line_bytes) {
        if (owner.node == kNoNode) return;
        // A line that was never touched (only a prefetch does that) is as bad as one touched once.
        const std::uint64_t rarity = accesses > 1000 ? 0 : 1000u / std::max(static_cast<unsigned>(accesses), 1u);
        const std::size_t first = column(level == Level::kFirst ? Event::kAcCost1 : Event::kAcCost2);
        const auto add = [=](Costs costs, std::uint64_t times) {
            std::uint64_t* counts = &costs[first];
            counts[0] += times * rarity;
            counts[1] += times * (line_bytes - used_bytes);
            counts[2] += times;
            counts[3] += times * used_bytes;
            counts[4] += times * accesses;
        };
        add(state_.costs[owner.costs], 1);
        state_.tree.charge(owner.node, add);
        state_.tree.release(owner.node);
    }

    void disown(Owner* owner) {
        if (owner->node != kNoNode) state_.tree.release(owner->node);
        *owner = {};
    }

    void settle_fetches(std::uint32_t place) {
        fetches_.settle(place, crediting());
        // Data accesses run ahead of the fetches of their block.
        if (in_order_) return;
        for (; credited_ < executed_; ++credited_) credit(credited_);
    }
    [[gnu::always_inline]] void expect_to_forget(std::uint32_t place, const Owner& owner) const {
        fetches_.expect_to_forget(place);
        if (owner.node == kNoNode) return;
        state_.tree.expect(owner.node);
        const std::uint64_t* const counts = &state_.costs[owner.costs][column(Event::kAcCost1)];
        __builtin_prefetch(counts, 1);
        __builtin_prefetch(counts + 4, 1);
    }
    void forget_fetches(std::uint32_t place) { fetches_.forget(place, crediting()); }

private:
    static_assert(column(Event::kSpLoss1) == column(Event::kAcCost1) + 1 &&
                  column(Event::kEvLine1) == column(Event::kAcCost1) + 2 &&
                  column(Event::kUsByte1) == column(Event::kAcCost1) + 3 &&
                  column(Event::kAccess1) == column(Event::kAcCost1) + 4 &&
                  column(Event::kAccess2) == column(Event::kAcCost2) + 4);
    static_assert(column(Event::kDLmw) == column(Event::kILmr) + 2 &&
                  column(Event::kDLdmw) == column(Event::kILdmr) + 2);

    void start_chunk(Batch batch);
    void fetch(const Exit& exit, Time* now);
    void fetch_short(const Exit& exit, Time* now);
    void run_slowly(const Exit& exit, const Word* record);
    void simulate_in_order(const Exit& exit, const Word* record);
    void fetch_line_by_line(const Exit& exit);
    void fetch_one_by_one(const Exit& exit);
    void start_record(const Exit& exit, const Word* record);
    void see_misses(const Exit& exit, const Word* record);
    void see_misses_before(std::size_t access);
    void data_until(std::size_t instruction);
    void credit_block(const Exit& exit);
    void make_ready(const Exit& exit);
    void expect_misses();
    void charge(Outcome outcome, Event first_miss, Event last_miss);
    void credit(std::size_t instruction);
    auto crediting() {
        return [this](const Fetch& fetch, std::uint64_t times) {
            if constexpr (kUse) {
                caches_.credit_fetch(fetch.place, fetch.first_byte, fetch.size, times * fetch.count);
            }
        };
    }

    // The instruction that is simulated from here on, off the short way.
    void go_to(std::size_t instruction) {
        instruction_ = instruction;
        payer_is_known_ = false;
    }

    CostId cost_of_instruction() {
        return state_.current->payer ? state_.blocks.caller(state_.current->payer)
                                     : state_.blocks.instruction(*exit_->cost, instruction_);
    }

    // Who pays for what the instruction misses: nobody, if costs are not collected.
    Owner payer() {
        if (!payer_is_known_) {
            payer_is_known_ = true;
            payer_ = state_.current->collecting
                         ? Owner{state_.calls.active_node(*state_.current), cost_of_instruction()}
                         : Owner{};
        }
        return payer_;
    }

    EngineState& state_;
    Caches caches_;
    [[no_unique_address]] Watch watch_;

    ChunkQueue<typename Caches::Data> queue_;
    // What is left to do of the current one, and the next of its misses.
    Batch chunk_;
    const Word* chunk_begin_ = nullptr;
    const Miss* miss_ = nullptr;
    const Miss* last_miss_ = nullptr;

    // Where the replay is, off the short way.
    const Exit* exit_ = nullptr;
    std::uint32_t record_ = 0;    // in words of the chunk
    std::size_t accesses_ = 0;    // so many of the block have been seen
    std::size_t instruction_ = 0;
    bool payer_is_known_ = false;
    Owner payer_;
    std::size_t executed_ = 0;  // so many instructions of the block have been fetched

    UncreditedFetches fetches_;
    bool in_order_ = false;
    std::size_t credited_ = 0;  // so many instructions of the block that runs have got their credit ahead of the others
};

template <bool kCommon, bool kUse, class Watch>
std::size_t CacheReplay<kCommon, kUse, Watch>::run(Batch batch) {
    struct Way {
        [[gnu::always_inline]] void start() {
            now = replay->caches_.time();
            next_miss = replay->chunk_begin_ + replay->miss_->at.record;
        }
        [[gnu::always_inline]] void stop() { replay->caches_.set_time(now); }
        [[gnu::always_inline]] bool is_short(const Exit& exit, const Word* record) const {
            return record != next_miss && !exit.has_more_lines;
        }
        [[gnu::always_inline]] void run_short(const Exit& exit) { replay->fetch_short(exit, &now); }
        [[gnu::always_inline]] void run(const Exit& exit, const Word* record) {
            replay->fetch(exit, &now);
            if (record != next_miss) return;
            replay->see_misses(exit, record);
            next_miss = replay->chunk_begin_ + replay->miss_->at.record;
        }
        void run_slowly(const Exit& exit, const Word* record) { replay->run_slowly(exit, record); }

        CacheReplay* replay;
        Time now;
        const Word* next_miss;
    };
    std::size_t done = 0;
    do {
        const Batch rest = batch.subspan(done);
        if (chunk_.empty()) start_chunk(rest);
        BD_CHECK(chunk_.data() == rest.data());
        Way way{this, 0, nullptr};
        way.start();
        const std::size_t words = follow(state_, watch_, chunk_.first(std::min(chunk_.size(), rest.size())), way);
        chunk_ = chunk_.subspan(words);
        done += words;
    } while (done < batch.size() && state_.calls.requests().empty());
    return done;
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::start_chunk(Batch batch) {
    const auto& chunk = queue_.next(batch);
    caches_.set_chunk(chunk);
    chunk_ = chunk.words;
    chunk_begin_ = chunk_.data();
    miss_ = chunk.misses.data();
    last_miss_ = miss_ + chunk.misses.size() - 1;
}

// The instructions up to `exit`, all of whose lines are in I1.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::fetch(const Exit& exit, Time* now) {
    if (__builtin_expect(exit.has_more_lines, 0)) {
        for (const Fetch& each : exit.block->fetches().first(exit.fetches)) caches_.use_fetched(each.place, ++*now);
        return;
    }
    fetch_short(exit, now);
}

// The same, if they lie in two lines at most.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::fetch_short(const Exit& exit, Time* now) {
    caches_.use_fetched(exit.first_place, *now + 1);
    caches_.use_fetched(exit.last_place, *now += 2);
}

// Off the short way. Its fetches are to be credited later, see credit_block().
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::start_record(const Exit& exit, const Word* record) {
    exit_ = &exit;
    record_ = static_cast<std::uint32_t>(record - chunk_begin_);
    --exit.uncredited;
}

// Instructions and data meet in the LL only. So as long as all fetches hit I1, the misses in D1 may go after them.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::see_misses(const Exit& exit, const Word* record) {
    start_record(exit, record);
    see_misses_before(exit.accesses);
    credit_block(exit);
}

// Of the record that exit_ is of: those of its first so many accesses that have not been seen yet.
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::see_misses_before(std::size_t access) {
    while (miss_->at.record == record_ && miss_->at.access < access) {
        const std::uint16_t index = miss_->at.access;
        const Access& missing = exit_->block->accesses_[index];
        go_to(missing.instruction);
        executed_ = instruction_ + 1;
        if (miss_->place == Miss::kNoAccess) {
            state_.see_no_access(cost_of_instruction(), missing);
            ++miss_;
            continue;
        }
        // It may miss several lines: that is one miss.
        Outcome outcome = Outcome::kHit;
        do {
            expect_misses();
            outcome = std::max(outcome, caches_.load_data(*miss_++));
        } while (miss_->at.record == record_ && miss_->at.access == index);
        if (is_write(missing.kind)) {
            charge(outcome, Event::kD1mw, Event::kDLmw);
        } else {
            charge(outcome, Event::kD1mr, Event::kDLmr);
        }
    }
}

// The block has run: its fetches get their credit, now if some of them had to get it before.
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::credit_block(const Exit& exit) {
    if constexpr (kUse) {
        if (__builtin_expect(credited_ == 0, 1)) {
            ++exit.uncredited;
        } else {
            for (; credited_ < exit.instructions; ++credited_) credit(credited_);
            credited_ = 0;
        }
    }
}

// The block that has run to `exit`, which it makes ready for the short way if it can be.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::run_slowly(const Exit& exit, const Word* record) {
    for (const Fetch& each : exit.block->fetches().first(exit.fetches)) {
        if (each.place != Fetch::kNowhere) continue;
        const std::uint32_t place = caches_.fetch_place(each.line);
        if (place == caches_.kAbsent) {
            simulate_in_order(exit, record);
            return;
        }
        fetches_.list(*exit.block, each, place);
    }
    make_ready(exit);
    Time now = caches_.time();
    fetch(exit, &now);
    caches_.set_time(now);
    see_misses(exit, record);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::make_ready(const Exit& exit) {
    exit.first_place = exit.block->fetches_[0].place;
    exit.last_place = exit.block->fetches_[exit.fetches - 1].place;
    Course::make_ready(exit, *state_.current);
}

// Where a line is absent from I1: in program order, as far as that matters.
template <bool kCommon, bool kUse, class Watch>
[[gnu::noinline]] void CacheReplay<kCommon, kUse, Watch>::simulate_in_order(const Exit& exit, const Word* record) {
    start_record(exit, record);
    accesses_ = 0;
    if (caches_.keeps_fetched(exit.fetches)) {
        fetch_line_by_line(exit);
    } else {
        fetch_one_by_one(exit);
    }
}

// Comes to `instruction`, with all that was accessed before it.
template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::data_until(std::size_t instruction) {
    const Access* const accesses = exit_->block->accesses_;
    while (accesses_ < exit_->accesses && accesses[accesses_].instruction < instruction) ++accesses_;
    see_misses_before(accesses_);
    go_to(instruction);
    executed_ = instruction;
    caches_.set_position({record_, static_cast<std::uint16_t>(accesses_), 0});
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::fetch_line_by_line(const Exit& exit) {
    data_until(0);
    // An instruction may miss two lines: that is one miss.
    Outcome outcome = Outcome::kHit;
    for (const Fetch& each : exit.block->fetches().first(exit.fetches)) {
        std::uint32_t place = each.place;
        if (place == Fetch::kNowhere) {
            place = caches_.fetch_place(each.line);
            if (place == caches_.kAbsent) {
                if (each.instruction != instruction_) {
                    charge(std::exchange(outcome, Outcome::kHit), Event::kI1mr, Event::kILmr);
                    data_until(each.instruction);
                }
                outcome = std::max(outcome, caches_.load_fetched(each.line, &place));
            }
            fetches_.list(*exit.block, each, place);
        }
        caches_.use_fetched(place);
    }
    charge(outcome, Event::kI1mr, Event::kILmr);
    make_ready(exit);
    see_misses_before(exit.accesses);
    credit_block(exit);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::fetch_one_by_one(const Exit& exit) {
    in_order_ = true;
    for (std::size_t i = 0; i < exit.instructions; ++i) {
        data_until(i);
        const Outcome outcome = caches_.fetch(exit.block->instruction_address(i), exit.block->instructions_[i].size);
        charge(outcome, Event::kI1mr, Event::kILmr);
    }
    see_misses_before(exit.accesses);
    in_order_ = false;
}

// The caches simulated are larger than the host's, and waiting for their tags was half of all time in loops over large
// arrays.
template <bool kCommon, bool kUse, class Watch>
[[gnu::always_inline]] inline void CacheReplay<kCommon, kUse, Watch>::expect_misses() {
    constexpr std::ptrdiff_t kAhead = 8;
    if (last_miss_ - miss_ <= kAhead) return;
    caches_.expect(miss_[kAhead]);
    caches_.expect_soon(miss_[kAhead / 2]);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::charge(Outcome outcome, Event first_miss, Event last_miss) {
    if (outcome == Outcome::kHit) return;
    const Owner owner = payer();
    if (owner.node == kNoNode) return;
    const auto add = [=](Costs costs, std::uint64_t times) {
        costs[column(first_miss)] += times;
        if (outcome >= Outcome::kLastMiss) costs[column(last_miss)] += times;
        if constexpr (kWatches<Watch>) {
            const std::size_t dirty_miss = column(Event::kILdmr) + column(last_miss) - column(Event::kILmr);
            if (outcome == Outcome::kDirtyMiss) costs[dirty_miss] += times;
        }
    };
    add(state_.costs[owner.costs], 1);
    state_.tree.charge(owner.node, add);
}

template <bool kCommon, bool kUse, class Watch>
void CacheReplay<kCommon, kUse, Watch>::credit(std::size_t instruction) {
    const Block& block = *exit_->block;
    caches_.credit_fetched(block.instruction_address(instruction), block.instructions_[instruction].size);
}

template <class Watch>
std::unique_ptr<Replay> make_replay(EngineState& state) {
    const EngineConfig& config = state.config;
    if (!config.cache_sim) return std::make_unique<PlainReplay<Watch>>(state);
    const bool common = is_common(config.caches);
    if (config.cache_use) {
        if (common) return std::make_unique<CacheReplay<true, true, Watch>>(state);
        return std::make_unique<CacheReplay<false, true, Watch>>(state);
    }
    if (common) return std::make_unique<CacheReplay<true, false, Watch>>(state);
    return std::make_unique<CacheReplay<false, false, Watch>>(state);
}

}  // namespace

std::unique_ptr<Replay> Replay::make(EngineState& state) {
    const EngineConfig& config = state.config;
    const bool more = BranchWatch::is_wanted(config) || config.write_back || config.prefetch;
    return more ? make_replay<BranchWatch>(state) : make_replay<NoWatch>(state);
}

}  // namespace bd
