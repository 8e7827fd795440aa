// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/monitor.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tool/output.h"
#include "tool/session.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// To gdb or vgdb.
class MonitorOutput final : public TextOutput {
public:
    ~MonitorOutput() { finish(); }

private:
    // In pieces that fit into a packet of gdb's. The core's printf knows no precision: texts must end with a zero.
    bool write(std::string_view text) override {
        HChar piece[1024];
        while (!text.empty()) {
            const std::size_t size = text.copy(piece, sizeof piece - 1);
            piece[size] = '\0';
            VG_(gdb_printf)("%s", piece);
            text.remove_prefix(size);
        }
        return true;
    }
};

// Takes the first word off `text`.
std::string_view take_word(std::string_view* text) {
    const auto from = [&](std::size_t offset) { return std::min(offset, text->size()); };
    const std::size_t begin = from(text->find_first_not_of(' '));
    const std::size_t end = from(text->find(' ', begin));
    const std::string_view word = text->substr(begin, end - begin);
    text->remove_prefix(from(text->find_first_not_of(' ', end)));
    return word;
}

void help(MonitorOutput& out) {
    out << "bdgrind's monitor commands:\n"
           "  dump [<reason>]            write what has been counted into a file, and count from zero again\n"
           "  zero                       discard what has been counted since the latest dump\n"
           "  status [stacks]            show the run's state and totals, and if asked the open calls with their "
           "costs\n"
           "  instrumentation [on|off]   observe the program, or let it run unobserved; alone: show which\n";
}

void dump(MonitorOutput& out, std::string_view reason) {
    TextBuffer trigger;
    trigger << "Monitor command";
    if (!reason.empty()) trigger << ": " << reason;
    const bool written = session->dump(trigger.view(), 0);
    out << "part " << session->parts() << (written ? " is written\n" : " could not be written\n");
}

void instrumentation(MonitorOutput& out, std::string_view state) {
    if (state == "on" || state == "off") {
        session->set_instrumentation(state == "on");
    } else if (!state.empty()) {
        out << "instrumentation is on or off, not " << state << '\n';
        return;
    }
    out << "instrumentation: " << (session->instruments() ? "on" : "off") << '\n';
}

void write_costs(MonitorOutput& out, const EventSet& events, ConstCosts costs) {
    for (std::size_t i = 0; i < events.width(); ++i) {
        if (events.has(static_cast<Event>(i))) out << ' ' << costs[i];
    }
}

// The calls that are open, innermost first: how often the same call was made and what it cost, since the latest dump.
// For the outermost function, whose caller is not known, only the name.
void write_frames(MonitorOutput& out, const Engine& engine, const Execution& execution) {
    const Context* root = execution.context;
    if (root == nullptr) return;
    for (std::size_t i = execution.calls.size(); i-- != 0;) {
        const OpenCall& call = execution.calls[i];
        root = call.caller;
        if (call.arc == kNoArc) continue;
        const Arc& arc = engine.arcs()[call.arc];
        out << "frame: " << arc.calls;
        write_costs(out, engine.events(), engine.arcs().costs(call.arc));
        out << ' ' << arc.callee->context->function().name << '\n';
    }
    out << "frame: " << root->function().name << '\n';
}

// In the form of the profile's header lines, as bd_control reads it, too.
void status(MonitorOutput& out, bool stacks) {
    const Engine& engine = session->settled_engine();
    const EventSet& events = engine.events();
    out << "command: ";
    write_command(out);
    out << "\ninstrumentation: " << (session->instruments() ? "on" : "off")
        << "\nparts: " << session->parts() << "\nblocks: " << engine.blocks_run() << "\nevents:";
    for (std::size_t i = 0; i < events.width(); ++i) {
        if (events.has(static_cast<Event>(i))) out << ' ' << kEvents[i].name;
    }
    std::vector<std::uint64_t> totals(events.width());
    for (const std::uint32_t thread : engine.threads()) add(totals, engine.totals(thread));
    out << "\ntotals:";
    write_costs(out, events, totals);
    out << '\n';
    std::uint32_t thread = 0;
    for (const auto& [id, execution] : engine.stacks()) {
        out << (id == thread ? "handler: " : "thread: ") << id
            << (execution->collecting ? " collecting\n" : " not collecting\n");
        if (id != thread && execution->thread != 0) {
            out << "costs:";
            write_costs(out, events, engine.totals(id));
            out << '\n';
        }
        thread = id;
        if (stacks) write_frames(out, engine, *execution);
    }
}

}  // namespace

bool run_monitor_command(const char* command) {
    std::string_view rest = command;
    HChar name[32]{};
    const std::string_view word = take_word(&rest);
    if (word.empty() || word.size() >= sizeof name) return false;
    std::ranges::copy(word, name);
    MonitorOutput out;
    // As with all of Valgrind's commands, the beginning of a name will do.
    switch (VG_(keyword_id)("help dump zero status instrumentation", name, kwd_report_duplicated_matches)) {
        case -2:  // more than one, which the core has said
            return true;
        case 0:
            help(out);
            return true;
        case 1:
            dump(out, rest);
            return true;
        case 2:
            session->zero(0);
            return true;
        case 3:
            status(out, take_word(&rest) == "stacks");
            return true;
        case 4:
            instrumentation(out, take_word(&rest));
            return true;
        default:
            return false;
    }
}

}  // namespace bd
