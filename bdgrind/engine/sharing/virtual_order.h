// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads beside each other. Valgrind runs one thread for a hundred thousand blocks, then another, so that hardly
// anything is ever contended for. Here the pieces of the trace that it has made that way wait until there is one of
// each thread that can run; then what the threads did is taken in small slices, in turn, and goes through Coherence.
// The trace itself goes on in Valgrind's order, with marks where cores had to do with each other.
//
// So the stages behind see all that was there before, in the same order, and a few markers more.

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
    std::uint32_t cores = kMostCores;  // 1 to kMostCores; threads are assigned in turn
    std::uint32_t slice = 1000;        // so many instructions of a thread at a time, at least 1
    bool is_virtual = true;            // no: threads run as Valgrind ran them
    unsigned line_bits = 6;            // of D1, at most 6
    // So many words may wait for each thread.
    std::size_t most_waiting = std::size_t{1} << 20;
};

class VirtualOrder {
public:
    explicit VirtualOrder(const OrderRules& rules) : rules_(rules), coherence_(rules.line_bits) {}
    VirtualOrder(const VirtualOrder&) = delete;
    VirtualOrder& operator=(const VirtualOrder&) = delete;

    // Whole records, which have been written in this order; they are copied. What follows is about what a thread does
    // behind all records that have been taken.
    void take(Batch batch);

    // A thread may wait at this word until others wake it; so many of those that wait there are woken, in the order in
    // which they came; and it goes on. What the waker had done comes before what it does from there on; if it has not
    // been woken, what threads had done that have ended meanwhile.
    void begin_wait(std::uint32_t thread, Address word);
    void wake(Address word, std::uint64_t count);
    void end_wait(std::uint32_t thread);

    // The same where it is not known who waits for what: a thread may let others go on, and may have to wait itself.
    void release(std::uint32_t thread);
    // It goes on. `has_waited`: others have run meanwhile. What they had done until their latest release comes before
    // what it does from here on.
    void acquire(std::uint32_t thread, bool has_waited);

    // What has been taken and has its marks, in the order in which it was taken: whole records, `most` words at most,
    // which has room for any record and two markers. Returns how many words; 0: there are none yet.
    std::size_t put_out(Word* to, std::size_t most);
    bool has_output() const { return !pieces_.empty() && pieces_.front()->simulated == pieces_.front()->words; }

    // All that has been taken is to be put out.
    void settle() { run(true); }

    // The caches are empty from here on; this process is a child that has just been forked, too. Both with all put out.
    void empty_caches();
    void start_in_child();

private:
    // What a thread did without a break.
    struct Piece {
        std::vector<Word> room;  // for so many words at least
        std::size_t words = 0;
        std::uint32_t thread = 0;
        std::uint64_t begin = 0;  // how many words were taken before
        std::uint64_t after = 0;  // so many of them must have been simulated
        std::size_t simulated = 0;
        std::size_t put_out = 0;
        // Behind so many words: a marker.
        struct Mark {
            std::size_t behind;
            std::array<Word, kMarkerWords> words;
        };
        std::vector<Mark> marks;
        std::size_t marks_put_out = 0;
    };
    struct Thread {
        std::deque<Piece*> waiting;
        std::uint64_t clock = 0;     // instructions
        std::uint64_t released = 0;  // words that had been taken then
        std::uint64_t after = 0;     // for its next piece
        bool can_run = false;
        Address waits_at = 0;  // 0: nowhere
        std::uint64_t waits_since = 0;
        std::uint64_t woken = 0;  // words that had been taken then; 0: it has not been
    };

    Thread& thread(std::uint32_t id);
    void add_piece(std::uint32_t thread, Batch words);
    void note_markers(const Word* record);
    std::uint64_t latest_release(std::uint32_t but) const;
    std::uint64_t next_word(const Thread& thread) const;
    bool is_held(const Thread& thread) const;
    bool waits_for_others() const;
    Thread* choose();
    void run(bool all);
    void run_slice(Thread& thread);
    std::uint64_t simulate(Piece* piece, std::uint64_t instructions);
    void simulate_record(Piece* piece, const Exit& exit, std::size_t at);
    void add_mark(Piece* piece, std::size_t behind, Marker marker, const std::array<Word, kMarkerValues>& values);

    const OrderRules rules_;
    Coherence coherence_;
    std::vector<std::unique_ptr<Thread>> threads_;  // by number; null: there has been none
    std::deque<std::unique_ptr<Piece>> pieces_;     // in the order in which they were taken
    std::vector<std::unique_ptr<Piece>> spare_;
    std::vector<CoreUseMark> ends_;
    std::vector<std::uint32_t> waiters_;  // threads that wait somewhere, in the order in which they came
    std::uint64_t latest_end_ = 0;        // of a thread: words that had been taken then
    std::uint32_t running_ = 0;           // the thread of what is taken
    bool has_threads_ = false;            // more than one
    std::uint64_t taken_ = 0;             // words
    std::size_t words_waiting_ = 0;       // taken, but not simulated
    std::uint64_t now_ = 0;               // of the thread that ran last
};

}  // namespace bd
