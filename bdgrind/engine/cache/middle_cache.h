// SPDX-License-Identifier: GPL-2.0-or-later
//
// The data of a Hierarchy about L2, if there is one between L1 and LL. Hierarchies of two levels do not have it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/base/geometry.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/reuse.h"
#include "engine/cache/touched_lines.h"

namespace bd {

// `Use`: the use of a line in L2. `LastUse`: in LL.
template <CacheTraits kTraits, class Use, class LastUse>
class MiddleCache {
public:
    using Lines = CacheLines<Use>;

    // `write_back`: whether lines may be dirty.
    MiddleCache(const CacheGeometries& caches, PagePlacement* pages, bool write_back, ReuseRules rules)
        : lines(caches.l2, pages),
          touched(lines.size(), rules),
          last_uses(kTraits.line_use && caches.is_exclusive() ? lines.size() : 0),
          dirty(write_back ? static_cast<std::size_t>(caches.l2.lines()) : 0),
          bits_(caches.l2.line_bits()) {}

    unsigned line_bits() const { return kTraits.common_lines ? 6 : bits_; }
    LineNumber line_of(Address address) const { return LineNumber{address >> line_bits()}; }

    struct NotTouched {
        NotTouched(std::uint32_t, ReuseRules) {}
        void clear() {}
    };

    Lines lines;
    [[no_unique_address]] std::conditional_t<kTraits.why, TouchedLines, NotTouched> touched;
    // By index, if LL is exclusive: the use of a line since it was loaded from memory, without that in L2 and in front.
    ZeroedArray<LastUse> last_uses;
    ZeroedArray<bool> dirty;  // by index: whether it was written to, and not written back to LL or memory yet

private:
    unsigned bits_;
};

}  // namespace bd
