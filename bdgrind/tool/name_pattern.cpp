// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/name_pattern.h"

#include <cstddef>

namespace bd {

bool matches_pattern(std::string_view pattern, std::string_view name) {
    constexpr std::size_t kNone = std::string_view::npos;
    std::size_t at = 0;
    std::size_t star = kNone;      // the latest star, to come back to
    std::size_t star_end = 0;      // where in the name what it stands for ends
    for (std::size_t i = 0; i < name.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_end = i;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
            ++at;
            ++i;
        } else if (star != kNone) {
            at = star + 1;
            i = ++star_end;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == kNone;
}

namespace {

// Takes `end` off the end of `text`, if it is there.
bool take_off_end(std::string_view& text, std::string_view end) {
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
}

// The place of the bracket that the last character of `text` closes; npos: there is none.
std::size_t opening_bracket(std::string_view text, char open, char close) {
    std::size_t depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
        if (text[i] == close) ++depth;
        if (text[i] == open && --depth == 0) return i;
    }
    return std::string_view::npos;
}

}  // namespace

std::string_view without_parameters(std::string_view function_name) {
    std::string_view name = function_name;
    while (name.ends_with(']')) {
        const std::size_t clone = name.rfind(" [clone ");
        if (clone == std::string_view::npos) return function_name;
        name = name.substr(0, clone);
    }
    while (take_off_end(name, " const") || take_off_end(name, " volatile") || take_off_end(name, " &") ||
           take_off_end(name, "&")) {
    }
    if (!name.ends_with(')')) return function_name;
    const std::size_t parameters = opening_bracket(name, '(', ')');
    // "(below main)" is a name.
    if (parameters == std::string_view::npos || parameters == 0) return function_name;
    return name.substr(0, parameters);
}

}  // namespace bd
