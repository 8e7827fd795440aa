// SPDX-License-Identifier: GPL-2.0-or-later
//
// For libFuzzer: whatever the bytes, a TraceReader reads them or says what is wrong, and what it gives out can be
// replayed; with data objects, too.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"

namespace {

// Traces do not say what functions do to the heap. Here, a name says it by its last character: those of write_samples
// are numbered.
class Roles final : public bd::FunctionRules {
public:
    void apply(bd::Function& function) const override {
        using enum bd::AllocatorKind;
        constexpr bd::AllocatorRole kRoles[]{{},
                                             {.kind = kAllocates, .size = 1},
                                             {.kind = kAllocates, .size = 2, .count = 1},
                                             {.kind = kAllocates, .size = 2, .may_be_within = true},
                                             {.kind = kReallocates, .block = 1, .size = 3},
                                             {.kind = kWraps},
                                             {.kind = kForwards},
                                             {.kind = kFrees, .block = 1}};
        const std::string_view name = function.name;
        if (!name.empty()) function.allocator = kRoles[static_cast<unsigned char>(name.back()) % std::size(kRoles)];
    }
};

void replay(std::string_view trace, bool objects) {
    const Roles roles;
    bd::TraceReader reader(trace);
    // Not the recorded caches: they may be larger than this machine, and take long to empty.
    const bd::EngineConfig config{.caches = {.i1 = {4096, 4, 64}, .d1 = {2048, 2, objects ? 128u : 64u},
                                             .ll = {49152, 12, 64}},
                                  .objects = objects,
                                  .orders = true};
    bd::SymbolTable symbols(&roles);
    bd::BlockTable blocks(config.caches.i1.line_bits());
    bd::Engine engine(config);
    for (bd::Batch batch = reader.read(100, symbols, blocks); !batch.empty();
         batch = reader.read(100, symbols, blocks)) {
        engine.replay_whole(batch);
    }
    engine.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view trace(reinterpret_cast<const char*>(data), size);
    for (const bool objects : {false, true}) replay(trace, objects);
    return 0;
}
