// SPDX-License-Identifier: GPL-2.0-or-later
//
// Code that is run block by block before a SampledFlow.

#pragma once

#include <cstddef>

#include <gtest/gtest.h>

#include "engine/order/sampled_flow.h"
#include "program.h"

namespace bd::test {

class SampledFlowFixture : public ::testing::Test {
public:
    static constexpr Address kTop = 0x100000;  // the stack pointer of the outermost function

protected:
    SampledFlowFixture() { flow.start_piece(); }

    // Runs a block to its end, or to an exit; returns how many loops were open in it.
    std::size_t run(const Block& block, Address stack_pointer = kTop) {
        return run_to(block, block.exits().size() - 1, stack_pointer);
    }
    std::size_t run_to(const Block& block, std::size_t exit, Address stack_pointer = kTop) {
        flow.enter(block, stack_pointer);
        flow.leave(block.exits()[exit]);
        return flow.loops().size();
    }

    Program program;
    Function& f = program.function("f");
    Function& g = program.function("g");
    SampledFlow flow;
};

}  // namespace bd::test
