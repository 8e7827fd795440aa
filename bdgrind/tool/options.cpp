// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/options.h"

#include <concepts>

#include "tool/machine_list.h"
#include "tool/output.h"
#include "tool/valgrind.h"

namespace bd {

constinit Options options;

namespace {

const char* text_of(bool flag) { return flag ? "yes" : "no"; }
const char* text_of(Choice choice) {
    return choice == Choice::kYes ? "yes" : choice == Choice::kNo ? "no" : "auto";
}
const char* text_of(TreeChoice choice) {
    return choice == TreeChoice::kNo ? "no" : choice == TreeChoice::kYes ? "yes" : "sites";
}

const char* text_of(WhyChoice choice) {
    return choice == WhyChoice::kNo ? "no" : choice == WhyChoice::kYes ? "yes" : "causes";
}
const char* text_of(CoreCount) { return "no"; }
const char* text_of(PlacementCount) { return "no"; }
const char* text_of(EngineThreadCount) { return "auto"; }
const char* text_of(const SampleOption&) { return "no"; }
const char* text_of(CoherenceChoice choice) {
    return choice == CoherenceChoice::kAuto ? "auto" : choice == CoherenceChoice::kMesi ? "mesi" : "moesi";
}
const char* text_of(ThreadOrder order) { return order == ThreadOrder::kVirtual ? "virtual" : "valgrind"; }
const char* text_of(ContextRecursion recursion) {
    return recursion == ContextRecursion::kFolded ? "folded" : "apart";
}
const char* text_of(SystemTime unit) { return unit == SystemTime::kNo ? "no" : "yes"; }
const char* text_of(const char* text) { return text == nullptr ? "none" : text; }
template <std::unsigned_integral Number>
const char* text_of(Number number) {
    static char digits[24];
    VG_(sprintf)(digits, "%llu", static_cast<ULong>(number));
    return digits;
}
const char* text_of(const PatternList&) { return "none"; }
const char* text_of(const PathOption&) { return "no"; }
const char* text_of(const CacheOption&) { return "the machine's own"; }
const char* text_of(const MiddleCacheOption&) { return "no"; }
const char* text_of(const PolicyOption&) { return "lru"; }
const char* text_of(const IndexOption&) { return "bits"; }
const char* text_of(const InclusionOption&) { return "none"; }
const char* text_of(const PagesOption&) { return "virtual"; }
const char* text_of(const PrefetchOption&) { return "no"; }
const char* text_of(const TlbOption&) { return "no"; }
const char* text_of(const MachineOption&) { return "this machine's first and last level"; }

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
    OptionError error;
    if (!parse_option(argument, &options, &error)) return false;
    if (error.message != nullptr) {
        VG_(fmsg_bad_option)(error.name, "'%s' is not a value for --%s=%s: %s.\n", error.value, error.name, error.form,
                             error.message);
    }
    if (options.machine.lists) {
        TextBuffer list;
        write_machine_list(list);
        VG_(printf)("%s", list.c_str());
        VG_(exit)(0);
    }
    return true;
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
    VG_(printf)("    --earlier-parts=<n>        internal: what bdgrind passes on when the process executes\n"
                "    --parents-file=<file>      another program, so that it overwrites nothing\n");
}

}  // namespace bd
