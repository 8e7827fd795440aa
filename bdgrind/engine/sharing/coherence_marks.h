// SPDX-License-Identifier: GPL-2.0-or-later
//
// What happened between cores, as two markers of the trace: kCoherence follows the block that made the access, and
// kCoreUse says how a core has used a line that it loses.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/base/types.h"
#include "engine/trace/trace.h"

namespace bd {

// Cores are numbered from 0.
inline constexpr std::uint32_t kMostCores = 64;

// What becomes of a line that one core has modified and another one reads: it is written to the level that they share,
// and is not modified then (MESI); or the core that had modified it still owns it, and passes it on to all that
// ask for it (MOESI).
enum class CoherenceProtocol : std::uint8_t { kMesi, kMoesi };

// How a core used a line that it had got from another one.
enum class SharingKind : std::uint8_t {
    kUnknown,    // the bytes that others had written are not known
    kFalse,      // no byte that another core had written was used
    kTrue,       // such a byte was read
    kMigrating,  // such a byte was written, or read and written
    kCount
};

// The part in one line of an access whose outcome depends on other cores.
struct CoherenceMark {
    std::uint16_t access = 0;  // its index in the block
    std::uint8_t core = 0;
    std::uint8_t invalidated = 0;  // copies in other cores that this write invalidated
    bool transferred = false;      // another core had modified the line
    bool lost = false;             // this core had held it until another core wrote to it
    bool is_write = false;
    bool is_atomic = false;
    bool is_followed = false;  // whether the line is followed, see Coherence
    std::uint32_t bytes = 0;
    Address address = 0;

    std::array<Word, kMarkerValues> to_values() const {
        const Word flags =
            Word{transferred} | Word{lost} << 1 | Word{is_write} << 2 | Word{is_atomic} << 3 | Word{is_followed} << 4;
        return {access | flags << 16 | Word{invalidated} << 24 | Word{core} << 32, address, bytes};
    }
    static CoherenceMark of(std::span<const Word> values) {
        const Word packed = values[0];
        return {.access = static_cast<std::uint16_t>(packed),
                .core = static_cast<std::uint8_t>(packed >> 32 & (kMostCores - 1)),
                .invalidated = static_cast<std::uint8_t>(packed >> 24 & (kMostCores - 1)),
                .transferred = (packed >> 16 & 1) != 0,
                .lost = (packed >> 17 & 1) != 0,
                .is_write = (packed >> 18 & 1) != 0,
                .is_atomic = (packed >> 19 & 1) != 0,
                .is_followed = (packed >> 20 & 1) != 0,
                .bytes = static_cast<std::uint32_t>(values[2] & 0xff),
                .address = static_cast<Address>(values[1])};
    }
};

// How a core used a line until it lost it. Bit i of `read` and `written` is byte i of the line, which has at most 64.
struct CoreUseMark {
    Address line = 0;  // its first byte
    std::uint8_t core = 0;
    SharingKind kind = SharingKind::kUnknown;
    std::uint64_t read = 0;
    std::uint64_t written = 0;

    std::array<Word, kMarkerValues> to_values() const {
        return {line | static_cast<Word>(kind) | Word{core} << kAddressBits, read, written};
    }
    static CoreUseMark of(std::span<const Word> values) {
        constexpr Word kKinds = 3;
        const Word address = values[0] & ((Word{1} << kAddressBits) - 1);
        return {.line = static_cast<Address>(address & ~kKinds),
                .core = static_cast<std::uint8_t>(values[0] >> kAddressBits & (kMostCores - 1)),
                .kind = static_cast<SharingKind>(address & kKinds),
                .read = values[1],
                .written = values[2]};
    }
};
static_assert(static_cast<unsigned>(SharingKind::kCount) == 4);

}  // namespace bd
