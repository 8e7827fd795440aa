// SPDX-License-Identifier: GPL-2.0-or-later
//
// The format of a recorded trace: everything that an engine sees during a run, in a file. TraceWriter writes it, and
// TraceReader reads it. It does not depend on caches: a recording can be replayed with any geometry.
//
// A trace is a sequence of bytes. Numbers are unsigned and have 7 bits per byte, lowest first; bit 7 says that more
// follow. Differences are modulo 2^64 and zigzag coded: 0, -1, 1, -2, ... as 0, 1, 2, 3, .... A text is its length in
// bytes, followed by the bytes. The grammar is
//
//   trace       "bdtrace\n" version run item... end
//   run         pid, command (text), source of the geometry (text),
//               for each of I1, D1 and LL: size, ways, line size in bytes
//   item        0 definition | 0 marker | record
//   definition  1 name                                object
//               2 name                                source file
//               3 name file object flags              function; flags: 1 skipped, 2 left by jump
//               4 function address bias section exits step...
//                                                     block; section: 2 * its number + (1: begins its function)
//               7 count number...                     the sources of the addresses of the block that is defined next,
//                                                     and of the registers that it leaves: see dataflow.h
//   step        0 + 4 * size, distance, line, file    instruction
//               1 + 4 * kind, size                    access of the latest instruction; kind: AccessKind, + 4: guarded
//               2 + 4 * (jump + 3 * branch)           exit; jump: JumpKind, branch: Branch
//               3 + 4 * kind, size, distance          access that joins the group of the one before
//   marker      5 kind values value...                kind: Marker; values: how many follow
//   end         0 6 records                           records: how many records and markers there were
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
// The sources of a block's addresses are only there if they were asked for when the trace was recorded.
//
// A joined access is at a fixed distance, a difference, from the latest access that is not joined, and all of them are
// within AccessGroup::kMostBytes.
//
// A record has the exit by which the block was left and, for each access up to there that is not joined, the address; 0
// for a guarded access that did not happen. Mostly these are as expected, and only differences are written
// (TraceExpectation): exit 0 stands for the exit that followed the previous record's exit last time; the stack pointer
// is left out in the first form, if it changed as it did after that exit last time, and otherwise is the difference to
// the expected one; an address is the difference to that of the same access when it was last recorded (at first, to 0).

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

// The numbers that items of a trace begin with, except for records.
enum class TraceItem : std::uint8_t { kObject = 1, kFile, kFunction, kBlock, kMarker, kEnd, kDataflow };

enum class TraceStep : std::uint8_t { kInstruction, kAccess, kExit, kJoinedAccess };

inline constexpr std::uint64_t kJumpKinds = 3;

// Limits for the contents of a trace, so that a reader need not trust its file. No real trace comes near them.
inline constexpr std::uint64_t kMaxTracedInstructions = 4096;
inline constexpr std::uint64_t kMaxTracedAccesses = 8192;
inline constexpr std::uint64_t kMaxTracedExits = 8192;
inline constexpr std::uint64_t kMaxTracedCodeBytes = 32768;
inline constexpr std::uint64_t kMaxTracedAccessBytes = 65536;
// Threads are numbered from 1, and those that have ended make room.
inline constexpr std::uint64_t kMaxTracedThread = (1 << 20) - 1;

// The run that was recorded.
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

// The expected next record, if the program continues as it did before. Writer and reader each keep an expectation and
// tell it the same blocks and records, so that both expect the same.
class TraceExpectation {
public:
    // Adds the block that is defined next.
    void add_block(std::size_t exits, std::size_t groups) {
        after_.resize(after_.size() + exits);
        addresses_.resize(addresses_.size() + groups);
    }

    // The numbers of the exit, and of the group of accesses, that are defined next.
    std::uint32_t next_exit() const { return next_number(after_.size()); }
    std::uint32_t next_group() const { return next_number(addresses_.size()); }

    // The expected exit; 0: none.
    std::uint32_t exit() const { return after_[last_exit_].exit; }
    Address stack_pointer() const { return stack_pointer_ + after_[last_exit_].stack_change; }
    // The expected addresses of a block, which begin with that of its first group. `group`: the number of that group.
    Address* addresses(std::uint32_t group) { return addresses_.data() + group; }

    // Notes the next record.
    void on_record(std::uint32_t exit, Address stack_pointer) {
        after_[last_exit_] = {exit, stack_pointer - stack_pointer_};
        last_exit_ = exit;
        stack_pointer_ = stack_pointer;
    }

private:
    // What followed an exit last time.
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
