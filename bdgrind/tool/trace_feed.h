// SPDX-License-Identifier: GPL-2.0-or-later
//
// How the trace gets from code to the engine: the states of the trace buffer. It knows nothing of Valgrind, but asks a
// host for what that has.
//
//     who has the cursor      feed  --enter_code-->  code of a thread  --leave_code-->  feed
//     where the engine runs   here, for now  --make_room-->  on threads of its own  --leave_threads-->  here, for now
//                             either  --renounce_threads-->  here, for good
//
// Whatever else is asked for is a mistake of ours, and fails a check.

#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/check.h"
#include "engine/sharing/virtual_order.h"
#include "engine/trace/trace.h"

namespace bd {

// Code writes at `next` and moves it; when it has passed `limit`, it asks for room before the next record.
struct TraceCursor {
    Word* next;
    Word* limit;
};

// A host has, beside the constants that are used here (both in words, kSlots in slots):
//
//   Word* memory()                       for a slot, which stays; null: there is none
//   void lend(thread, cursor)            code of the thread has the cursor now
//   TraceCursor lent(thread)             where it is by now
//   void record(batch)                   for the recorder of the trace
//   void replay(batch)                   on this thread
//   bool start_threads()                 the engine's own; false: there are to be none, ever
//   void submit(batch)                   to these threads
//   void wait(count)                     until at most so many batches that were submitted are not done
//   bool threads_fail()                  they cannot be waited for, and should not go on
//   void stop_threads()                  once all is done
//   void forget_threads()                they are the parent's
template <class Host>
class TraceFeed {
public:
    using ThreadNumber = std::uint32_t;  // Valgrind's, from 1 on

    constexpr TraceFeed() = default;
    constexpr explicit TraceFeed(Host host) : host_(host) {}
    TraceFeed(const TraceFeed&) = delete;
    TraceFeed& operator=(const TraceFeed&) = delete;

    Host& host() { return host_; }

    // To be called once, before all else. `first_slot` is memory for a slot. `order`, if not null, gets the trace
    // first; its buffers must be as large as slots.
    void start(Word* first_slot, VirtualOrder* order, bool may_have_threads) {
        BD_CHECK(cursor_.next == nullptr);
        slots_[0] = first_slot;
        order_ = order;
        place_ = may_have_threads ? Place::kHereForNow : Place::kHereForGood;
        write_to(order == nullptr ? first_slot : order->buffer(Host::kSlotWords));
    }

    void enter_code(ThreadNumber thread) {
        BD_CHECK(!is_code_running());
        BD_CHECK(thread != kNoThread);
        in_code_ = thread;
        host_.lend(thread, cursor_);
    }
    // Nothing if no code runs.
    void leave_code() {
        cursor();
        in_code_ = kNoThread;
    }

    // What code asks for when its cursor has passed the limit: it goes on with an empty buffer.
    void pass_on() {
        BD_CHECK(is_code_running());
        const ThreadNumber thread = in_code_;
        leave_code();
        make_room();
        enter_code(thread);
    }

    // All that has been written so far has been replayed then. The cursor stays where it is.
    void drain() {
        pass_on_written();
        if (order_ != nullptr) {
            order_->settle();
            pass_on_ordered();
        }
        if (is_apart()) host_.wait(0);
    }

    // A record behind all that has been drained.
    void pass_on_now(Batch record) {
        drain();
        hand_over(record);
        if (is_apart()) host_.wait(0);
    }

    // Appends a record of a few words, kMarkerWords at most. If code runs, it must not go on.
    void append(Batch record) {
        leave_code();
        if (cursor_.next > cursor_.limit) make_room();
        if (order_ != nullptr && VirtualOrder::ends_piece(record.front())) is_of_one_piece_ = false;
        for (const Word word : record) *cursor_.next++ = word;
    }

    // The order of threads with all that has been written; null: there is none. Not while code runs.
    VirtualOrder* up_to_date_order() {
        BD_CHECK(!is_code_running());
        if (order_ != nullptr) pass_on_written();
        return order_;
    }
    VirtualOrder* order() { return order_; }

