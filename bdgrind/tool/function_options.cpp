// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/function_options.h"

#include <algorithm>

#include "tool/name_pattern.h"

namespace bd {
namespace {

bool any_names(const PatternList& patterns, const Function& function) {
    return std::ranges::any_of(patterns, [&](const PatternOption& option) {
        return matches_function(option.pattern, function.name);
    });
}

// The number that the last matching pattern comes with; `otherwise`, if none matches.
std::uint32_t number_for(const PatternList& patterns, const Function& function, std::uint32_t otherwise) {
    for (const PatternOption& option : patterns) {
        if (matches_function(option.pattern, function.name)) otherwise = option.number;
    }
    return otherwise;
}

}  // namespace

void FunctionOptions::apply(Function& function) const {
    function.caller_count = number_for(options_.separate_callers_of, function, options_.separate_callers);
    function.recursion_levels =
        std::max(1u, number_for(options_.separate_recs_of, function, options_.separate_recs));
    const bool object_skipped = std::ranges::any_of(options_.obj_skip, [&](const PatternOption& option) {
        return matches_object(option.pattern, function.object->name);
    });
    if (object_skipped || any_names(options_.fn_skip, function)) function.skipped = true;
    function.triggers = {.dump_before = any_names(options_.dump_before, function),
                         .zero_before = any_names(options_.zero_before, function),
                         .dump_after = any_names(options_.dump_after, function),
                         .toggle_collect = any_names(options_.toggle_collect, function)};
}

ContextRules context_rules(const Options& given) {
    return {.skip_direct_recursion = given.skip_direct_rec,
            .separate_callers = given.separate_callers != 0 || !given.separate_callers_of.empty()};
}

}  // namespace bd
