// SPDX-License-Identifier: GPL-2.0-or-later
//
// I1 and D1, which run ahead of everything else: what they hold depends only on the trace, neither on calls nor on
// other caches. So they simulate a chunk of it at once, in a loop that does nothing else, and leave lists of their
// misses to the replay.

#pragma once

#include <cstddef>

#include "engine/base/check.h"
#include "engine/base/geometry.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/data_cache.h"
#include "engine/cache/instruction_cache.h"
#include "engine/cache/reuse.h"
#include "engine/trace/trace.h"

namespace bd {

template <CacheTraits kTraits>
class L1Stage {
public:
    using Data = DataCache<kTraits>;
    using Instructions = InstructionCache<kTraits>;
    struct Chunk : Data::Chunk {
        typename Instructions::Chunk fetched;
    };

    // See DataCache.
    L1Stage(const CacheGeometries& caches, std::size_t chunk_words, bool notes_writes, ReuseRules rules = {})
        : data_(caches.d1, chunk_words, notes_writes, rules), instructions_(caches.i1, rules) {
        BD_CHECK_OP(chunk_words, <=, Instructions::kMostWords);
    }

    Data& data() { return data_; }
    Instructions& instructions() { return instructions_; }

    // Simulates records from the beginning of `batch`, but stops behind a marker that empties the caches: both must be
    // flushed then.
    void run(Batch batch, Chunk* chunk) {
        instructions_.run(batch, &chunk->fetched, [&](auto fetches) {
            data_.run(batch, chunk, fetches);
            return chunk->words;
        });
    }

    // Whether more chunks may be run before use_before() is asked about one.
    bool may_be_far_ahead() const { return data_.may_be_far_ahead() && instructions_.may_be_far_ahead(); }

private:
    Data data_;
    Instructions instructions_;
};

}  // namespace bd
