// SPDX-License-Identifier: GPL-2.0-or-later
//
// For libFuzzer: each line that begins with "--" is an argument, all others are names of functions. Whatever they are,
// an option is taken, refused with a sentence, or not bdgrind's; what has been taken makes a configuration that an
// engine can work with; and the patterns match what they say.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "tool/function_options.h"
#include "tool/name_pattern.h"

namespace {

class Nowhere final : public bd::TextOutput {
    bool write(std::string_view) override { return true; }
};

// By definition: whether the first i characters of the pattern match the first j of the name, for all of both.
bool matches_by_table(std::string_view pattern, std::string_view name) {
    std::vector<bool> row(name.size() + 1, false);
    row[0] = true;
    for (const char c : pattern) {
        std::vector<bool> next(name.size() + 1, false);
        next[0] = c == '*' && row[0];
        for (std::size_t j = 1; j <= name.size(); ++j) {
            next[j] = c == '*' ? row[j] || next[j - 1] : row[j - 1] && (c == '?' || c == name[j - 1]);
        }
        row = next;
    }
    return row[name.size()];
}

void check_patterns(const bd::PatternList& patterns, const std::vector<std::string>& names) {
    for (const bd::PatternOption& option : patterns) {
        for (const std::string& name : names) {
            BD_CHECK(bd::matches_pattern(option.pattern, name) == matches_by_table(option.pattern, name));
        }
    }
}

void check_geometry(const bd::CacheOption& cache) {
    if (cache.given) BD_CHECK(bd::geometry_error(cache.geometry) == nullptr);
}

}  // namespace

// The patterns of options are never freed.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> arguments;
    std::vector<std::string> names;
    std::string line;
    for (std::size_t i = 0; i <= size; ++i) {
        // No argument has a zero byte in it, and no name.
        if (i < size && data[i] != '\n' && data[i] != '\0') {
            line += static_cast<char>(data[i]);
            continue;
        }
        (line.starts_with("--") ? arguments : names).push_back(line);
        line.clear();
    }

    bd::Options options;
    for (const std::string& argument : arguments) {
        bd::OptionError error;
        if (!bd::parse_option(argument.c_str(), &options, &error)) continue;
        BD_CHECK(error.name != nullptr && error.form != nullptr && error.value != nullptr);
        BD_CHECK(argument.ends_with(error.value));
        BD_CHECK(error.message == nullptr || *error.message != '\0');
    }
    check_geometry(options.i1);
    check_geometry(options.d1);
    check_geometry(options.ll);
    check_patterns(options.fn_skip, names);
    check_patterns(options.toggle_collect, names);

    const bd::CacheGeometries machine{.i1 = {4096, 4, 64}, .d1 = {2048, 2, 64}, .ll = {49152, 12, 64}};
    const bd::EngineConfig config = bd::engine_config(options, machine);
    BD_CHECK(config.context_tree_rules.most_nodes <= bd::ContextTree::kMostNodes);
    BD_CHECK(config.object_rules.depth >= 1 && config.object_rules.depth <= bd::ObjectRules::kMostDepth);

    const bd::FunctionOptions rules(options);
    bd::SymbolTable symbols(&rules);
    const bd::ObjectFile& object = symbols.object("/usr/bin/program");
    for (const std::string& name : names) {
        const bd::Function& function = symbols.function(name, symbols.file("program.c"), object);
        BD_CHECK(function.recursion_levels >= 1);
        BD_CHECK(name.starts_with(bd::without_parameters(name)));
    }
    Nowhere out;
    bd::write_unmatched(out, options);
    return 0;
}
