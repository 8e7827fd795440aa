// SPDX-License-Identifier: GPL-2.0-or-later
//
// How far D1 is ahead of the replay: chunks that it has simulated, in order, until the replay takes them.
//
// The replay makes the chunk that it needs if there is none. Where it runs on a thread of its own, the other thread
// may make chunks of announced words meanwhile: instead of waiting, or when it has just written those words, which its
// own cache has then. D1 is a third of all work.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/spin_lock.h"
#include "engine/trace/trace.h"

namespace bd {

// `Data`: a DataCache.
template <class Data>
class ChunkQueue {
public:
    using Chunk = typename Data::Chunk;

    // `data` must live as long as the queue. `first`: the number that batches and chunks begin with.
    explicit ChunkQueue(Data& data, std::uint32_t first = 0)
        : data_(data),
          announced_(first),
          simulated_(first),
          chunks_(kChunks),
          made_(first),
          taken_(first),
          first_(first) {}

    // These words will be replayed after those announced before. They must stay as they are until then. Takes no lock:
    // its holder may be waiting for memory, which the thread that announces gets for it. There must be some: a chunk of
    // none would never be replayed.
    void announce(Batch words) {
        BD_CHECK(!words.empty());
        const std::uint32_t number = announced_.load(std::memory_order_relaxed);
        BD_CHECK_OP(number - simulated_.load(std::memory_order_acquire), <, kMostAnnounced);
        batches_[number % kMostAnnounced] = words;
        announced_.store(number + 1, std::memory_order_release);
    }

    // Makes a chunk if there are words for it, there is room, and no other thread is making one. Returns whether it
    // did.
    bool advance() {
        if (!lock_.try_lock()) return false;
        const bool can = has_words() && !waits_ && made_ - taken_.load(std::memory_order_acquire) < most();
        if (can) make();
        lock_.unlock();
        return can;
    }

    // Whether the replay has a chunk to go on with after the current one. Else it is about to make the next one itself,
    // and would have to wait for another thread that does.
    bool is_supplied() const {
        return made_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed) > 1;
    }

    // For the replay: the chunk that begins with the first of these words, which need not have been announced. The one
    // before is done.
    const Chunk& next(Batch words) {
        if (has_taken_) taken_.fetch_add(1, std::memory_order_release);
        has_taken_ = true;
        const std::uint32_t number = taken_.load(std::memory_order_relaxed);
        if (made_.load(std::memory_order_acquire) == number) {
            const std::scoped_lock lock(lock_);
            if (made_.load(std::memory_order_relaxed) == number) {
                first_ = number;  // alone, the replay uses the same memory again and again
                if (!has_words()) announce(words);
                make();
            }
        }
        return chunks_[ring_index(number)];
    }

private:
    // Some batches' worth, for the trace's buffer has no more.
    static constexpr std::uint32_t kChunks = 64;
    static constexpr std::uint32_t kMostAnnounced = 64;
    std::uint32_t most() const { return data_.may_be_far_ahead() ? kChunks : 1; }

    std::uint32_t ring_index(std::uint32_t number) const { return (number - first_) % kChunks; }

    // What follows needs the lock.

    bool has_words() const {
        return announced_.load(std::memory_order_acquire) != simulated_.load(std::memory_order_relaxed);
    }

    void make() {
        Batch& rest = batches_[simulated_.load(std::memory_order_relaxed) % kMostAnnounced];
        const std::uint32_t number = made_.load(std::memory_order_relaxed);
        Chunk& chunk = chunks_[ring_index(number)];
        data_.run(rest, &chunk);
        waits_ = chunk.empties_caches;
        rest = rest.subspan(chunk.words.size());
        if (rest.empty()) simulated_.fetch_add(1, std::memory_order_release);
        made_.store(number + 1, std::memory_order_release);
    }

    // With the lock, as is all that has no other comment.
    Data& data_;
    SpinLock lock_;

    // Batches have numbers, from 0 on, and again after 2^32. The one that is announced is written by the thread that
    // announces, which then says so in announced_; from there on until simulated_ says that it is done with, it belongs
    // to the holder of the lock, and the first one shrinks to what is left to do of it.
    Batch batches_[kMostAnnounced]{};
    std::atomic<std::uint32_t> announced_;  // written by the thread that announces
    std::atomic<std::uint32_t> simulated_;

    // Chunks have such numbers, too. One is written with the lock, before made_ says that it is there; then it
    // belongs to the replay until taken_ says that it is done with.
    std::vector<Chunk> chunks_;
    std::atomic<std::uint32_t> made_;
    std::atomic<std::uint32_t> taken_;  // written by the replay
    // The number that was made last when there was no other. Written with the lock by the replay's thread, which also
    // reads it without.
    std::uint32_t first_;
    bool has_taken_ = false;  // the replay's own: the one numbered taken_ is being replayed
    bool waits_ = false;      // until the replay has emptied the caches
};

}  // namespace bd
