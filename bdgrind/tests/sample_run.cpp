// SPDX-License-Identifier: GPL-2.0-or-later

#include "tests/sample_run.h"

#include "engine/trace/trace_writer.h"

namespace bd::test {
namespace {

constexpr std::size_t kThreads = 3;
constexpr std::size_t kMaxDepth = 40;
constexpr Address kStackBytes = 0x100000;

Address stack_of(std::size_t thread) {
    return 0x7fff00000000 - thread * kStackBytes;
}

}  // namespace

SampleRun::SampleRun(std::uint32_t seed, std::size_t records, std::size_t functions, unsigned line_bits, bool heap)
    : random_(seed), flow_random_(seed), heap_(heap), blocks_(line_bits) {
    write_program(functions);
    run(records);
}

void SampleRun::write_program(std::size_t functions) {
    constexpr const char* kObjects[] = {"/bin/sample", "/lib/libsample.so"};
    constexpr const char* kFiles[] = {"sample.c", "???", "a much longer name of a source file.cpp"};
    Address address = 0x400000;
    for (std::size_t i = 0; i < functions; ++i) {
        const ObjectFile& object = symbols_.object(kObjects[random_.below(2)]);
        const SourceFile& file = symbols_.file(kFiles[random_.below(3)]);
        Function& function = symbols_.function("function_" + std::to_string(i), file, object);
        function.skipped = random_.one_in(8);
        function.left_by_jump = random_.one_in(20);
        Code& code = code_.emplace_back();
        code.entry = &write_block(function, address, true);
        for (std::size_t blocks = random_.below(6); blocks != 0; --blocks) {
            address += 100 + random_.below(100);
            code.blocks.push_back(&write_block(function, address, false));
        }
        address += 100 + random_.below(4000);
    }
}

Block& SampleRun::write_block(const Function& function, Address address, bool is_entry) {
    constexpr std::uint32_t kSizes[] = {1, 2, 4, 8, 8, 8, 16, 32, 512};
    const SourceFile& inlined = symbols_.file("inlined.h");
    BlockBuilder builder;
    builder.start(address, function, 0x1000, static_cast<std::uint32_t>(random_.below(2)), is_entry);
    auto line = static_cast<std::uint32_t>(10 + random_.below(1000));
    DataflowBuilder flow;
    flow.start();
    const std::size_t instructions = 1 + random_.below(8);
    for (std::size_t i = 0; i < instructions; ++i) {
        const auto size = static_cast<std::uint32_t>(1 + random_.below(12));
        line += static_cast<std::uint32_t>(random_.below(5)) - 2;
        builder.add_instruction(address, size, random_.one_in(10) ? inlined : *function.file, line);
        address += size;
        while (random_.one_in(3)) {
            const std::uint32_t access_size = kSizes[random_.below(std::size(kSizes))];
            const auto kind = static_cast<AccessKind>(random_.below(3));
            const std::int64_t distance = 8 * static_cast<std::int64_t>(random_.below(4)) - 8;
            add_access_flow(&flow, builder.access_count());
            if (random_.one_in(2) && builder.join_access(access_size, kind, distance)) continue;
            builder.add_access(access_size, kind, random_.one_in(6));
        }
        if (random_.one_in(6)) {
            builder.add_exit(JumpKind::kJump, random_.one_in(3) ? Branch::kNotTaken : Branch::kTaken);
            add_exit_flow(&flow, builder.access_count());
        }
    }
    const auto jump = static_cast<JumpKind>(random_.below(3));
    builder.add_exit(jump, random_.one_in(3) ? Branch::kIndirect : Branch::kNone);
    add_exit_flow(&flow, builder.access_count());
    if (!flow_random_.one_in(4)) builder.set_dataflow(flow.words());
    return blocks_.add(builder);
}

Value SampleRun::any_value(std::size_t accesses) {
    Value value;
    for (std::size_t sources = flow_random_.below(4); sources != 0; --sources) {
        const bool is_loaded = accesses != 0 && flow_random_.one_in(2);
        const auto number = static_cast<unsigned>(flow_random_.below(is_loaded ? accesses : 8));
        const Value source(is_loaded ? Source::of_access(number) : Source::of_register(number));
        value = value.plus(flow_random_.one_in(2) ? source.scaled() : source);
    }
    return value;
}

void SampleRun::add_access_flow(DataflowBuilder* flow, std::size_t accesses) {
    const Value stored = any_value(accesses);
    flow->add_access(any_value(accesses), flow_random_.one_in(4), flow_random_.one_in(3) ? &stored : nullptr);
}

void SampleRun::add_exit_flow(DataflowBuilder* flow, std::size_t accesses) {
    for (std::size_t puts = flow_random_.below(4); puts != 0; --puts) {
        flow->put(static_cast<unsigned>(flow_random_.below(8)), any_value(accesses));
    }
    flow->add_exit();
}

void SampleRun::run(std::size_t records) {
    threads_.resize(kThreads);
    switch_thread(0);
    while (starts_.size() < records) {
        if (random_.one_in(500)) switch_thread(random_.below(kThreads));
        if (random_.one_in(500)) enter_handler();
        if (random_.one_in(300)) leave_handler();
        if (random_.one_in(2000)) {
            mark(Marker::kThreadEnd, thread_ + 1);
            threads_[thread_] = {};
            switch_thread((thread_ + 1) % kThreads);
        }
        if (random_.one_in(400)) mark(Marker::kCollect, random_.one_in(3) ? 0 : 1);
        step();
    }
}

void SampleRun::switch_thread(std::size_t thread) {
    thread_ = thread;
    mark(Marker::kThread, thread + 1);
    auto& frames = threads_[thread].frames;
    if (frames.empty()) frames.push_back({&any_code(), stack_of(thread)});
    next_ = nullptr;
}

void SampleRun::enter_handler() {
    Thread& thread = threads_[thread_];
    if (thread.handlers.size() >= 3) return;
    const Address stack_pointer = thread.frames.back().stack_pointer - 512;
    mark(Marker::kSignalEnter, thread_ + 1, stack_of(thread_) - kStackBytes, stack_pointer);
    thread.handlers.push_back(thread.frames.size());
    thread.frames.push_back({&any_code(), stack_pointer});
    next_ = nullptr;
}

void SampleRun::leave_handler() {
    Thread& thread = threads_[thread_];
    if (thread.handlers.empty()) return;
    // By a return, or by a jump to where it interrupted.
    if (!random_.one_in(4)) mark(Marker::kSignalLeave, thread_ + 1);
    thread.frames.resize(thread.handlers.back());
    thread.handlers.pop_back();
    next_ = nullptr;
}

// A block of the current function, and what its exit leads to.
void SampleRun::step() {
    Thread& thread = threads_[thread_];
    auto& frames = thread.frames;
    const Frame frame = frames.back();
    const std::size_t bottom = thread.handlers.empty() ? 1 : thread.handlers.back() + 1;
    const auto& blocks = frame.code->blocks;
    const auto any_block = [&] { return blocks.empty() ? frame.code->entry : blocks[random_.below(blocks.size())]; };

    Block& block = next_ != nullptr ? *next_ : *any_block();
    const TracedExit& exit = random_.one_in(3) ? block.exits()[random_.below(block.exit_count)] : block.exits().back();
    execute(block, exit, frame.stack_pointer);
    if (heap_) use_heap(block, exit, frame.stack_pointer);
    next_ = nullptr;
    if (exit.jump == JumpKind::kCall && frames.size() < kMaxDepth) {
        const Code& callee = any_code();
        frames.push_back({&callee, frame.stack_pointer - 16 - 16 * random_.below(10)});
        next_ = callee.entry;
    } else if (exit.jump == JumpKind::kReturn && frames.size() > bottom) {
        frames.pop_back();
    } else if (random_.one_in(100)) {
        frames.resize(bottom + random_.below(frames.size() - bottom + 1));  // as longjmp does
    } else if (random_.one_in(50)) {
        frames.back().code = &any_code();  // a tail call
        next_ = frames.back().code->entry;
    } else if (random_.one_in(2)) {
        next_ = &block;
    }
}

void SampleRun::execute(Block& block, const TracedExit& exit, Address stack_pointer) {
    starts_.push_back(words_.size());
    words_.push_back(first_word(exit));
    words_.push_back(stack_pointer);
    for (const AccessGroup& group : block.groups().first(exit.groups)) {
        words_.push_back(address_of(block.accesses()[group.first], stack_pointer));
    }
}

Address SampleRun::address_of(const Access& access, Address stack_pointer) {
    if (access.guarded && random_.one_in(3)) return 0;
    switch (access.instruction % 4) {
        case 0:
            return 0x20000000 + random_.below(0x400000);
        case 1:
            return array_ += 8;
        default:
            return stack_pointer - 8 * (access.instruction + 1u);
    }
}

// Blocks lie where much is accessed, see address_of().
void SampleRun::use_heap(const Block& block, const TracedExit& exit, Address stack_pointer) {
    const Address address = odd(0x20000000 + 16 * random_.below(0x4000));
    if (block.is_entry) {
        mark(Marker::kAllocatorEntered, odd(random_.below(300)), odd(random_.below(300)), odd(random_.below(100'000)));
    } else if (random_.one_in(8)) {
        mark(Marker::kFreed, address);
    }
    if (exit.jump == JumpKind::kReturn) mark(Marker::kAllocatorLeft, address, stack_pointer);
    if (random_.one_in(50)) {
        const Address begin = odd(0x20000000 + 0x1000 * random_.below(0x40));
        mark(random_.one_in(2) ? Marker::kMapped : Marker::kUnmapped, begin, odd(begin + 0x1000 * random_.below(8)));
    }
}

// Now and then another number, of the largest ones.
Word SampleRun::odd(Word usual) {
    return random_.one_in(20) ? Word{0} - (Word{1} << random_.below(64)) : usual;
}

void SampleRun::mark(Marker marker, Word a, Word b, Word c) {
    starts_.push_back(words_.size());
    words_.insert(words_.end(), {marker_word(marker), a, b, c});
}

Batch SampleRun::trace(std::size_t first_record, std::size_t end_record) const {
    const auto start = [this](std::size_t record) {
        return record < starts_.size() ? starts_[record] : words_.size();
    };
    return trace().subspan(start(first_record), start(end_record) - start(first_record));
}

std::string SampleRun::file(std::size_t records_per_batch) const {
    StringOutput out;
    TraceWriter writer(out, description());
    for (std::size_t i = 0; i < starts_.size(); i += records_per_batch) writer.write(trace(i, i + records_per_batch));
    writer.finish();
    return out.text();
}

TraceRun SampleRun::description() {
    return {.pid = 4711,
            .command = "./sample --with arguments",
            .geometry_source = "nowhere",
            .caches = {.i1 = {4096, 4, 64}, .d1 = {2048, 2, 64}, .ll = {49152, 12, 64}}};
}

}  // namespace bd::test
