// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_buffer.h"

#include "tool/engine_thread.h"
#include "tool/runtime.h"
#include "tool/trace_recorder.h"

namespace bd {

namespace {

// A batch stays within a private second-level cache while D1 is simulated for it, on whichever thread. There are enough
// for one thread to be faster than the other for a while; twice or half as many do as well.
constexpr std::size_t kBatchWords = 16384;
constexpr unsigned kSlots = 24;
static_assert(kSlots < EngineThread::kMostBatches);

// What the engine may need while it replays all that is under way; see Heap::reserve.
constexpr std::size_t kReserveBytes = std::size_t{1} << 30;

constinit Word slots[kSlots][kBatchWords + kMaxRecordWords]{};
constinit unsigned slot = 0;      // the one that is being filled
constinit TracePlace place{};     // but while code runs
constinit ThreadId running = VG_INVALID_THREADID;  // whose code runs
constinit Word* begin = nullptr;  // what of it has not been passed on begins here
constinit bool on_thread = false;
constinit Engine* engine_of_trace = nullptr;
constinit TraceRecorder* recorder_of_trace = nullptr;

using Serve = void (*)(const Request&);
constinit Serve serve_request = nullptr;

void fill(unsigned number) {
    slot = number;
    begin = slots[slot];
    place = {begin, begin + kBatchWords};
}

// Wherever it is.
Word* cursor() {
    if (running != VG_INVALID_THREADID) {
        VG_(get_shadow_regs_area)(running, reinterpret_cast<UChar*>(&place), 1, 0, sizeof place);
    }
    return place.cursor;
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
            EngineThread::ask();
        } else {
            serve_requests();
        }
    }
}

bool start_thread() {
    on_thread = EngineThread::is_possible() && heap.reserve(kReserveBytes) &&
                EngineThread::start(replay, serve_requests, [] { return engine_of_trace->advance(); });
    return on_thread;
}

void pass_on(Batch batch) {
    if (recorder_of_trace != nullptr) recorder_of_trace->write(batch);
    if (on_thread && !heap.reserve(kReserveBytes)) leave_thread();
    if (on_thread) {
        engine_of_trace->announce(batch);
        EngineThread::submit(batch);
        while (engine_of_trace->is_supplied() && engine_of_trace->advance()) continue;
    } else {
        replay(batch);
    }
}

// What has been written since the last time.
void pass_on_written() {
    const Batch batch(begin, cursor());
    begin = place.cursor;
    pass_on(batch);
}

void make_room() {
    pass_on_written();
    if (on_thread) {
        EngineThread::wait(kSlots - 1);
        fill((slot + 1) % kSlots);
    } else {
        fill(slot);
    }
}

}  // namespace

bool start_trace(Engine& engine, TraceRecorder* recorder, void (*serve)(const Request&), bool want_thread) {
    engine_of_trace = &engine;
    recorder_of_trace = recorder;
    serve_request = serve;
    const bool started = want_thread && start_thread();
    fill(0);
    return started == want_thread;
}

void enter_code(ThreadId thread) {
    running = thread;
    VG_(set_shadow_regs_area)(thread, 1, 0, sizeof place, reinterpret_cast<UChar*>(&place));
}

void leave_code() {
    cursor();
    running = VG_INVALID_THREADID;
}

void pass_on_trace() {
    const ThreadId thread = running;
    leave_code();
    make_room();
    enter_code(thread);
}

void drain_trace() {
    if (cursor() != begin) pass_on_written();
    if (on_thread) EngineThread::wait(0);
}

void mark_now(Marker marker, Word first, Word second, Word third) {
    drain_trace();
    const Word record[]{marker_word(marker), first, second, third};
    pass_on(record);
    if (on_thread) EngineThread::wait(0);
}

void leave_thread() {
    if (on_thread) EngineThread::stop();
    on_thread = false;
}

void trace_in_child() {
    if (!on_thread) return;
    EngineThread::forget();
    start_thread();
    fill(0);
}

void mark_trace(Marker marker, Word first, Word second, Word third) {
    leave_code();
    if (place.cursor > place.limit) make_room();
    *place.cursor++ = marker_word(marker);
    *place.cursor++ = first;
    *place.cursor++ = second;
    *place.cursor++ = third;
}

}  // namespace bd
