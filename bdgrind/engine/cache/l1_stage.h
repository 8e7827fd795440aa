// SPDX-License-Identifier: GPL-2.0-or-later
//
// I1 and D1, which run ahead of everything else: what they hold depends only on the trace, neither on calls nor on
// other caches. So they simulate a chunk of it at once, in a loop that does nothing else, and leave lists of their
// misses to the replay.
//
// With several cores, each has an I1 and a D1, made when a thread first runs on it. A chunk is all of one core: it ends
// where the thread may be switched.
//
// With an inclusive LL, they do depend on the levels behind them: a line that leaves LL leaves I1 and D1, too, when the
// block has ended. So the stage follows what these levels have (TagsAhead).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/geometry.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/data_cache.h"
#include "engine/cache/data_cores.h"
#include "engine/cache/instruction_cache.h"
#include "engine/cache/moved_stacks.h"
#include "engine/cache/next_level_config.h"
#include "engine/cache/reuse.h"
#include "engine/cache/tags_ahead.h"
#include "engine/trace/trace.h"

namespace bd {

template <CacheTraits kTraits>
class L1Stage {
public:
    using Data = DataCache<kTraits>;
    using Instructions = InstructionCache<kTraits>;
    // The uses of a core's lines, by slot, from when it stopped to run. Until it runs again, it only loses lines.
    struct Uses {
        std::vector<typename Data::Use> data;
        std::vector<typename Instructions::Use> fetched;
    };
    struct Chunk : Data::Chunk {
        typename Instructions::Chunk fetched;
        std::uint32_t core = 0;
        std::vector<const Uses*> others;         // by core, if there are several; null: it is this one, or has not run
        std::vector<MovedStacks::Misses> moved;  // what D1 misses with other stacks, if that is asked for
    };

    // A chunk is no longer needed when so many others have been made since.
    static constexpr std::uint32_t kMostChunks = 64;

    // `cores`: how many there may be, from 1; with traits that ask why, there is one. `has_l2`: whether each has an L2
    // of its own, too. `config`: of the levels behind. For the rest, see DataCache.
    L1Stage(const CacheGeometries& caches, std::size_t chunk_words, const NextLevelConfig& config,
            ReuseRules rules = {}, std::uint32_t cores = 1, bool has_l2 = false)
        : caches_(caches),
          chunk_words_(chunk_words),
          notes_writes_(config.write_back),
          rules_(rules),
          tags_(caches.is_inclusive() ? std::make_unique<TagsAhead>(caches, config) : nullptr),
          shared_(has_l2),
          cores_(cores) {
        BD_CHECK_OP(chunk_words, <=, Instructions::kMostWords);
        make_core(0);
    }

    // From now on, these run along. They must live as long.
    void set_stacks(MovedStacks* stacks) { stacks_ = stacks; }

    std::uint32_t most_cores() const { return static_cast<std::uint32_t>(cores_.size()); }
    // Of the first core, or of one that a chunk has been of.
    Data& data(std::uint32_t core = 0) { return cores_[core]->data; }
    Instructions& instructions(std::uint32_t core = 0) { return cores_[core]->instructions; }

    // Simulates records from the beginning of `batch`, but stops behind a marker that empties the caches: those of all
    // cores must be flushed then, and flushed() be called.
    void run(Batch batch, Chunk* chunk) {
        Core& core = *cores_[core_];
        std::optional<std::uint32_t> next_core;
        if (most_cores() > 1) {
            start_chunk(chunk);
            batch = up_to_switch(batch, &next_core);
        }
        if (__builtin_expect(tags_ != nullptr, 0)) {
            tags_->run_on(core_);
            core.instructions.run_each(batch, &chunk->fetched, [&](auto fetches) {
                core.data.run(batch, chunk, Losing(*this, *chunk, fetches));
                return chunk->words;
            });
        } else {
            core.instructions.run(batch, &chunk->fetched, [&](auto fetches) {
                core.data.run(batch, chunk, fetches);
                return chunk->words;
            });
        }
        if (__builtin_expect(stacks_ != nullptr, 0)) stacks_->run(chunk->words, &chunk->moved);
        if (next_core && chunk->words.size() == batch.size()) switch_to(*next_core);
    }
    void flushed() {
        shared_.clear();
        if (tags_ != nullptr) tags_->flush();
    }

    // Whether more chunks may be run before use_before() is asked about one.
    bool may_be_far_ahead() const {
        return cores_[0]->data.may_be_far_ahead() && cores_[0]->instructions.may_be_far_ahead();
    }

private:
    struct Core {
        Core(L1Stage& stage, std::uint32_t number)
            : data(stage.caches_.d1, stage.chunk_words_, stage.notes_writes_, stage.rules_,
                   stage.most_cores() > 1 ? &stage.shared_ : nullptr, number),
              instructions(stage.caches_.i1, stage.rules_) {}

        Data data;
        Instructions instructions;
        std::unique_ptr<const Uses> uses;  // while another core runs
    };
    struct Outdated {
        std::unique_ptr<const Uses> uses;
        std::uint64_t chunks;  // that had been made when they changed
    };

    // Simulates fetches, and after each record what an inclusive LL evicts because of it.
    template <class Fetches>
    class Losing {
    public:
        static constexpr int kRecordsAhead = Fetches::kRecordsAhead;

        Losing(L1Stage& stage, Chunk& chunk, Fetches fetches) : stage_(&stage), chunk_(&chunk), fetches_(fetches) {}
        void run(Exit& exit, const Word* at) {
            finish_record();
            record_ = at;
            fetches_.run(exit, at);
        }
        void stop() {
            finish_record();
            fetches_.stop();
        }

