// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_visibility.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tool/guest_text.h"
#include "tool/trace_buffer.h"

namespace bd {

#if defined(VGP_amd64_linux)

namespace {

// Numbers of the kernel's that not all of Valgrind's headers have.
constexpr UWord kPtraceTraceMe = 0;
constexpr UWord kSetSeccomp = 22;    // of prctl
constexpr UWord kDropBounding = 24;
constexpr UWord kSetSecureBits = 28;
constexpr UWord kSetNoNewPrivileges = 38;
constexpr UWord kAmbientCapability = 47;

// How long the guest could tell.
enum class Sight : std::uint8_t {
    kNever,
    kDuring,   // the call
    kForGood,  // and from then on, if it succeeds
    kFile,     // as long as the file is open that it opens
};

// By guest thread: of its system call. If a signal interrupts one, it may be begun twice and ended once.
constinit Sight* during = nullptr;

// Files that show the threads, by descriptor. One beyond these is not followed: it is taken to be open for good.
constexpr UWord kFiles = 1024;
constinit std::uint64_t shows[kFiles / 64]{};

bool shows_threads(UWord file) {
    return file < kFiles && (shows[file / 64] >> file % 64 & 1) != 0;
}

// Below /proc, or perhaps, as it depends on a folder: a process's task, stat or status.
bool names_threads(UWord address) {
    constexpr std::string_view kFolder = "/proc/";
    char text[64];
    // Most paths are elsewhere, and that is seen at once.
    const std::string_view start = read_guest_text(address, std::span(text).first(kFolder.size()));
    if (start.empty() || (start.front() == '/' && start != kFolder)) return false;
    const std::string_view path = read_guest_text(address, text);
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view name = path.substr(begin, end - begin);
        if (name == "task" || (end == path.size() && (name == "stat" || name == "status"))) return true;
        begin = end + 1;
    }
    return false;
}

Sight sight(UInt number, const UWord* arguments) {
    switch (number) {
        // Only for a process of one thread, or one that does not share its folders.
        case __NR_unshare:
        case __NR_setns:
        // Whose rights a thread has.
        case __NR_setuid:
        case __NR_setgid:
        case __NR_setreuid:
        case __NR_setregid:
        case __NR_setresuid:
        case __NR_setresgid:
        case __NR_setfsuid:
        case __NR_setfsgid:
        case __NR_setgroups:
        case __NR_capset:
        case __NR_keyctl:
        // When and where it runs.
        case __NR_setpriority:
        case __NR_ioprio_set:
        case __NR_sched_setaffinity:
        case __NR_sched_setparam:
        case __NR_sched_setscheduler:
        case __NR_sched_setattr:
        case __NR_set_mempolicy:
            return Sight::kDuring;
        case __NR_prctl:
            switch (arguments[0]) {
                case kSetSeccomp:
                    return Sight::kForGood;
                case kDropBounding:
                case kSetSecureBits:
                case kSetNoNewPrivileges:
                case kAmbientCapability:
                    return Sight::kDuring;
                default:
                    return Sight::kNever;
            }
        // Whatever the filter is about.
        case __NR_seccomp:
            return Sight::kForGood;
        case __NR_ptrace:
            return arguments[0] == kPtraceTraceMe ? Sight::kForGood : Sight::kNever;
        case __NR_open:
            return names_threads(arguments[0]) ? Sight::kFile : Sight::kNever;
        case __NR_openat:
            return names_threads(arguments[1]) ? Sight::kFile : Sight::kNever;
        case __NR_stat:
        case __NR_lstat:
            return names_threads(arguments[0]) ? Sight::kDuring : Sight::kNever;
        case __NR_newfstatat:
        case __NR_statx:
            return names_threads(arguments[1]) ? Sight::kDuring : Sight::kNever;
        default:
            return Sight::kNever;
    }
}

}  // namespace

void hide_thread_before(ThreadId thread, UInt number, const UWord* arguments) {
    const Sight seen = sight(number, arguments);
    if (seen == Sight::kNever) return;
    if (during == nullptr) during = new Sight[VG_N_THREADS]{};
    if (during[thread] == Sight::kNever) hold_threads();
    during[thread] = seen;
}

void show_thread_after(ThreadId thread, UInt number, const UWord* arguments, SysRes result) {
    if (number == __NR_close && shows_threads(arguments[0])) {
        shows[arguments[0] / 64] &= ~(std::uint64_t{1} << arguments[0] % 64);
        unhold_threads();
    }
    if (during == nullptr || during[thread] == Sight::kNever) return;
    const Sight seen = std::exchange(during[thread], Sight::kNever);
    if (!sr_isError(result)) {
        if (seen == Sight::kForGood) return;
        if (const UWord file = sr_Res(result); seen == Sight::kFile && !shows_threads(file)) {
            if (file < kFiles) shows[file / 64] |= std::uint64_t{1} << file % 64;
            return;
        }
    }
    unhold_threads();
}

#else

void hide_thread_before(ThreadId, UInt, const UWord*) {}
void show_thread_after(ThreadId, UInt, const UWord*, SysRes) {}

#endif

}  // namespace bd
