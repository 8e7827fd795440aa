// SPDX-License-Identifier: GPL-2.0-or-later

#include "scenario.h"

#include <algorithm>
#include <string>

namespace bd::test {

BuiltScenario::BuiltScenario(const Scenario& scenario) : program_(scenario.caches.i1.line_bits()) {
    // By their numbers, as functions and blocks are.
    unsigned objects = 0;
    for (const Scenario::Function& function : scenario.functions) objects = std::max(objects, function.object + 1);
    for (unsigned i = 0; i < objects; ++i) program_.symbols.object("object" + std::to_string(i));
    std::vector<const Function*> functions;
    for (std::size_t i = 0; i < scenario.functions.size(); ++i) {
        const std::string number = std::to_string(i);
        Function& function = program_.function("f" + number, "file" + std::to_string(i / 2) + ".c",
                                               "object" + std::to_string(scenario.functions[i].object));
        function.skipped = scenario.functions[i].skipped;
        function.left_by_jump = scenario.functions[i].left_by_jump;
        function.recursion_levels = scenario.functions[i].recursion_levels;
        function.caller_count = scenario.functions[i].caller_count;
        function.triggers = scenario.functions[i].triggers;
        function.allocator = scenario.functions[i].allocator;
        function.wraps_allocators = scenario.functions[i].wraps_allocators;
        functions.push_back(&function);
    }
    std::vector<const Block*> blocks;
    for (const Scenario::Block& block : scenario.blocks) {
        Code code(program_.blocks, *functions[block.function], block.address, block.is_entry, block.section,
                  0);
        std::size_t access = 0;
        std::size_t exit = 0;
        for (unsigned i = 0; i < block.instruction_sizes.size(); ++i) {
            code.op(block.instruction_sizes[i], static_cast<std::uint32_t>(block.address / 16 + i / 2));
            // What belongs to this instruction: exits come behind the accesses that they count.
            for (;;) {
                const bool more_exits =
                    exit + 1 < block.exits.size() && block.exits[exit].instructions == i + 1;
                if (more_exits && block.exits[exit].accesses == access) {
                    code.may_exit(block.exits[exit].jump, block.exits[exit].branch);
                    ++exit;
                } else if (access < block.accesses.size() && block.accesses[access].instruction == i) {
                    const Scenario::Access& what = block.accesses[access++];
                    if (what.joins) {
                        code.joins(what.size, what.kind, what.distance);
                    } else {
                        code.access(what.size, what.kind, what.guarded);
                    }
                } else {
                    break;
                }
            }
        }
        blocks.push_back(&code.ends(block.exits.back().jump, block.exits.back().branch));
        EXPECT_EQ(blocks.back()->id, blocks.size() - 1) << "blocks of a scenario must differ";
        EXPECT_EQ(blocks.back()->exits().size(), block.exits.size());
    }
    for (const Scenario::Record& record : scenario.records) {
        if (record.is_marker) {
            trace_.mark(record.marker, record.values[0], record.values[1], record.values[2]);
        } else {
            std::vector<Word> addresses;
            for (std::size_t i = 0; i < record.addresses.size(); ++i) {
                if (!scenario.blocks[record.block].accesses[i].joins) addresses.push_back(record.addresses[i]);
            }
            trace_.run_to(*blocks[record.block], record.exit, record.stack_pointer, addresses);
        }
    }
}

}  // namespace bd::test
