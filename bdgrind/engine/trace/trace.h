// SPDX-License-Identifier: GPL-2.0-or-later
//
// The trace: a sequence of words that says what the guest executed. Instrumented code writes it, and the replay reads
// it. There are two kinds of records:
//
//   block    [an Exit] [stack pointer at the block's entry] [address]...
//            One address per group of accesses up to that exit, in program order; 0 for a guarded access that did not
//            happen.
//   marker   [a marker Exit] [value]...
//            An event that is not code; the meaning of the values depends on the marker. There are three values, 0 if
//            unused; the frequent markers of the heap only have those that they use.
//
// The first word has the address of the Exit and, in its highest 16 bits, the length of the record, so that the next
// one is found without reading the Exit. (5 % less replay.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/check.h"
#include "engine/base/types.h"
#include "engine/program/block.h"

namespace bd {

using Batch = std::span<const Word>;

inline constexpr std::size_t kHeaderWords = 2;
inline constexpr std::size_t kMarkerValues = 3;  // at most
inline constexpr std::size_t kMarkerWords = 1 + kMarkerValues;

enum class Marker : std::uint8_t {
    kThread,            // guest thread, 1 + the processor that it alone may use or 0: it runs from here on
    kThreadEnd,         // guest thread: it has ended
    kSignalEnter,       // guest thread, begin and end of a range of stack pointers: its next block is the start of a
                        // signal handler; once the stack pointer is out of that range, the handler has been left
    kSignalLeave,       // guest thread: it has returned from its latest handler
    kCollect,           // 1: all threads, including later ones, collect costs from here on; 0: none does
    kToggleCollect,     // guest thread: it starts or stops collecting costs
    kZero,              // guest thread, or 0 for all: its counts are zeroed
    kStop,              // the guest continues unobserved: the caches are emptied and all calls left
    kSystemCall,        // guest thread, elapsed time, processor time: its latest instruction was a system call
    kThreadCreate,      // guest thread, another one that it creates
    kSignal,            // guest thread, number of a signal: the next kSignalEnter is about a handler of it
    kAllocatorEntered,  // as many arguments as it needs: the latest block was the first of an allocator
    kAllocatorLeft,     // result, stack pointer at the function's entry: the latest block was the last of an allocator
    kFreed,             // address: the block of memory there is freed
    kMapped,            // begin, end, what is there (a std::vector<MappedObject>*) or 0: memory without a file
    kUnmapped,          // begin, end
    kCoherence,         // an access of the latest block that involves other cores, see coherence_marks.h
    kCoreUse,           // a core's use of a line that it loses, see coherence_marks.h
    kCount
};

// The exits of markers, which belong to no block and never get notes. `index` is the Marker.
extern const TracedExit kMarkers[static_cast<std::size_t>(Marker::kCount)];

inline constexpr unsigned kAddressBits = 48;

// The first word of a record.
inline Word first_word(const TracedExit& exit) {
    const Word address = reinterpret_cast<std::uintptr_t>(&exit);
    BD_DCHECK(address >> kAddressBits == 0);
    return address | Word{kHeaderWords + exit.words} << kAddressBits;
}
inline Word marker_word(Marker marker, std::size_t values = kMarkerValues) {
    const Word unused = kMarkerValues - values;
    return first_word(kMarkers[static_cast<std::size_t>(marker)]) - (unused << kAddressBits);
}
// Whether this is the first word of a marker. It does not read the exit, which may not be in the host's caches.
inline bool is_marker(Word first) {
    const Word behind = (first & ((Word{1} << kAddressBits) - 1)) - reinterpret_cast<std::uintptr_t>(&kMarkers[0]);
    return behind < sizeof kMarkers;
}
// The minimum number of values of a marker.
constexpr std::size_t least_values(Marker marker) {
    if (marker == Marker::kAllocatorEntered || marker == Marker::kFreed) return 1;
    return marker == Marker::kAllocatorLeft ? 2 : kMarkerValues;
}

// The core that a guest thread runs on, if there are so many. `processor`: 1 + the only one that it may use; 0: it may
// use several, or that is not known.
constexpr std::uint32_t core_of_thread(std::uint32_t thread, Word processor, std::uint32_t cores) {
    return static_cast<std::uint32_t>(((processor != 0 ? processor : thread + Word{cores}) - 1) % cores);
}

// The exit, and the number of words, of a record with this first word.
inline TracedExit& exit_of(Word first) {
    const Word address = first & ((Word{1} << kAddressBits) - 1);
    return *reinterpret_cast<TracedExit*>(static_cast<std::uintptr_t>(address));
}
inline std::size_t record_words(Word first) {
    return static_cast<std::size_t>(first >> kAddressBits);
}

}  // namespace bd
