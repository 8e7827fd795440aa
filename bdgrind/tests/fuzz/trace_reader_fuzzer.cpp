// SPDX-License-Identifier: GPL-2.0-or-later
//
// For libFuzzer: whatever the bytes, a TraceReader reads them or says what is wrong, and what it gives out can be
// replayed.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    bd::TraceReader reader({reinterpret_cast<const char*>(data), size});
    // Not the recorded caches: they may be larger than this machine, and take long to empty.
    const bd::EngineConfig config{.caches = {.i1 = {4096, 4, 64}, .d1 = {2048, 2, 64}, .ll = {49152, 12, 64}},
                                  .orders = true};
    bd::SymbolTable symbols;
    bd::BlockTable blocks(config.caches.i1.line_bits());
    bd::Engine engine(config);
    for (bd::Batch batch = reader.read(100, symbols, blocks); !batch.empty();
         batch = reader.read(100, symbols, blocks)) {
        engine.replay_whole(batch);
    }
    engine.finish();
    return 0;
}
