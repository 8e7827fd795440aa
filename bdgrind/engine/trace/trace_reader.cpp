// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/trace/trace_reader.h"

#include <limits>

#include "engine/program/dataflow.h"

namespace bd {
namespace {

constexpr const char* kCutShort = "the trace is cut short";
constexpr const char* kNoDataflow = "what is said of a block's addresses does not fit the block";
constexpr const char* kNoInstruction = "a block does not begin with an instruction";
// Nothing is mapped above the kernel's vsyscall page, 10 MiB below the end of the address space.
constexpr Address kMaxCodeAddress = ~Address{0} - 2 * kMaxTracedCodeBytes;

}  // namespace

inline std::uint64_t TraceReader::number() {
    number_at_ = at_;
    if (__builtin_expect(at_ < trace_.size(), 1)) {
        const auto byte = static_cast<unsigned char>(trace_[at_]);
        if (byte < 0x80) {  // as nearly always
            ++at_;
            return byte;
        }
    }
    return long_number();
}

TraceReader::TraceReader(std::string_view trace) : trace_(trace) {
    read_run();
}

void TraceReader::read_run() {
    if (!trace_.starts_with(kTraceMagic)) {
        fail("this is not a trace recorded by bdgrind");
        return;
    }
    at_ = kTraceMagic.size();
    const std::uint64_t version = number();
    if (version != kTraceVersion && version != kTraceVersionWithL2) {
        fail("this version of the form of traces is not known here");
        return;
    }
    run_.pid = number();
    run_.command = text();
    run_.geometry_source = text();
    for (CacheGeometry* cache : {&run_.caches.i1, &run_.caches.d1, &run_.caches.ll}) *cache = read_geometry();
    if (version == kTraceVersionWithL2) run_.caches.l2 = read_geometry();
}

CacheGeometry TraceReader::read_geometry() {
    constexpr const char* kIllegal = "the recorded run's caches are impossible";
    CacheGeometry cache{};
    cache.size_bytes = number();
    cache.ways = static_cast<std::uint32_t>(number(~std::uint32_t{0}, kIllegal));
    cache.line_bytes = static_cast<std::uint32_t>(number(~std::uint32_t{0}, kIllegal));
    if (geometry_error(cache) != nullptr) fail(kIllegal);
    return cache;
}

Batch TraceReader::read(std::size_t words, SymbolTable& symbols, BlockTable& blocks) {
    batch_.clear();
    while (batch_.size() < words && !ended_ && !error_) read_item(symbols, blocks);
    return batch_;
}

// No part of a bad item stays in the batch.
void TraceReader::read_item(SymbolTable& symbols, BlockTable& blocks) {
    const std::size_t words = batch_.size();
    if (const std::uint64_t code = number(); code != 0) {
        read_record(code - 1);
    } else {
        switch (static_cast<TraceItem>(number(0xff, "there is no such kind of item"))) {
            case TraceItem::kObject:
                objects_.push_back(&symbols.object(text()));
                break;
            case TraceItem::kFile:
                files_.push_back(&symbols.file(text()));
                break;
            case TraceItem::kFunction:
                define_function(symbols);
                break;
            case TraceItem::kBlock:
                define_block(blocks);
                break;
            case TraceItem::kMarker:
                read_marker();
                break;
            case TraceItem::kDataflow:
                define_dataflow();
                break;
            case TraceItem::kEnd:
                read_end();
                break;
            default:
                fail("there is no such kind of item");
        }
    }
    if (error_) batch_.resize(words);
}

void TraceReader::read_record(std::uint64_t code) {
    std::uint64_t number_of_exit = code / 2;
    if (number_of_exit == 0) number_of_exit = expectation_.exit();
    if (number_of_exit == 0 || number_of_exit >= exits_.size()) {
        fail("there is no exit with this number");
        return;
    }
    if (!thread_runs_) {
        fail("a block is executed, but no thread runs");
        return;
    }
    const KnownExit& known = exits_[static_cast<std::size_t>(number_of_exit)];
    const Address stack_pointer = expectation_.stack_pointer() + (code % 2 == 0 ? 0 : difference());
    expectation_.on_record(static_cast<std::uint32_t>(number_of_exit), stack_pointer);
    batch_.push_back(first_word(*known.exit));
    batch_.push_back(stack_pointer);
    Address* const last = expectation_.addresses(known.first_group);
    for (std::size_t i = 0; i < known.exit->groups; ++i) {
        last[i] += difference();
        batch_.push_back(last[i]);
    }
    ++records_;
}

// Checks that a marker makes sense, as an engine relies on that.
void TraceReader::read_marker() {
    const auto marker =
        static_cast<Marker>(number(static_cast<std::uint64_t>(Marker::kCount) - 1, "there is no such kind of marker"));
    const auto values = static_cast<std::size_t>(number(kMarkerValues, "a marker has too many values"));
    if (values < least_values(marker)) fail("a marker has too few values");
    if (error_) return;
    batch_.push_back(marker_word(marker, values));
    const Word thread = number();
    bool is_thread = thread <= kMaxTracedThread;
    batch_.push_back(thread);
    for (std::size_t i = 1; i < values; ++i) batch_.push_back(number());
    if (marker == Marker::kThreadCreate) is_thread &= batch_[batch_.size() - 2] <= kMaxTracedThread;
    ++records_;
    switch (marker) {
        case Marker::kThread:
            thread_ = thread;
            thread_runs_ = true;
            break;
        case Marker::kThreadEnd:
            if (thread == thread_) thread_runs_ = false;
            break;
        case Marker::kSignalEnter:
        case Marker::kToggleCollect:
        case Marker::kZero:
        case Marker::kSystemCall:
        case Marker::kThreadCreate:
        case Marker::kSignal:
            break;
        case Marker::kSignalLeave:
            if (thread != thread_) fail("a signal handler returns on a thread that does not run");
            break;
        case Marker::kMapped:
            if (batch_.back() != 0) fail("it names what was mapped, which no trace can");
            return;
        case Marker::kCollect:
        case Marker::kStop:
        case Marker::kAllocatorEntered:
        case Marker::kAllocatorLeft:
        case Marker::kFreed:
        case Marker::kUnmapped:
        case Marker::kCoherence:
        case Marker::kCoreUse:
        case Marker::kCount:
            return;
    }
    if (!is_thread) fail("a thread's number is too large");
}

void TraceReader::read_end() {
    if (number() != records_) fail("the number of records is not what the trace says at its end");
    if (at_ != trace_.size()) fail("the trace goes on behind its end");
    ended_ = true;
}

void TraceReader::define_function(SymbolTable& symbols) {
    const std::string_view name = text();
    const SourceFile* const file = one_of(files_, "there is no source file with this number");
    const ObjectFile* const object = one_of(objects_, "there is no object with this number");
    const std::uint64_t flags = number(3, "a function has flags that are not known");
    if (error_) return;
    bool is_new = false;
    Function& function = symbols.function(name, *file, *object, &is_new);
    if (!is_new) {
        fail("a function is defined twice");
        return;
    }
    // The rules of the table may add to what was recorded.
    if ((flags & 1) != 0) function.skipped = true;
    if ((flags & 2) != 0) function.left_by_jump = true;
    functions_.push_back(&function);
}

// Reads the dataflow of the block that is defined next. It is checked when that block is known.
void TraceReader::define_dataflow() {
    dataflow_.clear();
    const std::uint64_t size = number(trace_.size() - at_, kCutShort);
    for (std::uint64_t i = 0; i < size && !error_; ++i) {
        const std::uint64_t word = number(std::numeric_limits<std::uint16_t>::max(), kNoDataflow);
        dataflow_.push_back(static_cast<std::uint16_t>(word));
    }
}

void TraceReader::define_block(BlockTable& blocks) {
    const Function* const function = one_of(functions_, "there is no function with this number");
    const Address address = number(kMaxCodeAddress, "a block lies at an impossible address");
    const Address load_bias = number();
    const std::uint64_t section_and_entry = number(2 * kSectionsPerObject - 1, "there is no section with this number");
    const std::uint64_t exits = number(kMaxTracedExits, "a block has too many exits");
    if (error_) return;
    if (exits == 0) {
        fail("a block has no exit");
        return;
    }
    const auto section = static_cast<std::uint32_t>(section_and_entry / 2);
    builder_.start(address, *function, load_bias, section, section_and_entry % 2 != 0);
    read_steps(exits, address);
    if (error_) return;

    const std::size_t groups = builder_.group_count();
    builder_.set_dataflow(dataflow_);
    dataflow_.clear();
    const Block& block = blocks.add(builder_);
    if (!block.dataflow().empty() && !describes_dataflow(block, block.dataflow())) {
        fail(kNoDataflow);
        return;
    }
    for (const TracedExit& exit : block.exits()) exits_.push_back({&exit, expectation_.next_group()});
    expectation_.add_block(static_cast<std::size_t>(exits), groups);
}

void TraceReader::read_steps(std::uint64_t exits, Address address) {
    code_bytes_ = 0;
    next_instruction_ = address;
    line_ = 0;
    while (exits != 0 && !error_) {
        const std::uint64_t code = number();
        switch (static_cast<TraceStep>(code % 4)) {
            case TraceStep::kInstruction:
                read_instruction(code / 4, address);
                break;
            case TraceStep::kAccess:
                read_access(code / 4, false);
                break;
            case TraceStep::kJoinedAccess:
                read_access(code / 4, true);
                break;
            case TraceStep::kExit:
                read_exit(code / 4);
                --exits;
                break;
        }
    }
}

void TraceReader::read_instruction(std::uint64_t size, Address address) {
    const Address at = next_instruction_ + difference();
    line_ += difference();
    const SourceFile* const file = one_of(files_, "there is no source file with this number");
    if (error_) return;
    // Blocks are limited such that their costs and numbers are, however they are cut into lines.
    if (size == 0 || size > kMaxTracedCodeBytes - code_bytes_ || at - address > kMaxTracedCodeBytes - size ||
        line_ > ~std::uint32_t{0} || builder_.instruction_count() == kMaxTracedInstructions) {
        fail("an instruction is impossible");
        return;
    }
    builder_.add_instruction(at, static_cast<std::uint32_t>(size), *file, static_cast<std::uint32_t>(line_));
    code_bytes_ += size;
    next_instruction_ = at + size;
}

void TraceReader::read_access(std::uint64_t kind, bool joins) {
    if (builder_.instruction_count() == 0) fail(kNoInstruction);
    const std::uint64_t size = number(kMaxTracedAccessBytes, "an access is too large");
    const std::uint64_t distance = joins ? difference() : 0;
    if (error_) return;
    const auto what = static_cast<AccessKind>(kind % 4);
    const bool is_guarded = kind >= 4;
    if (size == 0 || kind >= 8 || (what == AccessKind::kBus && !is_guarded) ||
        builder_.access_count() == kMaxTracedAccesses) {
        fail("an access is impossible");
        return;
    }
    if (!joins) {
        builder_.add_access(static_cast<std::uint32_t>(size), what, is_guarded);
    } else if (is_guarded ||
               !builder_.join_access(static_cast<std::uint32_t>(size), what, static_cast<std::int64_t>(distance))) {
        fail("an access cannot join the one before");
    }
}

void TraceReader::read_exit(std::uint64_t kind) {
    if (builder_.instruction_count() == 0) fail(kNoInstruction);
    const std::uint64_t branch = kind / kJumpKinds;
    if (branch > static_cast<std::uint64_t>(Branch::kIndirect)) fail("there is no such kind of jump");
    if (!error_) builder_.add_exit(static_cast<JumpKind>(kind % kJumpKinds), static_cast<Branch>(branch));
}

// Notes an error, unless there is one already.
void TraceReader::fail(const char* message) {
    if (!error_) error_ = {message, number_at_};
}

std::uint64_t TraceReader::long_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ == trace_.size()) {
            fail(kCutShort);
            return 0;
        }
        const auto byte = static_cast<unsigned char>(trace_[at_++]);
        const std::uint64_t bits = byte & 0x7f;
        if (bits << shift >> shift != bits) break;
        number |= bits << shift;
        if (byte < 0x80) return number;
    }
    fail("a number has more than 64 bits");
    return 0;
}

std::uint64_t TraceReader::number(std::uint64_t most, const char* message) {
    const std::uint64_t read = number();
    if (read <= most) return read;
    fail(message);
    return 0;
}

std::string_view TraceReader::text() {
    const std::uint64_t size = number();
    if (size > trace_.size() - at_) {
        fail(kCutShort);
        return {};
    }
    const std::string_view text = trace_.substr(at_, static_cast<std::size_t>(size));
    at_ += text.size();
    if (text.find('\0') != text.npos) fail("a text contains a zero byte");
    return text;
}

// Reads a number and returns what has it; null with an error.
template <class T>
const T* TraceReader::one_of(const std::vector<const T*>& known, const char* message) {
    const std::uint64_t index = number();
    if (index < known.size()) return known[static_cast<std::size_t>(index)];
    fail(message);
    return nullptr;
}

}  // namespace bd