    // They are started again with a later batch, but not while there are holds.
    void leave_threads() {
        if (!is_apart()) return;
        host_.stop_threads();
        place_ = Place::kHereForNow;
    }
    void hold_threads() {
        ++holds_;
        leave_threads();
    }
    void unhold_threads() {
        BD_CHECK(holds_ != 0);
        --holds_;
    }
    void renounce_threads() {
        leave_threads();
        place_ = Place::kHereForGood;
    }

    // In a forked child, whose parent had drained the trace.
    void go_on_in_child() {
        if (is_apart()) {
            host_.forget_threads();
            place_ = Place::kHereForNow;
        }
        if (order_ != nullptr) order_->start_in_child();
    }

    bool is_code_running() const { return in_code_ != kNoThread; }
    bool is_apart() const { return place_ == Place::kApart; }

private:
    static constexpr ThreadNumber kNoThread = 0;

    // Where the engine runs.
    enum class Place : std::uint8_t {
        kHereForGood,
        kHereForNow,  // threads are not started before there is something to do: many programs end before
        kApart,
    };

    void write_to(Word* memory) {
        begin_ = memory;
        cursor_ = {memory, memory + Host::kBatchWords};
    }

    // False: there is no memory for it.
    bool has_slot(unsigned number) {
        if (slots_[number] == nullptr) slots_[number] = host_.memory();
        return slots_[number] != nullptr;
    }

    // Wherever it is.
    Word* cursor() {
        if (is_code_running()) cursor_ = host_.lent(in_code_);
        BD_CHECK(cursor_.next >= begin_ && cursor_.next <= begin_ + Host::kSlotWords);
        return cursor_.next;
    }

    void try_to_part() {
        if (place_ != Place::kHereForNow || holds_ != 0) return;
        place_ = host_.start_threads() ? Place::kApart : Place::kHereForGood;
    }

    void hand_over(Batch batch) {
        host_.record(batch);
        if (is_apart() && host_.threads_fail()) renounce_threads();
        if (is_apart()) {
            host_.submit(batch);
        } else {
            host_.replay(batch);
        }
    }

    // What has got its place among what other threads did.
    void pass_on_ordered() {
        while (order_->has_output()) {
            if (is_apart() && !has_next_slot()) renounce_threads();
            slot_ = is_apart() ? (slot_ + 1) % Host::kSlots : 0;
            hand_over(order_->put_out(slots_[slot_], Host::kSlotWords, !is_apart()));
        }
    }

    // The slot behind the one that has been submitted can be filled. False: there is no memory for it.
    bool has_next_slot() {
        host_.wait(Host::kSlots - 1);
        return has_slot((slot_ + 1) % Host::kSlots);
    }

    // What has been written since the last time, which may be nothing: the buffer may have become full just before it
    // was drained. The engine must not be given that, as no chunk begins there.
    void pass_on_written() {
        const Batch batch(begin_, cursor());
        if (batch.empty()) return;
        begin_ = cursor_.next;
        if (order_ == nullptr) {
            hand_over(batch);
            return;
        }
        order_->take(batch, is_of_one_piece_);
        is_of_one_piece_ = true;
        pass_on_ordered();
    }

    void make_room() {
        try_to_part();
        if (order_ != nullptr) {
            if (is_of_one_piece_ && begin_ == order_->buffer(Host::kSlotWords) && cursor() != begin_) {
                order_->take_buffer(static_cast<std::size_t>(cursor() - begin_));
                pass_on_ordered();
            } else {
                pass_on_written();
            }
            write_to(order_->buffer(Host::kSlotWords));
            return;
        }
        pass_on_written();
        if (is_apart()) {
            if (has_next_slot()) {
                slot_ = (slot_ + 1) % Host::kSlots;
            } else {
                renounce_threads();
            }
        }
        write_to(slots_[slot_]);
    }

    [[no_unique_address]] Host host_{};
    Word* slots_[Host::kSlots]{};  // null: there is no memory for it yet
    unsigned slot_ = 0;  // the one that is being filled: by code, or by the order of threads, if there is one
    VirtualOrder* order_ = nullptr;
    Word* begin_ = nullptr;      // what has not been passed on begins here
    TraceCursor cursor_{};       // but while code runs
    bool is_of_one_piece_ = true;  // whether what has not been passed on is, see VirtualOrder
    ThreadNumber in_code_ = kNoThread;
    Place place_ = Place::kHereForGood;
    unsigned holds_ = 0;  // so many reasons not to be apart
};

}  // namespace bd
