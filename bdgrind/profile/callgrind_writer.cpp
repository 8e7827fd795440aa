// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/callgrind_writer.h"

#include <algorithm>
#include <string_view>

#include "profile/hot_code.h"

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

// Of the same place; empty if there are none.
template <class Row>
ConstCosts costs_in(const FunctionProfile* start, const Row& row) {
    const Row* const found = start != nullptr ? StartCounts::find(*start, row) : nullptr;
    return found != nullptr ? start->costs(*found) : ConstCosts{};
}

}  // namespace

std::pair<std::uint32_t, bool> CallgrindWriter::Names::number(std::uint32_t id) {
    if (numbers_.size() <= id) numbers_.resize(id + 1);
    const bool is_new = numbers_[id] == 0;
    if (is_new) numbers_[id] = ++used_;
    return {numbers_[id], is_new};
}

void CallgrindWriter::write(const RunDescription& run, const Profile& profile) {
    const bool is_sampled = options_.sample.sums != nullptr;
    events_ = {is_sampled ? sampled_events(profile.events()) : profile.events(), options_.compat_events, is_sampled};
    kinds_ = profile.kinds();
    // A position there must be: without any, line 0.
    if (!kinds_.instructions) kinds_.lines = true;
    write_header(run, profile);
    FunctionProfile function;
    for (std::size_t i = 0; i < profile.function_count(); ++i) {
        profile.collect(i, &function);
        start_ = in_start(*function.context, profile.kinds());
        if (!function.rows.empty() || !function.calls.empty()) write_function(function);
    }
    for (const ThreadOrigin& origin : profile.thread_origins()) write_origin(origin);
    if (options_.hot_code) write_hot_code(profile);
    if (is_sampled && options_.sample.sums->blocks() < options_.sample.length.blocks) write_intervals();
    out_ << "\ntotals:";
    write_totals(profile.totals());
}

void CallgrindWriter::write_header(const RunDescription& run, const Profile& profile) {
    out_ << "# callgrind format\nversion: 1\n";
    write_process(out_, run);
    out_ << '\n';
    write_descriptions(out_, run);
    out_ << "\npositions:" << (kinds_.instructions ? " instr" : "") << (kinds_.lines ? " line" : "") << '\n';
    write_events(out_, events_);
    out_ << "summary:";
    write_totals(profile.totals());
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
            if (end != nullptr && by_position(at, *end) >= 0) return;
            enter_file(at.file);
            write_jump(function.jumps[jump]);
        }
    };
    const auto write_calls_before = [&](const Position* end) {
        for (; call < function.calls.size(); ++call) {
            const Position& at = function.calls[call].position;
            if (end != nullptr && by_position(at, *end) >= 0) return;
            enter_file(at.file);
            write_call(function, function.calls[call]);
        }
    };
    for (const CostRow& row : function.rows) {
        write_calls_before(&row.position);
        write_jumps_before(&row.position);
        enter_file(row.position.file);
        write_position(row.position);
        write_self_costs(function.costs(row), costs_in(start_, row));
    }
    write_calls_before(nullptr);
    write_jumps_before(nullptr);
}

// In comments, which other readers pass over: the root, and then the functions that were open when it was created.
void CallgrindWriter::write_origin(const ThreadOrigin& origin) {
    out_ << "\n# threads: " << origin.threads << '\n';
    const ObjectFile* object = nullptr;
    const SourceFile* file = nullptr;
    const auto write = [&](const Context& context) {
        const Function& function = context.function();
        if (function.object != object) write_object("# ob=", *function.object);
        if (function.file != file) write_file("# fl=", *function.file);
        write_context("# fn=", context);
        object = function.object;
        file = function.file;
    };
    write(*origin.root);
    for (const Context* creator : origin.creators) write(*creator);
}

// In comments: functions as above, "# fi=" for each file, and for each instruction or call its address, its line and
// what it costs.
void CallgrindWriter::write_hot_code(const Profile& profile) {
    const HotCode hot(profile);
    FunctionProfile function;
    const ObjectFile* object = nullptr;
    for (std::size_t i = 0; i < profile.function_count(); ++i) {
        if (!hot.collect(i, &function)) continue;
        const Function& name = function.context->function();
        if (object == nullptr) out_ << "\n# hot code:\n";
        if (name.object != object) write_object("# ob=", *name.object);
        object = name.object;
        write_file("# fl=", *name.file);
        write_context("# fn=", *function.context);
        const SourceFile* file = name.file;
        const FunctionProfile* const start = in_start(*function.context, {.lines = true, .instructions = true});
        const auto write_row = [&](std::string_view key, const auto& row) {
            if (row.position.file != file) write_file("# fi=", *row.position.file);
            file = row.position.file;
            out_ << key;
            out_.hex(row.position.address);
            out_ << ' ' << row.position.line;
            write_costs(function.costs(row), costs_in(start, row));
        };
        for (const CostRow& row : function.rows) write_row("# at=", row);
        for (const CallRow& row : function.calls) write_row("# call=", row);
    }
}

void CallgrindWriter::write_call(const FunctionProfile& function, const CallRow& call) {
    const Function& callee = call.callee->function();
    if (callee.object != object_) write_object("cob=", *callee.object);
    // Readers take the current file or the function's for a file not named; they are not always the same.
    if (callee.file != file_ || callee.file != function.context->function().file) {
        write_file("cfi=", *callee.file);
    }
    write_context("cfn=", *call.callee);
    const CallRow* const start = start_ != nullptr ? StartCounts::find(*start_, call) : nullptr;
    out_ << "calls=" << estimate_times(call.calls, start != nullptr ? start->calls : 0) << ' ';
    write_target(call.target);
    write_position(call.position);
    write_costs(function.costs(call), start != nullptr ? start_->costs(*start) : ConstCosts{});
}

