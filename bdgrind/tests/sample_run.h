// SPDX-License-Identifier: GPL-2.0-or-later
//
// Made-up programs and traces of running them, for tests, fuzzers and benchmarks: calls, returns, recursion, jumps out
// of several calls, threads, signal handlers, and accesses to the stack, to arrays and at random. The same seed gives
// the same run, on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "engine/program/dataflow.h"
#include "engine/program/symbols.h"
#include "engine/trace/trace.h"
#include "engine/trace/trace_file.h"

namespace bd::test {

class StringOutput final : public TextOutput {
public:
    const std::string& text() {
        finish();
        return text_;
    }

private:
    bool write(std::string_view text) override {
        text_ += text;
        return true;
    }
    std::string text_;
};

// Random numbers that do not depend on the library, as its distributions do.
class Random {
public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }
    // 0 to `count` - 1.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
    bool one_in(std::size_t times) { return below(times) == 0; }

private:
    std::mt19937_64 engine_;
};

class SampleRun {
public:
    // At least `records` of them, in a program of `functions`. `heap`: they allocate and free, which of them does what
    // is for the reader to say, and some sizes and addresses are odd.
    SampleRun(std::uint32_t seed, std::size_t records, std::size_t functions = 12, unsigned line_bits = 6,
              bool heap = false);

    const SymbolTable& symbols() const { return symbols_; }
    const BlockTable& blocks() const { return blocks_; }

    std::size_t records() const { return starts_.size(); }
    Batch trace() const { return words_; }
    // Some whole records.
    Batch trace(std::size_t first_record, std::size_t end_record) const;

    // The run as a recorded trace, written in batches of so many records.
    std::string file(std::size_t records_per_batch = 1000) const;

    static TraceRun description();

private:
    struct Code {
        Block* entry;
        std::vector<Block*> blocks;  // the others
    };
    struct Frame {
        const Code* code;
        Address stack_pointer;
    };
    struct Thread {
        std::vector<Frame> frames;
        std::vector<std::size_t> handlers;  // how many frames there were before each
    };

    void write_program(std::size_t functions);
    Value any_value(std::size_t accesses);
    void add_access_flow(DataflowBuilder* flow, std::size_t accesses);
    void add_exit_flow(DataflowBuilder* flow, std::size_t accesses);
    Block& write_block(const Function& function, Address address, bool is_entry);

    void run(std::size_t records);
    void switch_thread(std::size_t thread);
    void enter_handler();
    void leave_handler();
    void step();
    void execute(Block& block, const TracedExit& exit, Address stack_pointer);
    Address address_of(const Access& access, Address stack_pointer);
    void use_heap(const Block& block, const TracedExit& exit, Address stack_pointer);
    Word odd(Word usual);
    void mark(Marker marker, Word a, Word b = 0, Word c = 0);
    const Code& any_code() { return code_[random_.below(code_.size())]; }

    Random random_;
    Random flow_random_;  // for what addresses are computed from
    bool heap_;
    SymbolTable symbols_;
    BlockTable blocks_;
    std::vector<Code> code_;

    std::vector<Thread> threads_;
    std::size_t thread_ = 0;
    Block* next_ = nullptr;  // in the current frame, if it is known what comes next
    Address array_ = 0x10000000;   // next element of an array that is walked through

    std::vector<Word> words_;
    std::vector<std::size_t> starts_;
};

}  // namespace bd::test