    private:
        void finish_record() {
            if (data_ == chunk_->misses.size() && fetched_ == chunk_->fetched.misses.size()) return;
            stage_->follow_misses(*chunk_, record_, data_, fetched_);
            data_ = chunk_->misses.size();
            fetched_ = chunk_->fetched.misses.size();
        }

        L1Stage* stage_;
        Chunk* chunk_;
        Fetches fetches_;
        const Word* record_ = nullptr;  // the latest one
        std::size_t data_ = 0;          // misses before that
        std::size_t fetched_ = 0;
    };

    // Tells the levels behind what a record has missed, from these misses on, in the order of the program, as the
    // replay does. Then I1 and D1 of all cores lose what LL has evicted.
    [[gnu::noinline, gnu::cold]] void follow_misses(Chunk& chunk, const Word* record, std::size_t data,
                                                    std::size_t fetched) {
        const Block& block = *exit_of(*record).block;
        const auto instruction_of = [&](const auto& miss) { return block.accesses()[miss.at.access].instruction; };
        const std::size_t data_end = chunk.misses.size();
        const auto follow_data = [&] {
            const auto& miss = chunk.misses[data++];
            if (miss.loads()) {
                const Address instruction = block.instruction_address(instruction_of(miss));
                tags_->load(Reference::kData, miss.at.address, miss.bytes, instruction);
            } else if (miss.is_taken()) {
                tags_->lose(miss.other_core(), caches_.d1.line_bits(),
                            LineNumber{miss.at.address >> caches_.d1.line_bits()});
            }
        };
        for (; fetched != chunk.fetched.misses.size(); ++fetched) {
            const auto& miss = chunk.fetched.misses[fetched];
            while (data != data_end && instruction_of(chunk.misses[data]) < miss.at.instruction) follow_data();
            tags_->load(Reference::kFetch, miss.at.address, miss.bytes, 0);
        }
        while (data != data_end) follow_data();
        const auto index = static_cast<std::uint32_t>(record - chunk.words.data());
        tags_->for_each_lost([&](LineNumber line) { lose(line, index); });
    }

    // A line of LL.
    void lose(LineNumber whole, std::uint32_t record) {
        Data& here = cores_[core_]->data;
        const Address begin = static_cast<Address>(whole) << caches_.ll.line_bits();
        const Address end = begin + caches_.ll.line_bytes;
        for (std::uint32_t number = 0; number < most_cores(); ++number) {
            if (cores_[number] == nullptr) continue;
            Core& core = *cores_[number];
            for (Address at = begin; at < end; at += caches_.d1.line_bytes) {
                typename Data::Use use;
                const std::uint32_t slot = core.data.lose(core.data.line_of(at), &use);
                if (slot != Data::kAbsent) here.note_lost(record, at, number, Data::Miss::kTaken + slot, use);
            }
            for (Address at = begin; at < end; at += caches_.i1.line_bytes) {
                typename Instructions::Use use;
                const std::uint32_t slot = core.instructions.lose(core.instructions.line_of(at), &use);
                if (slot == Instructions::kAbsent) continue;
                here.note_lost(record, at, number, Data::Miss::kFetchedTaken + slot, {{use}});
            }
        }
    }

    // The records up to where another thread goes on, if that is in the next chunk, and then its core; else all. (It
    // takes less to look for that here than in the loop that simulates records.)
    Batch up_to_switch(Batch batch, std::optional<std::uint32_t>* next_core) const {
        const Word switches = marker_word(Marker::kThread);
        const Word* const begin = batch.data();
        const Word* const end = begin + std::min(batch.size(), chunk_words_);
        const Word* record = begin;
        for (const Word* found = begin; (found = std::find(found, end, switches)) != end; ++found) {
            while (record < found) record += record_words(*record);
            if (record != found) continue;  // it is a word within a record
            *next_core = core_of_thread(static_cast<std::uint32_t>(found[1]), found[2], most_cores());
            return batch.first(static_cast<std::size_t>(found - begin) + kMarkerWords);
        }
        return batch;
    }

    void make_core(std::uint32_t number) {
        cores_[number] = std::make_unique<Core>(*this, number);
        shared_.add(number, &cores_[number]->data);
    }

    void start_chunk(Chunk* chunk) {
        ++chunks_;
        while (!outdated_.empty() && chunks_ - outdated_.front().chunks >= kMostChunks) outdated_.pop_front();
        chunk->core = core_;
        chunk->others.clear();
        for (const std::unique_ptr<Core>& core : cores_) {
            chunk->others.push_back(core == nullptr ? nullptr : core->uses.get());
        }
    }

    void switch_to(std::uint32_t number) {
        if (number == core_) return;
        Core& old = *cores_[core_];
        auto uses = std::make_unique<Uses>();
        old.data.copy_uses(&uses->data);
        old.instructions.copy_uses(&uses->fetched);
        old.uses = std::move(uses);
        core_ = number;
        if (cores_[core_] == nullptr) make_core(core_);
        Core& core = *cores_[core_];
        if (core.uses != nullptr) outdated_.push_back({std::move(core.uses), chunks_});
    }

    CacheGeometries caches_;
    std::size_t chunk_words_;
    bool notes_writes_;
    ReuseRules rules_;
    std::unique_ptr<TagsAhead> tags_;  // null: LL is not inclusive
    MovedStacks* stacks_ = nullptr;    // null: they stay where they are
    DataCores<Data> shared_;
    std::vector<std::unique_ptr<Core>> cores_;  // null: nothing has run there
    std::uint32_t core_ = 0;                    // that runs next
    std::uint64_t chunks_ = 0;                  // made so far; only counted with several cores
    std::deque<Outdated> outdated_;             // that chunks may need
};

}  // namespace bd
