// SPDX-License-Identifier: GPL-2.0-or-later
//
// A queue of the chunks by which the first-level caches are ahead of the replay: those that they have simulated, in
// order, until the replay takes them.
//
// The replay makes the chunk that it needs if there is none. If it runs on a separate thread, the other thread may make
// chunks of announced words meanwhile: instead of waiting, or when it has just written these words, so that they are in
// its own cache. These caches are a third of all work.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/spin_lock.h"
#include "engine/trace/trace.h"

namespace bd {

// `Stage`: an L1Stage.
template <class Stage>
class ChunkQueue {
public:
    using Chunk = typename Stage::Chunk;

    // `stage` must live as long as the queue. `first`: the number of the first batch and of the first chunk.
    explicit ChunkQueue(Stage& stage, std::uint32_t first = 0)
        : stage_(stage),
          announced_(first),
          simulated_(first),
          chunks_(kChunks),
          made_(first),
          taken_(first),
          first_(first) {}

    // Announces words that will be replayed after those announced before. They must not change until then, and must not
    // be empty, as an empty chunk would never be replayed. Takes no lock: its holder may be waiting for memory, which
    // the announcing thread gets for it.
    void announce(Batch words) {
        BD_CHECK(!words.empty());
        const std::uint32_t number = announced_.load(std::memory_order_relaxed);
        BD_CHECK_OP(number - simulated_.load(std::memory_order_acquire), <, kMostAnnounced);
        batches_[number % kMostAnnounced] = words;
        announced_.store(number + 1, std::memory_order_release);
    }

    // Makes a chunk if there are words for it and room, and if no other thread is making one. Returns whether it did.
    bool advance() {
        if (!lock_.try_lock()) return false;
        const bool can = has_words() && !waits_ && made_ - taken_.load(std::memory_order_acquire) < most();
        if (can) make();
        lock_.unlock();
        return can;
    }

    // Whether the replay has a chunk to continue with after the current one. Otherwise it is about to make the next one
    // itself, and would have to wait for another thread that does.
    bool is_supplied() const {
        return made_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed) > 1;
    }

    // Returns, to the replay, the chunk that begins with the first of these words, which need not have been announced.
    // The chunk before is released.
    const Chunk& next(Batch words) {
        if (has_taken_) taken_.fetch_add(1, std::memory_order_release);
        has_taken_ = true;
        const std::uint32_t number = taken_.load(std::memory_order_relaxed);
        if (made_.load(std::memory_order_acquire) == number) {
            const std::scoped_lock lock(lock_);
            if (made_.load(std::memory_order_relaxed) == number) {
                first_ = number;  // without another thread, the replay always uses the same memory
                if (!has_words()) announce(words);
                make();
            }
        }
        return chunks_[ring_index(number)];
    }

    // How many chunks there may be at once: enough for several batches; the trace's buffer has no more.
    static constexpr std::uint32_t kChunks = 64;

private:
    static constexpr std::uint32_t kMostAnnounced = 64;
    std::uint32_t most() const { return stage_.may_be_far_ahead() ? kChunks : 1; }

    std::uint32_t ring_index(std::uint32_t number) const { return (number - first_) % kChunks; }

    // The following functions need the lock.

    bool has_words() const {
        return announced_.load(std::memory_order_acquire) != simulated_.load(std::memory_order_relaxed);
    }

    void make() {
        Batch& rest = batches_[simulated_.load(std::memory_order_relaxed) % kMostAnnounced];
        const std::uint32_t number = made_.load(std::memory_order_relaxed);
        Chunk& chunk = chunks_[ring_index(number)];
        stage_.run(rest, &chunk);
        waits_ = chunk.empties_caches;
        rest = rest.subspan(chunk.words.size());
        if (rest.empty()) simulated_.fetch_add(1, std::memory_order_release);
        made_.store(number + 1, std::memory_order_release);
    }

    // Members without another comment may only be accessed with the lock.
    Stage& stage_;
    SpinLock lock_;

    // Batches are numbered, modulo 2^32. The announcing thread writes a batch and then increments announced_. From then
    // until simulated_ passes it, the batch belongs to the holder of the lock; the first one shrinks to the rest that
    // is not simulated yet.
    Batch batches_[kMostAnnounced]{};
    std::atomic<std::uint32_t> announced_;  // written by the announcing thread
    std::atomic<std::uint32_t> simulated_;

    // Chunks are numbered in the same way. A chunk is written with the lock before made_ passes it. Then it belongs to
    // the replay until taken_ passes it.
    std::vector<Chunk> chunks_;
    std::atomic<std::uint32_t> made_;
    std::atomic<std::uint32_t> taken_;  // written by the replay
    // The number of the latest chunk that was made when there was no other. Written with the lock by the replay's
    // thread, which also reads it without.
    std::uint32_t first_;
    bool has_taken_ = false;  // whether chunk taken_ is being replayed; only accessed by the replay
    bool waits_ = false;      // whether no chunk may be made until the replay has emptied the caches
};

}  // namespace bd
