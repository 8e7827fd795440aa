// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the engine needs from whoever links it, in an ordinary program; in the tool it is tool/runtime.cpp.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "engine/check.h"

namespace bd {

void check_failed(const char* file, int line, const char* what, std::uint64_t left, std::uint64_t right) {
    std::fprintf(stderr, "%s:%d: check failed: %s (left %" PRIu64 ", right %" PRIu64 ")\n", file, line, what, left,
                 right);
    std::abort();
}

}  // namespace bd
