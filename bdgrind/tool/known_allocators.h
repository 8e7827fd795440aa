// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is known of functions that allocate and free, by their names and where they are: those of C, C++, POSIX and
// Rust, and of libraries that take the place of C's or stand beside it.

#pragma once

#include <string_view>

#include "engine/program/symbols.h"

namespace bd {

// What the function `name` of the object file `object` does, both as the core tells them; of kind kNone if that is not
// known. C++ names may be demangled or not.
AllocatorRole known_allocator(std::string_view name, std::string_view object);

// Whether the name says that the function allocates for its callers, as that of a program's xmalloc() does: it has
// "alloc" in it, or "strdup" and the like. So do functions of the C++ library, whatever they are called.
bool is_named_as_wrapper(std::string_view name);

// Whether allocators are known to end by jumping to this function, as calloc() does to memset(). There may be stubs in
// between, so that it cannot be seen when the code is translated.
bool may_end_allocator(const Function& function);

}  // namespace bd
