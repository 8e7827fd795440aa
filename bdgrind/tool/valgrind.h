// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one door to Valgrind's tool interface: the only file that includes Valgrind's own headers. They are C, know
// nothing of C++ and have no extern "C", so the order here is not a matter of taste:
//  - pub_tool_basics.h and pub_tool_vki.h first and outside extern "C", because the latter defines a template when
//    it is compiled as C++;
//  - everything else inside extern "C", or its functions would get C++ names that libcoregrind does not have.
//
// Found through -isystem, so that warnings of these headers stay theirs.

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
}

#undef _Static_assert
