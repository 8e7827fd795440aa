// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -pthread -fno-builtin -static
//
// The same without a dynamic linker.

#include "thread_locals.c"
