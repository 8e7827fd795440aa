// SPDX-License-Identifier: GPL-2.0-or-later

#include "random_code.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace bd::test {
namespace {

class CodeGenerator {
public:
    explicit CodeGenerator(Choice& choice) : choice_(choice) {}

    Scenario generate() {
        choose_caches();
        choose_code();
        return std::move(scenario_);
    }

private:
    std::uint64_t below(std::uint64_t limit) { return choice_.below(limit); }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return choice_.between(first, last); }
    bool chance(unsigned percent) { return choice_.chance(percent); }

    CacheGeometry cache(std::uint64_t sets, std::uint64_t ways, std::uint64_t line_bytes) {
        const CacheGeometry geometry{sets * ways * line_bytes, static_cast<std::uint32_t>(ways),
                                     static_cast<std::uint32_t>(line_bytes)};
        EXPECT_EQ(geometry_error(geometry), nullptr);
        return geometry;
    }

    void choose_caches() {
        const bool common = chance(30);
        // One after the other: the order in which arguments are evaluated is the compiler's choice.
        const auto any_cache = [&](std::uint64_t sets) {
            const std::uint64_t ways = chance(5) ? between(5, 20) : between(1, 4);
            return cache(sets, ways, common ? 64 : std::uint64_t{16} << below(5));
        };
        const auto l1_cache = [&] { return any_cache(common ? std::uint64_t{1} << below(3) : between(1, 7)); };
        scenario_.caches.i1 = l1_cache();
        scenario_.caches.d1 = l1_cache();
        // So large that DataCache keeps only what it needs of the past.
        if (chance(3)) scenario_.caches.d1 = cache(2049, 2, scenario_.caches.d1.line_bytes);
        scenario_.caches.ll = any_cache(between(1, 12));
        scenario_.callgrind_prefetcher = chance(40);
    }

    void choose_code() {
        const std::uint64_t functions = between(2, 8);
        const bool skips = chance(40);
        const bool resolves = chance(30);
        const unsigned levels = chance(50) ? 3 : 1;
        const unsigned callers = chance(40) ? 3 : 0;
        scenario_.skip_direct_recursion = chance(30);
        const unsigned triggers = chance(40) ? 15 : 0;
        for (unsigned i = 0; i < functions; ++i) {
            scenario_.functions.push_back({.object = static_cast<unsigned>(below(3)),
                                           .skipped = skips && chance(30),
                                           .left_by_jump = resolves && chance(30),
                                           .recursion_levels = static_cast<unsigned>(between(1, levels)),
                                           .caller_count = static_cast<unsigned>(between(0, callers)),
                                           .triggers = {.dump_before = chance(triggers),
                                                        .zero_before = chance(triggers / 5),
                                                        .dump_after = chance(triggers),
                                                        .toggle_collect = chance(triggers)}});
        }
        Address address = 0x10000 + below(256);
        for (unsigned i = 0; i < functions; ++i) {
            address += chance(50) ? below(64) : below(8192);
            const auto section = static_cast<unsigned>(chance(20) ? below(3) : 0);
            const std::uint64_t blocks = between(1, 6);
            for (std::uint64_t b = 0; b < blocks; ++b) {
                scenario_.blocks.push_back(choose_block(address, i, section, b == 0 && chance(90)));
                const Scenario::Block& block = scenario_.blocks.back();
                // Code goes on behind it: that is where a call from its end returns to.
                address = block.instruction_address(static_cast<unsigned>(block.instruction_sizes.size()));
            }
        }
    }

    Scenario::Block choose_block(Address address, unsigned function, unsigned section, bool is_entry) {
        Scenario::Block block{.address = address,
                              .function = function,
                              .section = section,
                              .is_entry = is_entry,
                              .instruction_sizes = {},
                              .accesses = {},
                              .exits = {}};
        const auto instructions = static_cast<unsigned>(between(1, chance(10) ? 20 : 5));
        for (unsigned i = 0; i < instructions; ++i) {
            block.instruction_sizes.push_back(
                static_cast<std::uint32_t>(chance(3) ? between(16, 40) : between(1, 15)));
            const auto may_exit = [&] {
                while (chance(12)) {
                    const Branch branch =
                        choice_.one_of(std::vector{Branch::kNone, Branch::kTaken, Branch::kTaken, Branch::kNotTaken});
                    block.exits.push_back(
                        {i + 1, static_cast<unsigned>(block.accesses.size()), choose_jump(), branch});
                }
            };
            may_exit();
            while (chance(40)) {
                const std::uint64_t size = chance(3)    ? between(65, 5000)
                                           : chance(20) ? between(1, 64)
                                                        : std::uint64_t{1} << below(4);
                block.accesses.push_back({i, static_cast<std::uint32_t>(size),
                                          choice_.one_of(std::vector{AccessKind::kRead, AccessKind::kRead,
                                                             AccessKind::kWrite, AccessKind::kModify}),
                                          chance(20)});
                if (chance(50)) try_to_join(block);
                if (chance(5)) block.accesses.push_back({i, 1, AccessKind::kBus, true});
                may_exit();
            }
        }
        block.exits.push_back({instructions, static_cast<unsigned>(block.accesses.size()), choose_jump(),
                               chance(30) ? Branch::kIndirect : Branch::kNone});
        return block;
    }

    // The last access to those before it, if they are all of one segment of the block and close enough.
    void try_to_join(Scenario::Block& block) {
        auto& accesses = block.accesses;
        Scenario::Access& last = accesses.back();
        const std::size_t segment = block.exits.empty() ? 0 : block.exits.back().accesses;
        std::size_t first = accesses.size() - 1;
        if (first == segment) return;
        while (accesses[--first].joins) {}
        const std::int64_t distance = static_cast<std::int64_t>(below(49)) - 24;
        std::int64_t lowest = distance;
        std::int64_t end = distance + last.size;
        for (std::size_t i = first; i + 1 < accesses.size(); ++i) {
            lowest = std::min(lowest, accesses[i].distance);
            end = std::max(end, accesses[i].distance + accesses[i].size);
        }
        if (last.guarded || accesses[first].guarded || end - lowest > AccessGroup::kMostBytes) return;
        last.joins = true;
        last.distance = distance;
    }

    JumpKind choose_jump() {
        return choice_.one_of(std::vector{JumpKind::kJump, JumpKind::kJump, JumpKind::kCall, JumpKind::kReturn});
    }

    Choice& choice_;
    Scenario scenario_;
};

}  // namespace

Scenario random_code(Choice& choice) {
    return CodeGenerator(choice).generate();
}

}  // namespace bd::test
