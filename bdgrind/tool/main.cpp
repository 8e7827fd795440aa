// SPDX-License-Identifier: GPL-2.0-or-later
//
// Registers the tool with Valgrind's core.

#include "tool/valgrind.h"

namespace bd {
namespace {

void post_clo_init() {}

IRSB* instrument(VgCallbackClosure*, IRSB* block, const VexGuestLayout*, const VexGuestExtents*, const VexArchInfo*,
                 IRType, IRType) {
    return block;
}

void finish(Int) {}

void pre_clo_init() {
    VG_(details_name)("bdgrind");
    VG_(details_version)(PACKAGE_VERSION);
    VG_(details_description)("a cache-use profiler that charges unused bytes to the calls that loaded them");
    VG_(details_copyright_author)("Copyright (C) 2026, and GNU GPL'd, by the bdgrind authors.");
    VG_(details_bug_reports_to)("the place you got bdgrind from");
    VG_(basic_tool_funcs)(post_clo_init, instrument, finish);
}

}  // namespace
}  // namespace bd

VG_DETERMINE_INTERFACE_VERSION(bd::pre_clo_init)
