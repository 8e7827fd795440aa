// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_buffer.h"

#include "engine/sharing/virtual_order.h"
#include "tool/batch_queue.h"
#include "tool/engine_thread.h"
#include "tool/runtime.h"
#include "tool/trace_recorder.h"

namespace bd {

namespace {

// A batch stays within a private second-level cache while D1 is simulated for it, on whichever thread. There are enough
// for one thread to be faster than the other for a while; twice or half as many do as well.
constexpr std::size_t kBatchWords = 16384;
constexpr unsigned kSlots = 24;
static_assert(kSlots < kMostSubmitted);

// A block's record may have two markers behind it.
constexpr std::size_t kSlotBytes = (kBatchWords + kMaxRecordWords + 2 * kMarkerWords) * sizeof(Word);
constinit Word first_slot[kSlotBytes / sizeof(Word)]{};
constinit Word* slots[kSlots]{first_slot};  // null: there is no memory for it yet
constinit unsigned slot = 0;      // the one that is being filled: by code, or by the order of threads, if there is one
constinit VirtualOrder* order_of_threads = nullptr;
constinit Word* unordered = nullptr;  // where code writes then
constinit TraceCursor trace_cursor{};     // but while code runs
constinit ThreadId thread_in_code = VG_INVALID_THREADID;
constinit Word* begin = nullptr;  // what of it has not been passed on begins here
constinit Choice thread_choice = Choice::kNo;
constinit bool on_thread = false;
constinit unsigned holds = 0;  // so many reasons not to be
constinit Engine* engine_of_trace = nullptr;
constinit TraceRecorder* recorder_of_trace = nullptr;

using Serve = void (*)(const Request&);
constinit Serve serve_request = nullptr;

// Goes on there. False if there is no memory for it.
bool fill(unsigned number) {
    if (slots[number] == nullptr) slots[number] = static_cast<Word*>(pages_or_null(kSlotBytes));
    if (slots[number] == nullptr) return false;
    slot = number;
    begin = slots[slot];
    trace_cursor = {begin, begin + kBatchWords};
    return true;
}

void refill_unordered() {
    begin = unordered;
    trace_cursor = {begin, begin + kBatchWords};
}

// There is memory for it: false if not.
bool has_slot(unsigned number) {
    if (slots[number] == nullptr) slots[number] = static_cast<Word*>(pages_or_null(kSlotBytes));
    return slots[number] != nullptr;
}

// Wherever it is.
Word* cursor() {
    if (thread_in_code != VG_INVALID_THREADID) {
        VG_(get_shadow_regs_area)(thread_in_code, reinterpret_cast<UChar*>(&trace_cursor), 1, 0, sizeof trace_cursor);
    }
    return trace_cursor.next;
}

void serve_requests() {
    for (const Request& request : engine_of_trace->requests()) serve_request(request);
    engine_of_trace->clear_requests();
}

// On whichever thread the engine runs.
void replay(Batch batch) {
    while (!batch.empty()) {
        batch = batch.subspan(engine_of_trace->replay(batch));
        if (engine_of_trace->requests().empty()) continue;
        if (EngineThread::is_here()) {
            EngineThread::ask(serve_requests);
        } else {
            serve_requests();
        }
    }
}

void tell_no_thread() {
    VG_(umsg)("The engine runs on the program's own thread, as %s.\n",
              EngineThread::is_possible() ? "the system allows no further one"
                                          : "bdgrind has no other one on this platform");
}

bool wants_thread() {
    return thread_choice == Choice::kYes || (thread_choice == Choice::kAuto && EngineThread::is_useful());
}

// Not before there is something to do for it: many programs, and more children, end before.
void start_thread() {
    if (on_thread || holds != 0 || thread_choice == Choice::kNo) return;
    on_thread = wants_thread() && EngineThread::start(replay, [] { return engine_of_trace->advance(); });
    if (on_thread) return;
    if (thread_choice == Choice::kYes) tell_no_thread();
    thread_choice = Choice::kNo;
}

void pass_on(Batch batch) {
    if (recorder_of_trace != nullptr) recorder_of_trace->write(batch);
    if (on_thread && EngineThread::fails()) renounce_thread();
    if (on_thread) {
        engine_of_trace->announce(batch);
        EngineThread::submit(batch);
        while (engine_of_trace->is_supplied() && engine_of_trace->advance()) continue;
    } else {
        replay(batch);
    }
}

// What has got its place among what other threads did.
void pass_on_ordered() {
    while (order_of_threads->has_output()) {
        if (on_thread) {
            EngineThread::wait(kSlots - 1);
            slot = (slot + 1) % kSlots;
            if (!has_slot(slot)) renounce_thread();
        }
        if (!on_thread) slot = 0;
        pass_on({slots[slot], order_of_threads->put_out(slots[slot], kSlotBytes / sizeof(Word))});
    }
}

// What has been written since the last time, which may be nothing: the buffer may have become full just before it was
// drained. The engine must not be given that, as no chunk begins there.
void pass_on_written() {
    const Batch batch(begin, cursor());
    if (batch.empty()) return;
    begin = trace_cursor.next;
    if (order_of_threads == nullptr) {
        pass_on(batch);
        return;
    }
    order_of_threads->take(batch);
    pass_on_ordered();
}

void make_room() {
    start_thread();
    pass_on_written();
    if (order_of_threads != nullptr) {
        refill_unordered();
        return;
    }
    if (on_thread) {
        EngineThread::wait(kSlots - 1);
        if (fill((slot + 1) % kSlots)) return;
        renounce_thread();
    }
    fill(slot);
}

}  // namespace

void start_trace(Engine& engine, VirtualOrder* order, TraceRecorder* recorder, void (*serve)(const Request&),
                 Choice thread) {
    engine_of_trace = &engine;
    recorder_of_trace = recorder;
    serve_request = serve;
    thread_choice = EngineThread::is_possible() ? thread : Choice::kNo;
    if (thread_choice != thread && thread == Choice::kYes) tell_no_thread();
    fill(0);
    order_of_threads = order;
    if (order == nullptr) return;
    unordered = new Word[kSlotBytes / sizeof(Word)];
    refill_unordered();
}

void enter_code(ThreadId thread) {
    thread_in_code = thread;
    VG_(set_shadow_regs_area)(thread, 1, 0, sizeof trace_cursor, reinterpret_cast<UChar*>(&trace_cursor));
}

void leave_code() {
    cursor();
    thread_in_code = VG_INVALID_THREADID;
}

void pass_on_trace() {
    const ThreadId thread = thread_in_code;
    leave_code();
    make_room();
    enter_code(thread);
}

void drain_trace() {
    pass_on_written();
    if (order_of_threads != nullptr) {
        order_of_threads->settle();
        pass_on_ordered();
    }
    if (on_thread) EngineThread::wait(0);
}

void mark_now(Marker marker, Word first, Word second, Word third) {
    drain_trace();
    const Word record[]{marker_word(marker), first, second, third};
    pass_on(record);
    if (on_thread) EngineThread::wait(0);
    if (order_of_threads != nullptr && marker == Marker::kStop) order_of_threads->empty_caches();
}

void leave_thread() {
    if (on_thread) EngineThread::stop();
    on_thread = false;
}

void hold_thread() {
    ++holds;
    leave_thread();
}

void unhold_thread() {
    --holds;
}

void renounce_thread() {
    leave_thread();
    thread_choice = Choice::kNo;
}

void trace_in_child() {
    if (on_thread) EngineThread::forget();
    on_thread = false;
    if (order_of_threads != nullptr) order_of_threads->start_in_child();
}

VirtualOrder* up_to_date_order() {
    if (order_of_threads != nullptr) pass_on_written();
    return order_of_threads;
}

void mark_trace(Marker marker, Word first, Word second, Word third) {
    leave_code();
    if (trace_cursor.next > trace_cursor.limit) make_room();
    *trace_cursor.next++ = marker_word(marker);
    *trace_cursor.next++ = first;
    *trace_cursor.next++ = second;
    *trace_cursor.next++ = third;
}

}  // namespace bd
