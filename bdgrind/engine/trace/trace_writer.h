// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a trace into a file, batch by batch; the form is that of trace_file.h. What a record refers to is defined
// where it is first used, so that nothing needs to be known beforehand.

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
    // Writes what comes before the first record. `out` must outlive the writer; whether writing worked, it knows.
    TraceWriter(TextOutput& out, const TraceRun& run);

    // Whole records. When it returns, all has been given to `out`.
    void write(Batch batch);

    // Without this at its end, a trace counts as cut short.
    void finish();

private:
    // The numbers in the file of one kind of things, by their id in their table.
    class Numbers {
    public:
        // Whether the thing has no number yet; it gets the next one then.
        bool add(std::uint32_t id);
        std::uint32_t operator[](std::uint32_t id) const { return numbers_[id] - 1; }

    private:
        std::vector<std::uint32_t> numbers_;  // plus 1; 0: none yet
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
