// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads side by side. Valgrind runs one thread for a hundred thousand blocks, then another one, so there is hardly
// any contention. Here, the pieces of the trace wait until there is one of each thread that can run. Then Coherence
// simulates what the threads did in turn, in small slices.
//
// The trace that is put out has the same records in the same order as the one that was taken, and additional markers
// for what happened between cores.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/base/types.h"
#include "engine/sharing/coherence.h"
#include "engine/trace/trace.h"

namespace bd {

struct OrderRules {
    std::uint32_t cores = kMostCores;  // 1 to kMostCores; see core_of_thread()
    std::uint32_t slice = 1000;        // instructions that a thread executes at a time, at least 1
    bool is_virtual = true;            // false: threads are simulated in Valgrind's order
    unsigned line_bits = 6;            // of D1, at most 6
    CoherenceProtocol coherence = CoherenceProtocol::kMesi;
    // How many words may wait for each thread.
    std::size_t most_waiting = std::size_t{1} << 20;
};

class VirtualOrder {
public:
    explicit VirtualOrder(const OrderRules& rules) : rules_(rules), coherence_(rules.line_bits, rules.coherence) {}
    VirtualOrder(const VirtualOrder&) = delete;
    VirtualOrder& operator=(const VirtualOrder&) = delete;

    // Takes a copy of whole records, in the order of the trace. The calls below apply to what a thread does after all
    // records that have been taken. `is_of_one_piece`: none of them begins with a word that ends_piece().
    void take(Batch batch, bool is_of_one_piece = false);
    // Where records can be written: so many words, always the same number. take_buffer() takes the first `words` of it,
    // which must be of one piece, without copying them; then there is another buffer.
    Word* buffer(std::size_t words);
    void take_buffer(std::size_t words);
    // Whether other threads may have run before a record that begins with this word.
    static bool ends_piece(Word first);

    // Futexes. A thread may have to wait at a word until another thread wakes it; `count` threads that wait there are
    // woken, in the order in which they began to wait; a thread goes on. What it does from then on comes after what the
    // thread that woke it had done; if none has, after what threads that have ended meanwhile had done.
    void begin_wait(std::uint32_t thread, Address word);
    void wake(Address word, std::uint64_t count);
    void end_wait(std::uint32_t thread);

    // Other system calls, where it is not known what a thread waits for. It may let others go on, and may have to wait.
    void release(std::uint32_t thread);
    // The thread goes on. If others have run meanwhile (`has_waited`), what it does from here on comes after what they
    // had done until their latest release.
    void acquire(std::uint32_t thread, bool has_waited);

    // Puts out records that have been taken and simulated, and their markers, in the order of the trace: whole records,
    // none if none are ready. They are written to `to`, which has room for `most` words, enough for any record and two
    // markers; or, if `may_lend`, they may be where they were, until the next call of anything here.
    Batch put_out(Word* to, std::size_t most, bool may_lend = false);
    bool has_output() const { return !pieces_.empty() && pieces_.front()->simulated == pieces_.front()->words; }

    // Simulates all that has been taken, so that it can be put out.
    void settle() { run(true); }

    // Empties the caches; in a child that has just been forked, forgets the other threads, too. All that was taken must
    // have been put out.
    void empty_caches();
    void start_in_child();

private:
    // A part of the trace that is all of one thread.
    struct Piece {
        std::unique_ptr<Word[]> room;
        std::size_t room_words = 0;
        bool is_buffer = false;  // room is one of the buffers that records are written to
        std::size_t words = 0;
        std::uint8_t core = 0;
        std::uint64_t begin = 0;    // words that were taken before it
        std::uint64_t after = 0;    // of these, how many must have been simulated before it begins
        std::size_t simulated = 0;  // words
        std::size_t put_out = 0;    // words
        // A marker to be put out behind the first `behind` words.
        struct Mark {
            std::size_t behind;
            std::array<Word, kMarkerWords> words;
        };
        std::vector<Mark> marks;
        std::size_t marks_put_out = 0;
    };
    struct Thread {
        std::deque<Piece*> waiting;
        std::uint8_t core = 0;
        std::uint64_t clock = 0;     // instructions
        std::uint64_t released = 0;  // words taken before its latest release
        std::uint64_t after = 0;     // Piece::after of its next piece
        bool can_run = false;
        Address waits_at = 0;           // 0: it does not wait
        std::uint64_t waits_since = 0;  // words taken before it began to wait
        std::uint64_t woken = 0;        // words taken before it was woken; 0: it has not been
    };

    Thread& thread(std::uint32_t id);
    void add_piece(std::uint32_t thread, Batch words);
    Piece& new_piece();
    void append(std::uint32_t thread, Piece* piece, std::size_t words);
    void done_with(std::unique_ptr<Piece> piece);
    static std::size_t lendable(const Piece& piece);
    void note_markers(const Word* record);
    std::uint64_t latest_release(std::uint32_t but) const;
    std::uint64_t next_word(const Thread& thread) const;
    bool is_held(const Thread& thread) const;
    bool waits_for_others() const;
    Thread* choose();
    void run(bool all);
    void run_slice(Thread& thread);
    std::uint64_t simulate(Piece* piece, std::uint64_t instructions);
    void simulate_record(Piece* piece, const Exit& exit, const Word* record);
    void simulate_group(Piece* piece, const Exit& exit, const AccessGroup& group, const Word* record, Address base);
    void add_mark(Piece* piece, std::size_t behind, Marker marker, const std::array<Word, kMarkerValues>& values);

    const OrderRules rules_;
    Coherence coherence_;
    std::vector<std::unique_ptr<Thread>> threads_;  // by number; null if the trace has none of that number
    std::deque<std::unique_ptr<Piece>> pieces_;     // in the order of the trace
    std::vector<std::unique_ptr<Piece>> spare_;
    std::unique_ptr<Piece> lent_;  // it is done, but the end of it may still be looked at
    std::unique_ptr<Word[]> buffer_;
    std::size_t buffer_words_ = 0;
    std::vector<std::unique_ptr<Word[]>> spare_buffers_;
    std::vector<CoreUseMark> ends_;
    std::vector<std::uint32_t> waiters_;  // threads that wait at a word, in the order in which they began to
    std::uint64_t latest_end_ = 0;        // words taken before a thread last ended
    std::uint32_t running_ = 0;           // the thread of the records that are being taken
    bool has_threads_ = false;            // more than one
    std::uint64_t taken_ = 0;             // words
    std::size_t words_waiting_ = 0;       // taken, but not simulated
    std::uint64_t now_ = 0;               // the clock of the thread that ran last
};

}  // namespace bd
