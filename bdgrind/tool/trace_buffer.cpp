// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_buffer.h"

#include "engine/check.h"

namespace bd {

namespace {

// On one thread the size hardly matters; this one stays within a private second-level cache.
constexpr std::size_t kBatchWords = 32768;

constinit Word buffer[kBatchWords + kMaxRecordWords]{};
constinit Engine* engine_of_trace = nullptr;

}  // namespace

constinit Word* trace_cursor = buffer;
constinit Word* trace_limit = buffer + kBatchWords;

void start_trace(Engine& engine) {
    engine_of_trace = &engine;
}

void drain_trace() {
    const Batch batch(buffer, trace_cursor);
    trace_cursor = buffer;
    engine_of_trace->replay(batch);
}

void mark_trace(Marker marker, Word first, Word second, Word third) {
    if (trace_cursor > trace_limit) drain_trace();
    *trace_cursor++ = marker_word(marker);
    *trace_cursor++ = first;
    *trace_cursor++ = second;
    *trace_cursor++ = third;
}

}  // namespace bd
