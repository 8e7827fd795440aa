// SPDX-License-Identifier: GPL-2.0-or-later
//
// Patterns for names of functions and objects, as options take them: '*' stands for any characters, '?' for one.

#pragma once

#include <string_view>

namespace bd {

bool matches_pattern(std::string_view pattern, std::string_view name);

// The name of a C++ function without its parameters and what follows them: "N::f(int) const [clone .cold]" is "N::f".
// Other names as they are.
std::string_view without_parameters(std::string_view function_name);

// C++ functions may be named with or without their parameters.
inline bool matches_function(std::string_view pattern, std::string_view function_name) {
    return matches_pattern(pattern, function_name) || matches_pattern(pattern, without_parameters(function_name));
}

// Objects may be named with or without their folder.
inline bool matches_object(std::string_view pattern, std::string_view path) {
    return matches_pattern(pattern, path) || matches_pattern(pattern, path.substr(path.rfind('/') + 1));
}

}  // namespace bd
