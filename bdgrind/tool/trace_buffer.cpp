// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_buffer.h"

#include "tool/batch_queue.h"
#include "tool/engine_threads.h"
#include "tool/runtime.h"
#include "tool/trace_recorder.h"

namespace bd {

namespace {

using Serve = void (*)(const Request&);

constinit Engine* engine_of_trace = nullptr;
constinit TraceRecorder* recorder_of_trace = nullptr;
constinit Serve serve_request = nullptr;
constinit EngineThreadCount thread_count{};

void serve_requests() {
    for (const Request& request : engine_of_trace->requests()) serve_request(request);
    engine_of_trace->clear_requests();
}

// On whichever thread the engine runs.
void replay(Batch batch) {
    while (!batch.empty()) {
        batch = batch.subspan(engine_of_trace->replay(batch));
        if (engine_of_trace->requests().empty()) continue;
        if (EngineThreads::is_here()) {
            EngineThreads::ask([](void*) { serve_requests(); }, nullptr);
        } else {
            serve_requests();
        }
    }
}

void tell_no_thread() {
    VG_(umsg)("The engine runs on the program's own thread, as %s.\n",
              EngineThreads::is_possible() ? "the system allows no further thread"
                                           : "bdgrind has no thread of its own on this platform");
}

// What Valgrind has for the feed.
struct ValgrindHost {
    // A batch stays within a private second-level cache while D1 is simulated for it, on whichever thread. There are
    // enough for one thread to be faster than the other for a while; twice or half as many do as well.
    static constexpr std::size_t kBatchWords = 16384;
    static constexpr unsigned kSlots = 24;
    static_assert(kSlots < kMostSubmitted);
    // A block's record may have two markers behind it.
    static constexpr std::size_t kSlotWords = kBatchWords + kMaxRecordWords + 2 * kMarkerWords;

    static Word* memory() { return static_cast<Word*>(pages_or_null(kSlotWords * sizeof(Word))); }
    static void lend(ThreadId thread, TraceCursor cursor) {
        VG_(set_shadow_regs_area)(thread, 1, 0, sizeof cursor, reinterpret_cast<UChar*>(&cursor));
    }
    static TraceCursor lent(ThreadId thread) {
        TraceCursor cursor;
        VG_(get_shadow_regs_area)(thread, reinterpret_cast<UChar*>(&cursor), 1, 0, sizeof cursor);
        return cursor;
    }
    static void record(Batch batch) {
        if (recorder_of_trace != nullptr) recorder_of_trace->write(batch);
    }
    static void replay(Batch batch) { bd::replay(batch); }
    static bool start_threads() {
        const std::size_t count = thread_count.is_auto ? EngineThreads::useful_count() : thread_count.count;
        if (count == 0) return false;
        if (EngineThreads::start(count, bd::replay, [] { return engine_of_trace->advance(); }) != 0) return true;
        if (!thread_count.is_auto) tell_no_thread();
        return false;
    }
    static void submit(Batch batch) {
        engine_of_trace->announce(batch);
        EngineThreads::submit(batch);
        if (EngineThreads::has_helper()) return;
        while (engine_of_trace->is_supplied() && engine_of_trace->advance()) continue;
    }
    static void wait(unsigned count) { EngineThreads::wait(count); }
    static bool threads_fail() { return EngineThreads::fails(); }
    static void stop_threads() { EngineThreads::stop(); }
    static void forget_threads() { EngineThreads::forget(); }
};

constinit Word first_slot[ValgrindHost::kSlotWords]{};
constinit TraceFeed<ValgrindHost> feed;

}  // namespace

void start_trace(Engine& engine, VirtualOrder* order, TraceRecorder* recorder, void (*serve)(const Request&),
                 EngineThreadCount threads) {
    engine_of_trace = &engine;
    recorder_of_trace = recorder;
    serve_request = serve;
    thread_count = threads;
    const bool is_possible = EngineThreads::is_possible();
    const bool are_wanted = threads.is_auto || threads.count != 0;
    if (!is_possible && are_wanted && !threads.is_auto) tell_no_thread();
    feed.start(first_slot, order, is_possible && are_wanted);
}

void enter_code(ThreadId thread) {
    feed.enter_code(thread);
}

void leave_code() {
    feed.leave_code();
}

void pass_on_trace() {
    feed.pass_on();
}

void drain_trace() {
    feed.drain();
}

void mark_now(Marker marker, Word first, Word second, Word third) {
    const Word record[]{marker_word(marker), first, second, third};
    feed.pass_on_now(record);
    if (feed.order() != nullptr && marker == Marker::kStop) feed.order()->empty_caches();
}

void leave_threads() {
    feed.leave_threads();
}

void hold_threads() {
    feed.hold_threads();
}

void unhold_threads() {
    feed.unhold_threads();
}

void trace_in_child() {
    feed.go_on_in_child();
}

VirtualOrder* up_to_date_order() {
    return feed.up_to_date_order();
}

void trace_step(const TracedExit& exit, Address stack_pointer) {
    const Word record[]{first_word(exit), stack_pointer};
    feed.append(record);
}

void mark_trace(Marker marker, Word first, Word second, Word third) {
    const Word record[]{marker_word(marker), first, second, third};
    feed.append(record);
}

}  // namespace bd
