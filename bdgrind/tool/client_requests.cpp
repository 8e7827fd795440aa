// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/client_requests.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "bdgrind.h"
#include "tool/guest_text.h"
#include "tool/monitor.h"
#include "tool/session.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

enum class Action { kDump, kDumpAt, kZero, kToggleCollect, kStart, kStop };

// The requests of one header, by their number from `first` on.
struct Requests {
    UWord first;
    std::span<const Action> actions;
};

constexpr Action kOwn[] = {Action::kDump,          Action::kDumpAt, Action::kZero,
                           Action::kToggleCollect, Action::kStart,  Action::kStop};
constexpr Action kCallgrinds[] = {Action::kDump,   Action::kZero,  Action::kToggleCollect,
                                  Action::kDumpAt, Action::kStart, Action::kStop};
constexpr Action kCachegrinds[] = {Action::kStart, Action::kStop};

constexpr Requests kRequests[] = {
    {BDGRIND_REQUEST_DUMP, kOwn},
    {VG_USERREQ_TOOL_BASE('C', 'T'), kCallgrinds},
    {VG_USERREQ_TOOL_BASE('C', 'G'), kCachegrinds},
};

void dump_at(ThreadId thread, Addr text) {
    char buffer[512];
    constexpr std::string_view kStart = "Client Request: ";
    std::ranges::copy(kStart, buffer);
    const std::string_view reason = read_guest_text(text, std::span(buffer).subspan(kStart.size()));
    // The profile is made of lines.
    std::replace_if(
        buffer + kStart.size(), buffer + kStart.size() + reason.size(),
        [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    session->dump({buffer, kStart.size() + reason.size()}, thread);
}

void act(Action action, ThreadId thread, UWord argument) {
    switch (action) {
        case Action::kDump:
            session->dump("Client Request", thread);
            break;
        case Action::kDumpAt:
            dump_at(thread, argument);
            break;
        case Action::kZero:
            session->zero(thread);
            break;
        case Action::kToggleCollect:
            session->toggle_collect(thread);
            break;
        case Action::kStart:
            session->set_instrumentation(true);
            break;
        case Action::kStop:
            session->set_instrumentation(false);
            break;
    }
}

Bool handle(ThreadId thread, UWord* arguments, UWord* result) {
    if (arguments[0] == VG_USERREQ__GDB_MONITOR_COMMAND) {
        *result = run_monitor_command(reinterpret_cast<const char*>(arguments[1])) ? 1 : 0;
        return True;
    }
    for (const Requests& requests : kRequests) {
        const UWord number = arguments[0] - requests.first;
        if (number >= requests.actions.size()) continue;
        act(requests.actions[number], thread, arguments[1]);
        *result = 0;
        return True;
    }
    return False;
}

}  // namespace

void take_client_requests() {
    VG_(needs_client_requests)(handle);
}

}  // namespace bd
