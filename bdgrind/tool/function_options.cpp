// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/function_options.h"

#include <algorithm>
#include <string_view>

#include "tool/known_allocators.h"
#include "tool/name_pattern.h"

namespace bd {
namespace {

// Each of the patterns is asked, also behind one that has matched: see write_unmatched.
template <class Matches>
const PatternOption* last_match(const PatternList& patterns, Matches matches) {
    const PatternOption* last = nullptr;
    for (const PatternOption& option : patterns) {
        if (!matches(option.pattern)) continue;
        option.matched = true;
        last = &option;
    }
    return last;
}

bool any_names(const PatternList& patterns, const Function& function) {
    return last_match(patterns, [&](const char* pattern) { return matches_function(pattern, function.name); }) !=
           nullptr;
}

// The number that the last matching pattern comes with; `otherwise`, if none matches.
std::uint32_t number_for(const PatternList& patterns, const Function& function, std::uint32_t otherwise) {
    const PatternOption* const last =
        last_match(patterns, [&](const char* pattern) { return matches_function(pattern, function.name); });
    return last == nullptr ? otherwise : last->number;
}

// What the user says of a function goes before what is known of its name.
AllocatorRole allocator_role(const Options& given, const Function& function) {
    const auto argument = [&](const PatternList& first, const PatternList& numbered) {
        const bool is_first = any_names(first, function);
        return static_cast<std::uint8_t>(number_for(numbered, function, is_first ? 1 : 0));
    };
    const std::uint8_t size = argument(given.alloc_fn, given.alloc_fn_of);
    const std::uint8_t block = argument(given.free_fn, given.free_fn_of);
    if (size != 0) return {.kind = AllocatorKind::kAllocates, .size = size, .may_be_within = true};
    if (block != 0) return {.kind = AllocatorKind::kFrees, .block = block};
    return known_allocator(function.name, function.object->name);
}

// They are only looked at with --objects=yes.
bool is_of_objects(std::string_view option_name) {
    return option_name.starts_with("alloc-fn") || option_name.starts_with("free-fn");
}

// One line for each value of an option that has not matched; other kinds of options have none.
template <class Value>
void write_unmatched_of(TextOutput&, std::string_view, const Value&) {}
void write_unmatched_of(TextOutput& out, std::string_view option_name, const PatternList& patterns) {
    constexpr std::string_view kNumber = "<n>";
    const bool numbered = option_name.ends_with(kNumber);
    if (numbered) option_name.remove_suffix(kNumber.size());
    for (const PatternOption& option : patterns) {
        if (option.matched) continue;
        out << "--" << option_name;
        if (numbered) out << option.number;
        out << '=' << option.pattern << ": no "
            << (option_name.starts_with("obj-") ? "code of such an object file" : "function of that name")
            << " has run.\n";
    }
}

void write_unmatched_of(TextOutput& out, std::string_view option_name, const PathOption& paths) {
    write_unmatched_of(out, option_name, static_cast<const PatternList&>(paths));
}

}  // namespace

void FunctionOptions::apply(Function& function) const {
    function.caller_count = number_for(options_.separate_callers_of, function, options_.separate_callers);
    function.recursion_levels =
        std::max(1u, number_for(options_.separate_recs_of, function, options_.separate_recs));
    const bool object_skipped = last_match(options_.obj_skip, [&](const char* pattern) {
                                    return matches_object(pattern, function.object->name);
                                }) != nullptr;
    const bool function_skipped = any_names(options_.fn_skip, function);
    if (object_skipped || function_skipped) function.skipped = true;
    function.follows_paths = any_names(options_.paths, function) || options_.paths.all;
    if (options_.objects) {
        function.allocator = allocator_role(options_, function);
        function.ends_allocator = may_end_allocator(function);
        function.wraps_allocators = is_named_as_wrapper(function.name);
    }
    function.triggers = {.dump_before = any_names(options_.dump_before, function),
                         .zero_before = any_names(options_.zero_before, function),
                         .dump_after = any_names(options_.dump_after, function),
                         .toggle_collect = any_names(options_.toggle_collect, function)};
}

void write_unmatched(TextOutput& out, const Options& given) {
#define BD_UNMATCHED(kind, field, name, initial, form, help) \
    if (given.objects || !is_of_objects(name)) write_unmatched_of(out, name, given.field);
#define BD_NO_GROUP(title)
    BD_OPTIONS(BD_UNMATCHED, BD_NO_GROUP)
#undef BD_NO_GROUP
#undef BD_UNMATCHED
}

ContextRules context_rules(const Options& given) {
    return {.skip_direct_recursion = given.skip_direct_rec,
            .separate_callers = given.separate_callers != 0 || !given.separate_callers_of.empty()};
}

}  // namespace bd
