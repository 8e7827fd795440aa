// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of data objects: a made-up program that allocates, and what its objects cost.

#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/objects/objects.h"
#include "engine/replay/engine.h"
#include "program.h"

namespace bd::test {

using enum JumpKind;

// main allocates at two places and reads one byte at a time. Caches: D1 and LL of one line each, so that every read of
// another line loads it into both.
class ObjectsTest : public testing::Test {
public:
    static constexpr Address kStack = 0x7000'0000;

protected:
    using Loads = std::map<std::string, std::uint64_t>;

    ObjectsTest() {
        malloc_.allocator = {.kind = AllocatorKind::kAllocates, .size = 1};
        free_.allocator = {.kind = AllocatorKind::kFrees, .block = 1};
        pool_.allocator = {.kind = AllocatorKind::kAllocates, .size = 1, .may_be_within = true};
        trace_.thread(1).run(start_, kStack);
    }

    void allocate(Block& call, Address result, std::uint64_t size) {
        trace_.run(call, kStack).run(malloc_body_, kStack - 8);
        trace_.mark(Marker::kAllocatorEntered, size, 7, 7).mark(Marker::kAllocatorLeft, result, kStack - 8);
        trace_.run(start_, kStack);
    }
    void free(Address block) {
        trace_.run(call_free_, kStack).run(free_body_, kStack - 8).mark(Marker::kFreed, block, 7, 7);
        trace_.run(start_, kStack);
    }
    void read(Address address) { trace_.run(read_, kStack, {address}); }

    Engine& finished() {
        engine_.replay_whole(trace_.all());
        engine_.finish();
        return engine_;
    }
    // Lines loaded into D1 for data, by group.
    Loads loads() { return loads_of(finished()); }
    static Loads loads_of(const Engine& engine) {
        Loads loads;
        for (const ObjectCell& cell : engine.objects()->costs().cells()) {
            const std::uint64_t lines = engine.costs()[cell.costs][column(Event::kEvLineD1)];
            if (lines != 0) loads[name(engine.objects()->groups()[cell.group])] += lines;
        }
        return loads;
    }
    // How often, by group, offset, bytes, and which of these were used.
    static Loads patterns_of(const Engine& engine) {
        Loads patterns;
        for (const auto& [pattern, count] : engine.objects()->patterns().all()) {
            patterns[name(engine.objects()->groups()[pattern.group()]) + " " + std::to_string(pattern.offset()) + "+" +
                     std::to_string(pattern.bytes()) + " " + std::to_string(pattern.used())] += count;
        }
        return patterns;
    }
    static std::string name(const ObjectGroup& group) {
        if (group.name != nullptr) return group.name;
        if (group.kind == ObjectKind::kUnknown) return "unknown";
        if (group.kind == ObjectKind::kUnused) return "unused";
        if (group.kind == ObjectKind::kStack) return std::string("stack of ") + group.function->name;
        std::string text = group.kind == ObjectKind::kHeap ? "heap" : "mapping";
        for (const ObjectPlace& place : group.places) {
            text += " " + std::to_string(place.from->block->instructions()[place.instruction].line);
        }
        return text;
    }

    Program program_;
    Function& main_ = program_.function("main");
    Function& malloc_ = program_.function("malloc");
    Function& free_ = program_.function("free");
    Function& pool_ = program_.function("pool");
    Block& start_ = program_.code(main_, 0x1000).op(4, 1).ends();
    Block& call_first_ = program_.code(main_, 0x1010).op(4, 10).ends(kCall);
    Block& call_second_ = program_.code(main_, 0x1020).op(4, 20).ends(kCall);
    Block& call_free_ = program_.code(main_, 0x1030).op(4, 30).ends(kCall);
    Block& read_ = program_.code(main_, 0x1040).op(4, 40).reads(1).ends();
    Block& malloc_body_ = program_.entry(malloc_, 0x2000).op(4, 100).ends(kReturn);
    Block& free_body_ = program_.entry(free_, 0x3000).op(4, 110).ends(kReturn);
    Block& pool_body_ = program_.entry(pool_, 0x4000).op(4, 120).ends(kReturn);
    Trace trace_;
    Engine engine_{{.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}, .objects = true}};
};

}  // namespace bd::test
