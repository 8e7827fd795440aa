// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sizes of the simulated caches, and what makes a geometry legal.

#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/replacement.h"

namespace bd {

inline constexpr std::uint32_t kMinLineBytes = 16;
inline constexpr std::uint32_t kMaxLineBytes = 256;

// Which bits of a line's number choose its set: the lowest ones, or these mixed with all others.
enum class SetIndex : std::uint8_t { kBits, kHash };

struct CacheGeometry {
    std::uint64_t size_bytes;
    std::uint32_t ways;
    std::uint32_t line_bytes;
    Replacement replacement{};         // of I1 and D1: one that follows_from_times()
    SetIndex index = SetIndex::kBits;  // of I1 and D1: always kBits

    constexpr std::uint64_t sets() const { return size_bytes / ways / line_bytes; }
    constexpr std::uint64_t lines() const { return size_bytes / line_bytes; }
    constexpr unsigned line_bits() const { return static_cast<unsigned>(__builtin_ctz(line_bytes)); }

    constexpr bool operator==(const CacheGeometry&) const = default;
};

// Which frame of memory a page of 4 KiB is in, for the sets of its lines behind the first level: that of its address,
// one after the other as pages are first looked for there, or any.
enum class PageFrames : std::uint8_t { kVirtual, kContiguous, kRandom };

struct PageRules {
    PageFrames frames = PageFrames::kVirtual;
    std::uint64_t seed = 0;  // of kRandom

    constexpr bool operator==(const PageRules&) const = default;
};

// Whether LL has all that the caches in front of it have, or what L2 evicts and no other lines (a victim cache), or
// neither.
enum class Inclusion : std::uint8_t { kNone, kInclusive, kExclusive };

struct CacheGeometries {
    CacheGeometry i1;
    CacheGeometry d1;
    CacheGeometry ll;    // the last one
    CacheGeometry l2{};  // between them; of no bytes if there is none
    PageRules pages{};
    Inclusion ll_inclusion = Inclusion::kNone;  // one that they allow()

    constexpr bool has_l2() const { return l2.size_bytes != 0; }
    constexpr bool is_inclusive() const { return ll_inclusion == Inclusion::kInclusive; }
    constexpr bool is_exclusive() const { return ll_inclusion == Inclusion::kExclusive; }
    // An inclusive LL has lines that are at least as long as all others, an exclusive one those of an L2.
    constexpr bool allow(Inclusion inclusion) const {
        if (inclusion == Inclusion::kExclusive) return has_l2() && l2.line_bytes == ll.line_bytes;
        if (inclusion == Inclusion::kNone) return true;
        return ll.line_bytes >= i1.line_bytes && ll.line_bytes >= d1.line_bytes && ll.line_bytes >= l2.line_bytes;
    }
};

inline constexpr std::uint32_t kBasePageBits = 12;
inline constexpr std::uint32_t kHugePageBits = 21;

// A translation lookaside buffer (TLB): it has so many entries, each of which translates a page.
struct TlbGeometry {
    std::uint32_t entries;
    std::uint32_t ways;  // as many as entries: fully associative

    constexpr std::uint32_t sets() const { return entries / ways; }

    constexpr bool operator==(const TlbGeometry&) const = default;
};

// The TLBs for pages of one size: two of the first level in front of the second.
struct PageTlbs {
    std::uint32_t page_bits;
    TlbGeometry i1;
    TlbGeometry d1;
    TlbGeometry d2;
    TlbGeometry i2{};  // of no entries if `d2` is that of instructions, too

    constexpr bool has_i2() const { return i2.entries != 0; }
    constexpr std::uint64_t page_bytes() const { return std::uint64_t{1} << page_bits; }

    constexpr bool operator==(const PageTlbs&) const = default;
};

// Those of a processor, with the pages that programs mostly have and with huge ones.
struct TlbGeometries {
    PageTlbs base{};
    PageTlbs huge{};

    // Whether TLBs are simulated at all.
    constexpr bool any() const { return base.d1.entries != 0; }
};

// What is wrong with it, as the end of a sentence that begins with the geometry; null if it is legal. Any number
// of sets is legal.
const char* geometry_error(const CacheGeometry& geometry);

// Reads "<size>,<ways>,<line size>", in bytes. Null if the text has that form, else what is wrong with it;
// `*geometry` is then unspecified. The geometry may still be illegal.
const char* parse_geometry(std::string_view text, CacheGeometry* geometry);

// Reads "virtual", "contiguous", "random" or "random,<seed>". Null if it is one of them, else what is wrong with it.
const char* parse_page_rules(std::string_view text, PageRules* rules);

// The same for TLBs, as "<entries>,<ways>,<entries>,<ways>": those of the first level, and the second one for data and
// instructions, with pages of 4 KiB and of 2 MiB. What is read is legal.
const char* parse_tlbs(std::string_view text, TlbGeometries* tlbs);

}  // namespace bd
