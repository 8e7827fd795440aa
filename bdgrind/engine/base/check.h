// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checks for our own bugs. A failed check never returns: it prints the expression and, for comparisons, both
// operands. Users' mistakes are not checked with these; validators return messages for them.

#pragma once

#include <cstdint>

namespace bd {

// The program that links the engine supplies this: the tool stops Valgrind with the message, the hosted build
// prints it and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* what, std::uint64_t left, std::uint64_t right);

}  // namespace bd

#define BD_CHECK(condition)                                                   \
    (__builtin_expect(static_cast<bool>(condition), 1) ? static_cast<void>(0) \
                                                       : ::bd::check_failed(__FILE__, __LINE__, #condition, 0, 0))

// `op` is a comparison; both sides are evaluated once.
#define BD_CHECK_OP(left, op, right)                                                                              \
    do {                                                                                                          \
        const auto bd_left = (left);                                                                              \
        const auto bd_right = (right);                                                                            \
        if (!__builtin_expect(bd_left op bd_right, 1))                                                            \
            ::bd::check_failed(__FILE__, __LINE__, #left " " #op " " #right, static_cast<std::uint64_t>(bd_left), \
                               static_cast<std::uint64_t>(bd_right));                                             \
    } while (false)

#ifdef BD_DEBUG
#define BD_DCHECK(condition) BD_CHECK(condition)
#else
#define BD_DCHECK(condition) static_cast<void>(0)
#endif
