// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/callgrind_writer.h"

namespace bd {
namespace {

// A position number: in full, or relative to the one before.
void write_number(TextOutput& out, std::uint64_t number, std::uint64_t last, bool relative, bool hexadecimal) {
    if (relative && number == last) {
        out << '*';
    } else if (relative && number > last && number - last < 0x10000) {
        out << '+' << number - last;
    } else if (relative && number < last && last - number < 0x10000) {
        out << '-' << last - number;
    } else if (hexadecimal) {
        out.hex(number);
    } else {
        out << number;
    }
}

}  // namespace

std::pair<std::uint32_t, bool> CallgrindWriter::Names::number(std::uint32_t id) {
    if (numbers_.size() <= id) numbers_.resize(id + 1);
    const bool is_new = numbers_[id] == 0;
    if (is_new) numbers_[id] = ++used_;
    return {numbers_[id], is_new};
}

void CallgrindWriter::write(const RunDescription& run, const Profile& profile) {
    events_ = profile.events();
    kinds_ = profile.kinds();
    // A position there must be: without any, line 0.
    if (!kinds_.instructions) kinds_.lines = true;
    write_header(run, profile);
    FunctionProfile function;
    for (std::size_t i = 0; i < profile.function_count(); ++i) {
        profile.collect(i, &function);
        if (!function.rows.empty() || !function.calls.empty()) write_function(function);
    }
    out_ << "\ntotals:";
    write_costs(profile.totals());
}

void CallgrindWriter::write_header(const RunDescription& run, const Profile& profile) {
    out_ << "# callgrind format\nversion: 1\ncreator: " << run.creator << "\npid: " << run.pid
         << "\ncmd: ";
    write_text(run.command);
    out_ << "\npart: " << run.part << '\n';
    if (run.thread != 0) out_ << "thread: " << run.thread << '\n';
    out_ << '\n';
    if (run.caches != nullptr) {
        write_cache("I1", run.caches->i1);
        write_cache("D1", run.caches->d1);
        write_cache("LL", run.caches->ll);
        out_ << "desc: Geometry: " << run.geometry_source << '\n';
    }
    for (const std::string_view description : run.descriptions) out_ << "desc: " << description << '\n';
    out_ << "\npositions:" << (kinds_.instructions ? " instr" : "") << (kinds_.lines ? " line" : "") << '\n';
    for (std::size_t i = 0; i < events_.width(); ++i) {
        if (!is_written(i) || kEvents[i].known_to_viewers()) continue;
        out_ << "event: " << kEvents[i].name << " : " << kEvents[i].description << '\n';
    }
    out_ << "events:";
    for (std::size_t i = 0; i < events_.width(); ++i) {
        if (is_written(i)) out_ << ' ' << kEvents[i].name;
    }
    out_ << "\nsummary:";
    write_costs(profile.totals());
}

void CallgrindWriter::write_cache(std::string_view name, const CacheGeometry& cache) {
    out_ << "desc: " << name << " cache: " << cache.size_bytes << " B, " << cache.line_bytes << " B, " << cache.ways
         << "-way associative\n";
}

void CallgrindWriter::write_function(const FunctionProfile& function) {
    const Function& name = function.context->function();
    out_ << '\n';
    // In this order: a new object makes readers forget the function, and a function its file.
    if (name.object != object_) write_object("ob=", *name.object);
    object_ = name.object;
    write_file("fl=", *name.file);
    file_ = name.file;
    write_context("fn=", *function.context);

    const auto enter_file = [&](const SourceFile* file) {
        if (file == file_) return;
        write_file(file == name.file ? "fe=" : "fi=", *file);
        file_ = file;
    };
    std::size_t call = 0;
    std::size_t jump = 0;
    const auto write_jumps_before = [&](const Position* end) {
        for (; jump < function.jumps.size(); ++jump) {
            const Position& at = function.jumps[jump].position;
            if (end != nullptr && by_place(at, *end) >= 0) return;
            enter_file(at.file);
            write_jump(function.jumps[jump]);
        }
    };
    const auto write_calls_before = [&](const Position* end) {
        for (; call < function.calls.size(); ++call) {
            const Position& at = function.calls[call].position;
            if (end != nullptr && by_place(at, *end) >= 0) return;
            enter_file(at.file);
            write_call(function, function.calls[call]);
        }
    };
    for (const CostRow& row : function.rows) {
        write_calls_before(&row.position);
        write_jumps_before(&row.position);
        enter_file(row.position.file);
        write_position(row.position);
        write_costs(function.costs(row));
    }
    write_calls_before(nullptr);
    write_jumps_before(nullptr);
}

void CallgrindWriter::write_call(const FunctionProfile& function, const CallRow& call) {
    const Function& callee = call.callee->function();
    if (callee.object != object_) write_object("cob=", *callee.object);
    // Readers take the current file or the function's for a file not named; they are not always the same.
    if (callee.file != file_ || callee.file != function.context->function().file) {
        write_file("cfi=", *callee.file);
    }
    write_context("cfn=", *call.callee);
    out_ << "calls=" << call.calls << ' ';
    write_target(call.target);
    write_position(call.position);
    write_costs(function.costs(call));
}

// The line behind has the position of the jump, and no costs.
void CallgrindWriter::write_jump(const JumpRow& jump) {
    if (jump.target.file != file_) write_file("jfi=", *jump.target.file);
    if (jump.conditional) {
        out_ << "jcnd=" << jump.followed << '/' << jump.executed << ' ';
    } else {
        out_ << "jump=" << jump.followed << ' ';
    }
    write_target(jump.target);
    write_position(jump.position);
    out_ << '\n';
}

// The format is made of lines: a line end in a name or an argument, or another control character, becomes a blank.
void CallgrindWriter::write_text(std::string_view text) {
    for (const char c : text) out_ << (static_cast<unsigned char>(c) < ' ' ? ' ' : c);
}

bool CallgrindWriter::begin_name(std::string_view key, Names& names, std::uint32_t id) {
    out_ << key;
    if (!options_.compress_strings) return true;
    const auto [number, is_new] = names.number(id);
    out_ << '(' << number << ')';
    if (is_new) out_ << ' ';
    return is_new;
}

void CallgrindWriter::write_name(std::string_view key, Names& names, std::uint32_t id, std::string_view name) {
    if (begin_name(key, names, id)) write_text(name);
    out_ << '\n';
}

void CallgrindWriter::write_file(std::string_view key, const SourceFile& file) {
    write_name(key, files_, file.id, file.name);
}

void CallgrindWriter::write_object(std::string_view key, const ObjectFile& object) {
    write_name(key, objects_, object.id, object.name);
}

// As Callgrind names it: "f'2'g'h" is f, in its second level of recursion, called by g, called by h.
void CallgrindWriter::write_context(std::string_view key, const Context& context) {
    if (begin_name(key, functions_, context.id())) {
        write_text(context.function().name);
        if (context.level() > 1) out_ << '\'' << context.level();
        for (const Function* caller : context.callers()) {
            out_ << '\'';
            write_text(caller->name);
        }
    }
    out_ << '\n';
}

void CallgrindWriter::write_position(const Position& position) {
    const bool relative = options_.compress_positions;
    if (kinds_.instructions) {
        write_number(out_, position.address, last_.address, relative, true);
        if (kinds_.lines) out_ << ' ';
    }
    if (kinds_.lines) write_number(out_, position.line, last_.line, relative, false);
    last_ = position;
}

// Readers do not take a call's target for the position that later ones are relative to.
void CallgrindWriter::write_target(const Position& target) {
    const Position last = last_;
    write_position(target);
    last_ = last;
    out_ << '\n';
}

// Trailing zeros may be left out, but not all of them.
void CallgrindWriter::write_costs(ConstCosts costs) {
    std::size_t end = costs.size();
    while (end > 1 && costs[end - 1] == 0) --end;
    for (std::size_t i = 0; i < end; ++i) {
        if (is_written(i)) out_ << ' ' << costs[i];
    }
    out_ << '\n';
}

}  // namespace bd
