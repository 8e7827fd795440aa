// SPDX-License-Identifier: GPL-2.0-or-later
//
// The form of a recorded trace: all that an engine gets to see during a run, in a file. TraceWriter writes it,
// TraceReader reads it. It knows no cache: one recording can be replayed with any geometry.
//
// A trace is a sequence of bytes. Numbers are unsigned and take 7 bits per byte, lowest first; bit 7 says that more
// follow. Differences are modulo 2^64 and zigzag coded: 0, -1, 1, -2, ... as 0, 1, 2, 3, .... A text is its length in
// bytes and the bytes. Then
//
//   trace       "bdtrace\n" version run item... end
//   run         pid, command (text), where the geometry is known from (text),
//               for each of I1, D1 and LL: size, ways, line size in bytes
//   item        0 definition | 0 marker | record
//   definition  1 name                                object
//               2 name                                source file
//               3 name file object flags              function; flags: 1 skipped, 2 left by jump
//               4 function address bias section exits step...
//                                                     block; section: 2 * its number + (1: begins its function)
//               7 count number...                     what the addresses of the block that is defined next, and the
//                                                     registers that it leaves, are computed from: see dataflow.h
//   step        0 + 4 * size, distance, line, file    instruction
//               1 + 4 * kind, size                    access of the latest instruction; kind: AccessKind, + 4: guarded
//               2 + 4 * (jump + 3 * branch)           exit; jump: JumpKind, branch: Branch
//               3 + 4 * kind, size, distance          access that joins the group of the one before
//   marker      5 kind values value...                kind: Marker; how many values, and these
//   end         0 6 records                           how many records and markers there were
//   record      2 * exit + 1 [stack pointer] address...
//               2 * exit + 2  stack pointer  address...
//
// Objects, files and functions are numbered from 0, exits from 1, each kind in the order of its definitions. A
// definition comes before its first use.
//
// The steps of a block come in program order; the last exit is its end. The distance of an instruction is the
// difference between its address and the end of the one before, its line the difference to the line before (the first:
// to 0).
//
// What a block's addresses are computed from is there if it was asked for when the trace was recorded.
//
// A joined access lies at a fixed distance, a difference, from the latest access that is not joined, and all of them
// within AccessGroup::kMostBytes.
//
// A record says where the block was left and, for each access up to there that is not joined, the address; 0 for a
// guarded access that did not happen. Most of it is like last time, and only what differs is said (TraceExpectation):
// exit 0 stands for the exit that followed the previous record's exit last time; the stack pointer is left out in the
// first form, where it has changed as it did after that exit last time, and else is the difference to what was
// expected; an address is the difference to that of the same access when it was last recorded (at first, to 0).

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/narrow.h"
#include "engine/base/types.h"

namespace bd {

inline constexpr std::string_view kTraceMagic = "bdtrace\n";
inline constexpr std::uint64_t kTraceVersion = 4;
inline constexpr std::uint64_t kTraceVersionWithL2 = 5;  // the same, with the geometry of L2 behind the others

// What items of a trace begin with, but for records.
enum class TraceItem : std::uint8_t { kObject = 1, kFile, kFunction, kBlock, kMarker, kEnd, kDataflow };

enum class TraceStep : std::uint8_t { kInstruction, kAccess, kExit, kJoinedAccess };

inline constexpr std::uint64_t kJumpKinds = 3;

// What a trace may have. No real one comes near; a reader need not trust its file.
inline constexpr std::uint64_t kMaxTracedInstructions = 4096;
inline constexpr std::uint64_t kMaxTracedAccesses = 8192;
inline constexpr std::uint64_t kMaxTracedExits = 8192;
inline constexpr std::uint64_t kMaxTracedCodeBytes = 32768;
inline constexpr std::uint64_t kMaxTracedAccessBytes = 65536;
// Threads are numbered from 1, and those that have ended make room.
inline constexpr std::uint64_t kMaxTracedThread = (1 << 20) - 1;

// About the run that was recorded.
struct TraceRun {
    std::uint64_t pid = 0;
    std::string_view command;
    std::string_view geometry_source;
    CacheGeometries caches{};
};

// Maps small differences in both directions to small numbers, and back.
constexpr std::uint64_t to_zigzag(std::uint64_t difference) {
    return difference << 1 ^ (std::uint64_t{0} - (difference >> 63));
}
constexpr std::uint64_t from_zigzag(std::uint64_t number) {
    return number >> 1 ^ (std::uint64_t{0} - (number & 1));
}

// What the next record will be like if things go on as they did. Writer and reader each keep one and tell it of the
// same blocks and records, so that they expect the same.
class TraceExpectation {
public:
    // Of the block that is defined next.
    void add_block(std::size_t exits, std::size_t groups) {
        after_.resize(after_.size() + exits);
        addresses_.resize(addresses_.size() + groups);
    }

    // The number of the exit that is defined next, and of the group of accesses.
    std::uint32_t next_exit() const { return next_number(after_.size()); }
    std::uint32_t next_group() const { return next_number(addresses_.size()); }

    // 0: nothing is known.
    std::uint32_t exit() const { return after_[last_exit_].exit; }
    Address stack_pointer() const { return stack_pointer_ + after_[last_exit_].stack_change; }
    // The first address of a block that has this number of its first group; others follow.
    Address* addresses(std::uint32_t group) { return addresses_.data() + group; }

    // The next record has come.
    void on_record(std::uint32_t exit, Address stack_pointer) {
        after_[last_exit_] = {exit, stack_pointer - stack_pointer_};
        last_exit_ = exit;
        stack_pointer_ = stack_pointer;
    }

private:
    // How it went on after an exit, last time.
    struct After {
        std::uint32_t exit = 0;
        Address stack_change = 0;
    };

    std::vector<After> after_ = std::vector<After>(1);  // by exit; before the first record, the last exit is 0
    std::vector<Address> addresses_;                    // by group, as last recorded
    std::uint32_t last_exit_ = 0;
    Address stack_pointer_ = 0;
};

}  // namespace bd
