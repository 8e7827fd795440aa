// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one door to Valgrind's tool interface: the only file that includes Valgrind's own headers. They are C, know
// nothing of C++ and have no extern "C", so the order here is not a matter of taste:
//  - pub_tool_basics.h and pub_tool_vki.h first and outside extern "C", because the latter defines a template when
//    it is compiled as C++;
//  - everything else inside extern "C", or its functions would get C++ names that libcoregrind does not have.
//
// Found through -isystem, so that warnings of these headers stay theirs.
//
// What differs between versions of Valgrind, from 3.16 to 3.27, is here, too, and nowhere else in the tool.

#pragma once

// C's spelling, in the headers of Valgrind 3.27.
#define _Static_assert static_assert

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

extern "C" {
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_clreq.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_gdbserver.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_transtab.h"
#include "pub_tool_vkiscnums.h"

// Not declared for tools, but linked with them, and the same since Valgrind 3.19 and before.
// Moves a file descriptor to where the guest cannot reach it; closed when another program is executed.
Int VG_(safe_fd)(Int fd);
// Takes one of these signals off those that are pending; 0: there is none.
Int VG_(sigtimedwait_zero)(const vki_sigset_t* set, vki_siginfo_t* info);
// Throws away what is translated of this range. (What is declared for tools fails an assertion but in client requests.)
// Not while code runs, nor when it is about to.
void VG_(discard_translations)(Addr start, ULong range, const HChar* who);
// Whether the core would execute this file.
SysRes VG_(pre_exec_check)(const HChar* path, Int* fd, Bool allow_setuid);
}

#undef _Static_assert

// What Linux has and Valgrind's headers leave out.
namespace bd {

inline constexpr int kNameTooLong = 36;  // ENAMETOOLONG
inline constexpr int kTooManyLinks = 40;  // ELOOP, which those of 3.16 leave out
inline constexpr int kDiskQuota = 122;   // EDQUOT
inline constexpr int kOpenPathOnly = 010000000;  // O_PATH
#if defined(VGA_amd64) || defined(VGA_x86)
inline constexpr int kOpenNoFollow = 0400000;  // O_NOFOLLOW
#else
inline constexpr int kOpenNoFollow = 0100000;
#endif

// VG_(am_shadow_alloc) returns a pointer before 3.24 and a SysRes since.
inline void* address_or_null(void* memory) {
    return memory;
}
inline void* address_or_null(SysRes result) {
    return sr_isError(result) ? nullptr : reinterpret_cast<void*>(sr_Res(result));
}

}  // namespace bd
