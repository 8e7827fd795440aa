// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a trace into a file, batch by batch; trace_file.h has the format. Whatever a record refers to is defined at
// its first use, so that nothing needs to be known in advance.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/trace/trace.h"
#include "engine/trace/trace_file.h"

namespace bd {

class TraceWriter {
public:
    // Writes everything before the first item. `out` must outlive the writer, and knows whether writing succeeded.
    TraceWriter(TextOutput& out, const TraceRun& run);

    // Writes whole records. When it returns, all of them have been passed to `out`.
    void write(Batch batch);

    // Ends the trace. Without this, it counts as truncated.
    void finish();

private:
    // The numbers in the file of one kind of symbols, by their ids in the table.
    class Numbers {
    public:
        // Returns whether the symbol had no number yet, and gives it the next one then.
        bool add(std::uint32_t id);
        std::uint32_t operator[](std::uint32_t id) const { return numbers_[id] - 1; }

    private:
        std::vector<std::uint32_t> numbers_;  // by id, plus 1; 0: none yet
        std::uint32_t used_ = 0;
    };

    struct KnownBlock {
        std::uint32_t first_exit = 0;  // 0: not defined yet
        std::uint32_t first_group = 0;
    };

    void write_record(const Exit& exit, const Word* words);
    void write_marker(const Exit& exit, std::span<const Word> values);

    KnownBlock known(const Block& block);
    std::uint32_t known(const ObjectFile& object);
    std::uint32_t known(const SourceFile& file);
    std::uint32_t known(const Function& function);
    void define_dataflow(const Block& block);
    void define_steps(const Block& block);

    void item(TraceItem item);
    void step(TraceStep step, std::uint64_t value) { number(static_cast<std::uint64_t>(step) + 4 * value); }
    void number(std::uint64_t number);
    void difference(std::uint64_t difference) { number(to_zigzag(difference)); }
    void text(std::string_view text);
    void flush();

    TextOutput& out_;
    TraceExpectation expectation_;
    Numbers objects_;
    Numbers files_;
    Numbers functions_;
    std::vector<KnownBlock> blocks_;  // by id
    std::uint64_t records_ = 0;

    static constexpr std::size_t kMaxNumberBytes = 10;
    char buffer_[4096];
    std::size_t used_ = 0;
};

}  // namespace bd
