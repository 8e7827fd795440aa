// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/open_calls.h"

#include "tool/frame_index.h"
#include "tool/trace_buffer.h"

namespace bd {
namespace {

// Which a call puts on the stack.
#if defined(VGA_arm64)
constexpr Addr kPushedBytes = 0;
#else
constexpr Addr kPushedBytes = sizeof(Addr);
#endif

// How long the call instruction is whose last byte is at `last`. The forms that compilers use are known; of any other,
// the last byte stands for all.
std::uint32_t call_size(Addr last) {
#if defined(VGA_arm64)
    return last % 4 == 3 ? 4 : 1;
#else
    constexpr Addr kLongest = 7;
    if (!VG_(am_is_valid_for_client)(last - kLongest + 1, kLongest, VKI_PROT_READ)) return 1;
    const auto byte = [last](Addr back) { return reinterpret_cast<const UChar*>(last)[-static_cast<Int>(back)]; };
    if (byte(4) == 0xe8) return 5;                      // a constant distance
    if (byte(5) == 0xff && byte(4) == 0x15) return 6;   // a word in memory at a constant address
    if (byte(1) == 0xff && (byte(0) & 0xf8) == 0xd0) {  // a register,
        return byte(2) == 0x41 ? 3 : 2;                 // or one of the later ones
    }
    if (byte(2) == 0xff && (byte(1) & 0xf8) == 0x50) return 3;  // a table: a register and a distance,
    if (byte(5) == 0xff && (byte(4) & 0xf8) == 0x90) return 6;  // a greater one,
    if (byte(1) == 0xff && (byte(0) & 0xf8) == 0x10) return 2;  // or none
    return 1;
#endif
}

bool read_guest(std::uint64_t address, std::span<unsigned char> bytes) {
    const auto at = static_cast<Addr>(address);
    if (!VG_(am_is_valid_for_client)(at, bytes.size(), VKI_PROT_READ)) return false;
    VG_(memcpy)(bytes.data(), reinterpret_cast<const void*>(at), bytes.size());
    return true;
}

// Where the first byte is mapped of the file that the code at `address` is from; 0 if that is not known. The parts of a
// file lie side by side.
Addr file_base(Addr address) {
    constexpr int kMostParts = 16;
    const NSegment* part = VG_(am_find_nsegment)(address);
    if (part == nullptr || part->kind != SkFileC) return 0;
    const auto device = part->dev;
    const auto inode = part->ino;
    for (int i = 0; i < kMostParts; ++i) {
        if (part == nullptr || part->kind != SkFileC || part->dev != device || part->ino != inode) return 0;
        if (part->offset == 0) return part->start;
        part = VG_(am_find_nsegment)(part->start - 1);
    }
    return 0;
}

}  // namespace

// The first instruction of the function that `running` is in; `running` itself if that is not known.
Addr OpenCalls::entry_of(Addr running) {
    const CodeBlockName name = names_.block(running);
    const auto entry = static_cast<Addr>(name.entry);
    if (entry != running || name.is_entry) return entry;
    const Addr base = file_base(running);
    const auto start = base == 0 ? 0 : static_cast<Addr>(function_start(base, running, read_guest));
    return start == 0 ? running : start;
}

// The exit of a block that is but one instruction.
const TracedExit& OpenCalls::exit_at(Addr address, std::uint32_t size, JumpKind jump) {
    const CodeBlockName name = names_.block(address);
    const SourceLine line = names_.line(address);
    builder_.start(address, *name.function, name.load_bias, name.section, name.is_entry);
    builder_.add_instruction(address, size, *line.file, line.line);
    builder_.add_exit(jump);
    return blocks_.add(builder_).exits()[0];
}

void OpenCalls::trace(ThreadId thread) {
    instructions_.resize(kMostFrames);
    stack_pointers_.resize(kMostFrames);
    UInt frames = VG_(get_StackTrace)(thread, instructions_.data(), kMostFrames, stack_pointers_.data(), nullptr, 0);
    // What the core finds above a program's first function is no code.
    for (UInt i = 0; i < frames; ++i) {
        if (!VG_(am_is_valid_for_client)(instructions_[i], 1, VKI_PROT_EXEC)) frames = i;
    }
    // Outermost first. Of a caller, the core gives the last byte of the calling instruction, and the stack pointer that
    // it has when the callee has returned. A call leads to the first instruction of a function, and what runs now has
    // called nothing.
    for (UInt i = frames; i-- > 0;) {
        const Addr at_entry = i + 1 < frames ? stack_pointers_[i + 1] - kPushedBytes : stack_pointers_[i];
        const Addr entry = entry_of(instructions_[i]);
        if (i == 0 && entry == instructions_[i]) break;  // it is about to be entered
        trace_step(exit_at(entry, 1, JumpKind::kJump), at_entry);
        if (i == 0) break;
        const std::uint32_t size = call_size(instructions_[i]);
        trace_step(exit_at(instructions_[i] + 1 - size, size, JumpKind::kCall), at_entry);
    }
}

}  // namespace bd
