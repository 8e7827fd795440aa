// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/trace/trace_writer.h"

#include "engine/base/check.h"

namespace bd {

bool TraceWriter::Numbers::add(std::uint32_t id) {
    if (numbers_.size() <= id) numbers_.resize(id + 1);
    if (numbers_[id] != 0) return false;
    numbers_[id] = ++used_;
    return true;
}

TraceWriter::TraceWriter(TextOutput& out, const TraceRun& run) : out_(out) {
    out_ << kTraceMagic;
    number(run.caches.has_l2() ? kTraceVersionWithL2 : kTraceVersion);
    number(run.pid);
    text(run.command);
    text(run.geometry_source);
    for (const CacheGeometry& cache : {run.caches.i1, run.caches.d1, run.caches.ll, run.caches.l2}) {
        if (cache.size_bytes == 0) continue;  // there is no L2
        number(cache.size_bytes);
        number(cache.ways);
        number(cache.line_bytes);
    }
    flush();
}

void TraceWriter::write(Batch batch) {
    const Word* at = batch.data();
    const Word* const end = at + batch.size();
    while (at < end) {
        const Exit& exit = exit_of(at[0]);
        if (exit.block == nullptr) {
            write_marker(exit, {at + 1, record_words(at[0]) - 1});
        } else {
            write_record(exit, at + 1);
        }
        ++records_;
        at += record_words(at[0]);
    }
    flush();
}

void TraceWriter::finish() {
    item(TraceItem::kEnd);
    number(records_);
    flush();
}

void TraceWriter::write_record(const Exit& exit, const Word* words) {
    const KnownBlock block = known(*exit.block);
    const std::uint32_t exit_number = block.first_exit + exit.index;
    const std::uint32_t exit_code = exit_number == expectation_.exit() ? 0 : exit_number;
    const Address stack_pointer = words[0];
    const Address delta = stack_pointer - expectation_.stack_pointer();
    if (delta == 0) {
        number(2 * std::uint64_t{exit_code} + 1);
    } else {
        number(2 * std::uint64_t{exit_code} + 2);
        difference(delta);
    }
    expectation_.on_record(exit_number, stack_pointer);

    BD_CHECK(exit.block->traces_all);
    Address* const last = expectation_.addresses(block.first_group);
    for (std::size_t i = 0; i < exit.groups; ++i) {
        difference(words[1 + i] - last[i]);
        last[i] = words[1 + i];
    }
}

void TraceWriter::write_marker(const Exit& exit, std::span<const Word> values) {
    item(TraceItem::kMarker);
    number(exit.index);
    // The objects that were mapped are only known in this process.
    const bool is_mapped = exit.index == static_cast<std::uint16_t>(Marker::kMapped);
    number(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) number(is_mapped && i == 2 ? 0 : values[i]);
}

TraceWriter::KnownBlock TraceWriter::known(const Block& block) {
    if (blocks_.size() <= block.id) blocks_.resize(block.id + 1);
    KnownBlock& known_block = blocks_[block.id];
    if (__builtin_expect(known_block.first_exit == 0, 0)) {
        const std::uint32_t function = known(*block.function);
        for (const Instruction& instruction : block.instructions()) known(*instruction.file);
        if (!block.dataflow().empty()) define_dataflow(block);
        item(TraceItem::kBlock);
        number(function);
        number(block.address);
        number(block.load_bias);
        const std::uint32_t section = block.section - block.function->object->id * kSectionsPerObject;
        number(2 * section + (block.is_entry ? 1 : 0));
        number(block.exit_count);
        define_steps(block);
        known_block = {expectation_.next_exit(), expectation_.next_group()};
        expectation_.add_block(block.exit_count, block.group_count);
    }
    return known_block;
}

std::uint32_t TraceWriter::known(const ObjectFile& object) {
    if (objects_.add(object.id)) {
        item(TraceItem::kObject);
        text(object.name);
    }
    return objects_[object.id];
}

std::uint32_t TraceWriter::known(const SourceFile& file) {
    if (files_.add(file.id)) {
        item(TraceItem::kFile);
        text(file.name);
    }
    return files_[file.id];
}

std::uint32_t TraceWriter::known(const Function& function) {
    if (functions_.add(function.id)) {
        const std::uint32_t file = known(*function.file);
        const std::uint32_t object = known(*function.object);
        item(TraceItem::kFunction);
        text(function.name);
        number(file);
        number(object);
        number((function.skipped ? 1u : 0) + (function.left_by_jump ? 2u : 0));
    }
    return functions_[function.id];
}

void TraceWriter::define_dataflow(const Block& block) {
    item(TraceItem::kDataflow);
    number(block.dataflow().size());
    for (const std::uint16_t word : block.dataflow()) number(word);
}

void TraceWriter::define_steps(const Block& block) {
    BD_CHECK_OP(block.instruction_count, <=, kMaxTracedInstructions);
    BD_CHECK_OP(block.access_count, <=, kMaxTracedAccesses);
    BD_CHECK_OP(block.exit_count, <=, kMaxTracedExits);
    std::uint64_t end = 0;
    std::uint64_t line = 0;
    std::size_t instructions = 0;
    std::size_t accesses = 0;
    for (std::size_t exits = 0; exits < block.exit_count;) {
        const Exit& exit = block.exits()[exits];
        if (exit.instructions == instructions && exit.accesses == accesses) {
            step(TraceStep::kExit,
                 static_cast<std::uint64_t>(exit.jump) + kJumpKinds * static_cast<std::uint64_t>(exit.branch));
            ++exits;
        } else if (accesses < block.access_count && block.accesses()[accesses].instruction + 1u == instructions) {
            const bool joins = block.groups()[block.accesses()[accesses].group].first != accesses;
            const Access& access = block.accesses()[accesses++];
            step(joins ? TraceStep::kJoinedAccess : TraceStep::kAccess,
                 static_cast<std::uint64_t>(access.kind) + (access.guarded ? 4 : 0));
            number(access.size);
            if (joins) difference(static_cast<std::uint64_t>(std::int64_t{access.distance}));
        } else {
            BD_CHECK_OP(instructions, <, block.instruction_count);
            const Instruction& instruction = block.instructions()[instructions++];
            step(TraceStep::kInstruction, instruction.size);
            difference(instruction.offset - end);
            difference(instruction.line - line);
            number(known(*instruction.file));
            end = std::uint64_t{instruction.offset} + instruction.size;
            line = instruction.line;
        }
    }
}

void TraceWriter::item(TraceItem item) {
    number(0);
    number(static_cast<std::uint64_t>(item));
}

void TraceWriter::number(std::uint64_t number) {
    if (used_ > sizeof buffer_ - kMaxNumberBytes) flush();
    while (number >= 0x80) {
        buffer_[used_++] = static_cast<char>(number | 0x80);
        number >>= 7;
    }
    buffer_[used_++] = static_cast<char>(number);
}

void TraceWriter::text(std::string_view text) {
    number(text.size());
    flush();
    out_ << text;
}

void TraceWriter::flush() {
    out_ << std::string_view(buffer_, used_);
    used_ = 0;
}

}  // namespace bd
