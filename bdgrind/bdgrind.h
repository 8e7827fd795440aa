/* SPDX-License-Identifier: BSD-2-Clause

   Copyright (C) 2026 the bdgrind authors

   Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
   following conditions are met:

   1. Redistributions of source code must retain the above copyright notice, this list of conditions and the
      following disclaimer.
   2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the
      following disclaimer in the documentation and/or other materials provided with the distribution.

   This software is provided by the copyright holders and contributors "as is" and any express or implied warranties,
   including, but not limited to, the implied warranties of merchantability and fitness for a particular purpose are
   disclaimed. In no event shall the copyright holder or contributors be liable for any direct, indirect, incidental,
   special, exemplary, or consequential damages (including, but not limited to, procurement of substitute goods or
   services; loss of use, data, or profits; or business interruption) however caused and on any theory of liability,
   whether in contract, strict liability, or tort (including negligence or otherwise) arising in any way out of the
   use of this software, even if advised of the possibility of such damage.

   ----------------------------------------------------------------------------------------------------------------

   For programs that steer their own profiling. This file alone has the licence above, so that you can include it in
   any program; bdgrind itself is under the GNU General Public License.

   Each macro is a statement. Outside of Valgrind it does nothing, and takes a few instructions for that. Under
   another tool of Valgrind's it does nothing, either.

   The requests of callgrind.h work under bdgrind as well, and mean the same: a program that has them needs no
   change. So do cachegrind.h's for starting and stopping.  */

#ifndef BDGRIND_H
#define BDGRIND_H

/* Beside this file, or where the compiler knows it. */
#if defined(__has_include)
#if __has_include("valgrind.h")
#include "valgrind.h"
#else
#include <valgrind/valgrind.h>
#endif
#else
#include "valgrind.h"
#endif

/* The numbers are fixed: programs are compiled with them. New ones go to the end.  */
typedef enum {
    BDGRIND_REQUEST_DUMP = VG_USERREQ_TOOL_BASE('B', 'D'),
    BDGRIND_REQUEST_DUMP_AT,
    BDGRIND_REQUEST_ZERO,
    BDGRIND_REQUEST_TOGGLE_COLLECT,
    BDGRIND_REQUEST_START_INSTRUMENTATION,
    BDGRIND_REQUEST_STOP_INSTRUMENTATION
} BdgrindRequest;

/* Write what has been counted since the last dump into a file of its own, and count from zero again. What is cached
   stays cached, and calls stay open: all the parts together are the whole profile. With --separate-threads=yes, this
   is about the current thread only.  */
#define BDGRIND_DUMP_STATS VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_DUMP, 0, 0, 0, 0, 0)

/* The same, and the text (const char*) is written into the file as the reason.  */
#define BDGRIND_DUMP_STATS_AT(text) VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_DUMP_AT, (text), 0, 0, 0, 0)

/* Forget what has been counted since the last dump (--separate-threads=yes: by the current thread).  */
#define BDGRIND_ZERO_STATS VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_ZERO, 0, 0, 0, 0, 0)

/* From here on, the current thread collects costs if it did not so far, and else it does not. The caches and calls
   are followed all the same. See --collect-atstart and --toggle-collect.  */
#define BDGRIND_TOGGLE_COLLECT VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_TOGGLE_COLLECT, 0, 0, 0, 0, 0)

/* Observe the program, or let it run unobserved and almost as fast as under --tool=none. Stopping empties the
   simulated caches and forgets which calls are open; code that runs when it starts again has no callers. See
   --instr-atstart.  */
#define BDGRIND_START_INSTRUMENTATION \
    VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_START_INSTRUMENTATION, 0, 0, 0, 0, 0)
#define BDGRIND_STOP_INSTRUMENTATION \
    VALGRIND_DO_CLIENT_REQUEST_STMT(BDGRIND_REQUEST_STOP_INSTRUMENTATION, 0, 0, 0, 0, 0)

#endif
