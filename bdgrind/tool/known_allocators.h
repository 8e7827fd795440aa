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

// Whether allocators are known to end by jumping to this function, as calloc() does to memset(). There may be stubs in
// between, so that nobody can see it when the code is translated.
bool may_end_allocator(const Function& function);

}  // namespace bd