// The line behind has the position of the jump, and no costs.
void CallgrindWriter::write_jump(const JumpRow& jump) {
    if (jump.target.file != file_) write_file("jfi=", *jump.target.file);
    const JumpRow* const start = start_ != nullptr ? StartCounts::find(*start_, jump) : nullptr;
    const std::uint64_t followed = estimate_times(jump.followed, start != nullptr ? start->followed : 0);
    if (jump.conditional) {
        out_ << "jcnd=" << followed << '/' << estimate_times(jump.executed, start != nullptr ? start->executed : 0)
             << ' ';
    } else {
        out_ << "jump=" << followed << ' ';
    }
    write_target(jump.target);
    write_position(jump.position);
    out_ << '\n';
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
    if (begin_name(key, names, id)) write_text(out_, name);
    out_ << '\n';
}

void CallgrindWriter::write_file(std::string_view key, const SourceFile& file) {
    write_name(key, files_, file.id, file.name);
}

void CallgrindWriter::write_object(std::string_view key, const ObjectFile& object) {
    write_name(key, objects_, object.id, object.name);
}

void CallgrindWriter::write_context(std::string_view key, const Context& context) {
    if (begin_name(key, functions_, context.id())) write_context_name(out_, context);
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
void CallgrindWriter::write_counts(ConstCosts counts) {
    std::size_t end = counts.size();
    while (end > 1 && counts[end - 1] == 0) --end;
    for (std::size_t i = 0; i < end; ++i) {
        if (events_.has(i)) out_ << ' ' << counts[i];
    }
    out_ << '\n';
}

void CallgrindWriter::write_totals(ConstCosts totals) {
    const StartCounts* const start = options_.sample.start;
    write_costs(totals, start != nullptr ? start->totals() : ConstCosts{});
}

void CallgrindWriter::write_costs(ConstCosts costs, ConstCosts in_start) {
    if (options_.sample.sums == nullptr) return write_counts(costs);
    estimates_.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
        estimates_[i] = options_.sample.estimate(i, costs[i], in_start.empty() ? 0 : in_start[i]);
    }
    write_counts(estimates_);
}

// Their sum is rounded as the total is: by how much that grows is written.
void CallgrindWriter::write_self_costs(ConstCosts costs, ConstCosts in_start) {
    if (options_.sample.sums == nullptr) return write_counts(costs);
    counted_.resize(costs.size());
    estimates_.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const std::uint64_t in_start_only = in_start.empty() ? 0 : in_start[i];
        const std::uint64_t before = options_.sample.estimate(i, counted_[i], 0);
        counted_[i] += costs[i] - in_start_only;
        estimates_[i] = in_start_only + options_.sample.estimate(i, counted_[i], 0) - before;
    }
    write_counts(estimates_);
}

const FunctionProfile* CallgrindWriter::in_start(const Context& context, PositionKinds kinds) const {
    return options_.sample.start != nullptr ? options_.sample.start->function(context, kinds) : nullptr;
}

// In comments: of the whole, of each function and of its lines, how far all estimates may be off, rounded up. What has
// cost something in fewer than two bursts has none.
void CallgrindWriter::write_intervals() {
    const BurstSums& sums = *options_.sample.sums;
    const std::span<const BurstSums::Row> rows = sums.rows();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].bursts >= 2 && sums.bursts() >= BurstSums::kFewest) order.push_back(i);
    }
    using Kind = BurstSums::Row::Kind;
    const auto before = [&](std::size_t left, std::size_t right) {
        const BurstSums::Row& a = rows[left];
        const BurstSums::Row& b = rows[right];
        if (a.context != b.context) {
            if (a.context == nullptr || b.context == nullptr) return a.context == nullptr;
            return a.context->id() < b.context->id();
        }
        if (a.kind != b.kind) return a.kind < b.kind;
        if (a.file != b.file) return std::string_view(a.file->name) < std::string_view(b.file->name);
        return a.line < b.line;
    };
    std::sort(order.begin(), order.end(), before);

    out_ << "\n# intervals: " << sums.bursts() << " bursts\n";
    const ObjectFile* object = nullptr;
    const Context* context = nullptr;
    const SourceFile* file = nullptr;
    for (const std::size_t i : order) {
        const BurstSums::Row& row = rows[i];
        if (row.context != context) {
            const Function& name = row.context->function();
            if (name.object != object) write_object("# ob=", *name.object);
            object = name.object;
            write_file("# fl=", *name.file);
            write_context("# fn=", *row.context);
            context = row.context;
            file = name.file;
        }
        if (row.kind == Kind::kLine && row.file != file) write_file("# fi=", *row.file);
        if (row.kind == Kind::kLine) file = row.file;
        switch (row.kind) {
            case Kind::kTotal:
                out_ << "# all=";
                break;
            case Kind::kSelf:
                out_ << "# self=";
                break;
            case Kind::kInclusive:
                out_ << "# sum=";
                break;
            case Kind::kLine:
                out_ << "# line=" << row.line << ' ';
                break;
        }
        out_ << row.bursts;
        for (std::size_t event = 0; event < events_.events.width(); ++event) {
            if (!events_.has(event)) continue;
            // Not where it is but the rounding of what it is computed from.
            out_ << ' ' << static_cast<std::uint64_t>(sums.half_width(i, event, options_.sample.length) + 0.999);
        }
        out_ << '\n';
    }
}

}  // namespace bd
