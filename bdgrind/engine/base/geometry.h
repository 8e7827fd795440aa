// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sizes of the simulated caches, and what makes a geometry legal.

#pragma once

#include <cstdint>
#include <string_view>

namespace bd {

inline constexpr std::uint32_t kMinLineBytes = 16;
inline constexpr std::uint32_t kMaxLineBytes = 256;

struct CacheGeometry {
    std::uint64_t size_bytes;
    std::uint32_t ways;
    std::uint32_t line_bytes;

    constexpr std::uint64_t sets() const { return size_bytes / ways / line_bytes; }
    constexpr std::uint64_t lines() const { return size_bytes / line_bytes; }
    constexpr unsigned line_bits() const { return static_cast<unsigned>(__builtin_ctz(line_bytes)); }

    constexpr bool operator==(const CacheGeometry&) const = default;
};

struct CacheGeometries {
    CacheGeometry i1;
    CacheGeometry d1;
    CacheGeometry ll;    // the last one
    CacheGeometry l2{};  // between them; of no bytes if there is none

    constexpr bool has_l2() const { return l2.size_bytes != 0; }
};

// What is wrong with it, as the end of a sentence that begins with the geometry; null if it is legal. Any number
// of sets is legal.
const char* geometry_error(const CacheGeometry& geometry);

// Reads "<size>,<ways>,<line size>", in bytes. Null if the text has that form, else what is wrong with it;
// `*geometry` is then unspecified. The geometry may still be illegal.
const char* parse_geometry(std::string_view text, CacheGeometry* geometry);

}  // namespace bd
