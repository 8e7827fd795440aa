// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_processors.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/sharing/coherence_marks.h"
#include "tool/options.h"

namespace bd {
namespace {

struct Placement {
    Int id = 0;                              // the kernel's; 0: not known
    std::uint32_t processor = 0;             // see only_processor()
    ThreadId created = VG_INVALID_THREADID;  // by the call that it is in
};

// By Valgrind's number. Null: not wanted.
constinit Placement* placements = nullptr;

bool are_wanted() {
    if (options.cores.count == 0 || options.cores.count == kMostCores) return false;
    if (placements == nullptr) {
        placements = new Placement[VG_N_THREADS]();
        placements[1].id = VG_(getpid)();
    }
    return true;
}

// Of a mask that the kernel has read, up to the last processor that there can be. Memory behind may be unreadable.
std::uint32_t only_one_of(Addr address, SizeT bytes) {
    const auto* const mask = reinterpret_cast<const unsigned char*>(address);
    std::uint32_t found = 0;
    for (SizeT i = 0; i < bytes && VG_(am_is_valid_for_client)(address + i, 1, VKI_PROT_READ); ++i) {
        if (mask[i] == 0) continue;
        if (found != 0 || !std::has_single_bit(mask[i])) return 0;
        found = 1 + static_cast<std::uint32_t>(8 * i + static_cast<SizeT>(std::countr_zero(mask[i])));
    }
    return found;
}

}  // namespace

std::uint32_t only_processor(ThreadId thread) {
    return placements == nullptr ? 0 : placements[thread].processor;
}

void processors_are_inherited(ThreadId creator, ThreadId thread) {
    if (!are_wanted()) return;
    placements[thread] = {.processor = placements[creator].processor};
    placements[creator].created = thread;
}

bool processors_may_change(ThreadId thread, UInt number, const UWord* arguments, SysRes result) {
    if ((number != __NR_clone && number != __NR_sched_setaffinity) || sr_isError(result) || !are_wanted()) {
        return false;
    }
    if (number == __NR_clone) {
        const ThreadId created = std::exchange(placements[thread].created, VG_INVALID_THREADID);
        if (created != VG_INVALID_THREADID) placements[created].id = static_cast<Int>(sr_Res(result));
        return false;
    }
    constexpr UWord kMostBytes = 1024;
    const std::uint32_t processor = only_one_of(arguments[2], std::min(arguments[1], kMostBytes));
    const auto id = static_cast<Int>(arguments[0]);
    ThreadId changed = thread;
    if (id != 0 && id != placements[thread].id) {
        for (changed = 1; changed < VG_N_THREADS && placements[changed].id != id;) ++changed;
        if (changed == VG_N_THREADS) return false;  // of another process
    }
    return std::exchange(placements[changed].processor, processor) != processor && changed == thread;
}

void keep_processors_of(ThreadId thread) {
    if (placements == nullptr) return;
    for (ThreadId other = 1; other < VG_N_THREADS; ++other) {
        if (other != thread) placements[other] = {};
    }
    placements[thread].id = VG_(getpid)();
}

}  // namespace bd
