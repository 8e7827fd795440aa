// SPDX-License-Identifier: GPL-2.0-or-later
//
// Registers the tool with Valgrind's core, and passes on what the core tells it.

#include "tool/client_requests.h"
#include "tool/mappings.h"
#include "tool/options.h"
#include "tool/session.h"
#include "tool/system_calls.h"
#include "tool/threads.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

void post_clo_init() {
    session = new Session;
    watch_system_calls();
    if (session->tells_objects_apart()) watch_mappings();
}

IRSB* instrument(VgCallbackClosure*, IRSB* block, const VexGuestLayout* layout, const VexGuestExtents*,
                 const VexArchInfo*, IRType guest_word_type, IRType host_word_type) {
    // The trace holds guest addresses in host words.
    if (guest_word_type != host_word_type) VG_(tool_panic)("guest and host have words of different size");
    return session->instrument(block, *layout, host_word_type);
}

// The core does not know the guest's exit status at this point; the argument is always 0.
void finish(Int) {
    session->finish();
}

Bool process_option(const HChar* argument) {
    return take_option(argument) ? True : False;
}

void pre_clo_init() {
    VG_(details_name)("bdgrind");
    VG_(details_version)(PACKAGE_VERSION);
    VG_(details_description)("a profiler of cache use that charges calls for what they waste");
    VG_(details_copyright_author)("Copyright (C) 2026, and GNU GPL'd, by the bdgrind authors.");
    VG_(details_bug_reports_to)("the place you got bdgrind from");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(post_clo_init, instrument, finish);
    VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
    watch_threads();
    take_client_requests();

    // A block must end where a call or a return may be: VEX must not follow branches nor unroll loops.
    VG_(clo_vex_control).guest_chase = False;
    VG_(clo_vex_control).iropt_unroll_thresh = 0;
    // Only a fault looks at the guest's registers within a block: as under Callgrind, it may be reported some
    // instructions too early, but the others need not store their addresses. (0.98 of all time. --px-default and
    // --px-file-backed have the last word.)
    VG_(clo_vex_control).iropt_register_updates_default = VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
}

}  // namespace
}  // namespace bd

VG_DETERMINE_INTERFACE_VERSION(bd::pre_clo_init)
