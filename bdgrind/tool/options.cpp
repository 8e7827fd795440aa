// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/options.h"

#include "tool/valgrind.h"

namespace bd {

constinit Options options;

namespace {

// Each reads a value. Null if it was fine, else what is wrong with it.

const char* read(std::string_view text, bool* flag) {
    if (text != "yes" && text != "no") return "it must be yes or no";
    *flag = text == "yes";
    return nullptr;
}

const char* read(std::string_view text, EngineThreadChoice* choice) {
    if (text != "yes" && text != "no" && text != "auto") return "it must be auto, yes or no";
    *choice = text == "yes" ? EngineThreadChoice::kYes : text == "no" ? EngineThreadChoice::kNo : EngineThreadChoice::kAuto;
    return nullptr;
}

const char* read(std::string_view text, const char** value) {
    if (text.empty()) return "it must not be empty";
    *value = text.data();  // the end of an argument, which the core keeps
    return nullptr;
}

const char* read(std::string_view text, CacheOption* cache) {
    const char* error = parse_geometry(text, &cache->geometry);
    if (error == nullptr) error = geometry_error(cache->geometry);
    cache->given = error == nullptr;
    return error;
}

// Whether `argument` is --name=value; reads the value then, or stops.
template <class Value>
bool take(std::string_view argument, std::string_view name, Value* value, const char* form) {
    if (!argument.starts_with("--")) return false;
    argument.remove_prefix(2);
    if (!argument.starts_with(name)) return false;
    argument.remove_prefix(name.size());
    if (!argument.starts_with('=')) return false;
    argument.remove_prefix(1);
    if (const char* error = read(argument, value); error != nullptr) {
        VG_(fmsg_bad_option)(name.data(), "'%s' is not a value for --%s=%s: %s.\n", argument.data(), name.data(),
                             form, error);
    }
    return true;
}

const char* text_of(bool flag) { return flag ? "yes" : "no"; }
const char* text_of(EngineThreadChoice choice) {
    return choice == EngineThreadChoice::kYes ? "yes" : choice == EngineThreadChoice::kNo ? "no" : "auto";
}
const char* text_of(const char* text) { return text == nullptr ? "none" : text; }
const char* text_of(const CacheOption&) { return "the machine's own"; }

// Prints an option as --help shows it: its name and form, then the help in a column of its own.
void print_option(const char* name, const char* form, const char* help, const char* initial) {
    constexpr Int kHelpColumn = 31;
    Int used = static_cast<Int>(VG_(printf)("    --%s=%s", name, form));
    if (used >= kHelpColumn) {
        VG_(printf)("\n");
        used = 0;
    }
    for (; used < kHelpColumn; ++used) VG_(printf)(" ");
    for (const char* c = help; *c != '\0'; ++c) {
        VG_(printf)("%c", *c);
        if (*c == '\n') VG_(printf)("%*s", kHelpColumn, "");
    }
    VG_(printf)(" [%s]\n", initial);
}

}  // namespace

bool take_option(const char* argument) {
#define BD_TAKE(kind, field, name, initial, form, help) \
    if (take(argument, name, &options.field, form)) return true;
#define BD_NO_GROUP(title)
    BD_OPTIONS(BD_TAKE, BD_NO_GROUP)
#undef BD_NO_GROUP
#undef BD_TAKE
    return false;
}

void print_usage() {
    const Options initial{};
#define BD_PRINT(kind, field, name, initially, form, help) \
    print_option(name, form, help, text_of(initial.field));
#define BD_PRINT_GROUP(title) VG_(printf)("\n   " title ":\n");
    BD_OPTIONS(BD_PRINT, BD_PRINT_GROUP)
#undef BD_PRINT_GROUP
#undef BD_PRINT
}

void print_debug_usage() {
    VG_(printf)("    (none)\n");
}

}  // namespace bd
