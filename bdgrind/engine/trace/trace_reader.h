// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads a trace from memory; trace_file.h has the format. It makes the blocks that the trace defines and returns the
// records in batches, as they were in the traced run's buffer, for an Engine.
//
// The bytes may be anything. If they are not a valid trace, reading ends with a message; records that were returned
// before are safe to replay. The memory taken is proportional to the bytes read.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "engine/program/symbols.h"
#include "engine/trace/trace.h"
#include "engine/trace/trace_file.h"

namespace bd {

struct TraceError {
    const char* message = nullptr;  // what is wrong; null: no error
    std::uint64_t offset = 0;       // the offset, in bytes, of the item or number that is wrong

    explicit operator bool() const { return message != nullptr; }
};

class TraceReader {
public:
    // Reads everything before the first item: see run() and error(). The bytes must outlive the reader.
    explicit TraceReader(std::string_view trace);

    // The recorded run. Its texts are in the trace.
    const TraceRun& run() const { return run_; }

    const TraceError& error() const { return error_; }

    // Returns the next whole records: at least `words` words, if that many are left. They are valid until the next
    // call. Empty: there are no more, or there is an error. New symbols and blocks, to which the records refer, are
    // added to the two tables, which must be the same in each call.
    Batch read(std::size_t words, SymbolTable& symbols, BlockTable& blocks);

    // How many records and markers have been read.
    std::uint64_t records() const { return records_; }

private:
    struct KnownExit {
        const TracedExit* exit;
        std::uint32_t first_group;  // of its block
    };

    void read_run();
    CacheGeometry read_geometry();
    void read_item(SymbolTable& symbols, BlockTable& blocks);
    void read_record(std::uint64_t code);
    void read_marker();
    void read_end();
    void define_function(SymbolTable& symbols);
    void define_dataflow();
    void define_block(BlockTable& blocks);
    void read_steps(std::uint64_t exits, Address address);
    void read_instruction(std::uint64_t size, Address address);
    void read_access(std::uint64_t kind, bool joins);
    void read_exit(std::uint64_t kind);

    void fail(const char* message);
    std::uint64_t number();
    std::uint64_t long_number();
    // A number that is at most `most`; else an error with `message`.
    std::uint64_t number(std::uint64_t most, const char* message);
    std::uint64_t difference() { return from_zigzag(number()); }
    std::string_view text();
    template <class T>
    const T* one_of(const std::vector<const T*>& known, const char* message);

    std::string_view trace_;
    std::size_t at_ = 0;
    std::size_t number_at_ = 0;  // where the latest number began
    TraceError error_;
    TraceRun run_;

    TraceExpectation expectation_;
    std::vector<const ObjectFile*> objects_;
    std::vector<const SourceFile*> files_;
    std::vector<const Function*> functions_;
    std::vector<KnownExit> exits_{{nullptr, 0}};  // by number, which begins with 1
    std::vector<Word> batch_;
    std::uint64_t records_ = 0;
    bool ended_ = false;

    // The state of the engine by the markers so far.
    bool thread_runs_ = false;
    Word thread_ = 0;

    // The block that is being defined.
    BlockBuilder builder_;
    std::vector<std::uint16_t> dataflow_;  // that of this block, or of the next one
    std::uint64_t code_bytes_ = 0;
    Address next_instruction_ = 0;
    std::uint64_t line_ = 0;
};

}  // namespace bd
