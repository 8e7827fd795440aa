// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_report.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "profile/file_head.h"

namespace bd {
namespace {

// A number with a comma before each group of three digits, as in 1,234,567.
class Grouped {
public:
    explicit Grouped(std::uint64_t number) {
        char digits[20];
        const char* const end = std::to_chars(digits, std::end(digits), number).ptr;
        for (const char* digit = digits; digit != end; ++digit) {
            if (digit != digits && (end - digit) % 3 == 0) text_[size_++] = ',';
            text_[size_++] = *digit;
        }
    }
    std::string_view view() const { return {text_, size_}; }

private:
    char text_[27];
    std::size_t size_ = 0;
};

TextOutput& operator<<(TextOutput& out, const Grouped& number) {
    return out << number.view();
}

void pad(TextOutput& out, std::size_t used, std::size_t width) {
    for (; used < width; ++used) out << ' ';
}

// part/whole with two decimals, rounded down, in percent; 0 of nothing is 0.
std::uint64_t per_ten_thousand(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return 0;
    std::uint64_t result = part / whole;
    for (int digit = 0; digit < 4; ++digit) {
        part = part % whole * 10;  // fits: no run counts to 2^60
        result = result * 10 + part / whole;
    }
    return result;
}

struct DataCount {
    std::uint64_t reads;
    std::uint64_t writes;
    std::uint64_t both() const { return reads + writes; }
};

class Report {
public:
    Report(TextOutput& out, const EventSet& events, ConstCosts totals) : out_(out), totals_(totals) {
        for (const std::uint64_t total : totals.first(kRunningEvents)) {
            width_ = std::max(width_, Grouped(total).view().size());
        }
        width_ = std::max(width_, Grouped(of(Event::kDr) + of(Event::kDw)).view().size());
        for (const Event loss : {Event::kSpLoss1, Event::kSpLossL2, Event::kSpLoss2}) {
            if (!events.has(loss)) continue;
            width_ = std::max(width_, Grouped(loaded(loss)).view().size());
        }
    }

    void write_references() {
        count("I   refs", of(Event::kIr));
        data("D   refs", data_references());
    }

    // Of each kind of misses its share of the accesses, of the bytes loaded those that were never used.
    void write_short(const EventSet& events) {
        const DataCount references = data_references();
        count("I   refs", of(Event::kIr));
        data("D   refs", references);
        if (events.has(Event::kI1mr)) {
            part("I1  misses", of(Event::kI1mr), of(Event::kIr), "");
            if (events.has(Event::kI2mr)) part("L2i misses", of(Event::kI2mr), of(Event::kIr), "");
            if (events.has(Event::kILmr)) part("LLi misses", of(Event::kILmr), of(Event::kIr), "");
            part("D1  misses", of(Event::kD1mr) + of(Event::kD1mw), references.both(), "");
            if (events.has(Event::kI2mr)) {
                part("L2d misses", of(Event::kD2mr) + of(Event::kD2mw), references.both(), "");
            }
            if (events.has(Event::kDLmr)) {
                part("LLd misses", of(Event::kDLmr) + of(Event::kDLmw), references.both(), "");
            }
        }
        if (events.has(Event::kDT2mr)) {
            part("Page walks", page_walks(Event::kIT2mr), of(Event::kIr) + references.both(), "");
            part("  with huge pages", page_walks(Event::kIH2mr), of(Event::kIr) + references.both(), "");
        }
        if (events.has(Event::kSpLoss1)) {
            part("D1  bytes never used", of(Event::kSpLossD1), of(Event::kSpLossD1) + of(Event::kUsByteD1),
                 " of those loaded");
            if (events.has(Event::kSpLossL2)) {
                part("L2d bytes never used", of(Event::kSpLossD2), of(Event::kSpLossD2) + of(Event::kUsByteD2),
                     " of those loaded");
            }
            if (events.has(Event::kSpLossDL)) {
                part("LLd bytes never used", of(Event::kSpLossDL), of(Event::kSpLossDL) + of(Event::kUsByteDL),
                     " of those loaded");
            }
        }
        if (events.has(Event::kBc)) {
            part("Mispredicts", of(Event::kBcm) + of(Event::kBim), of(Event::kBc) + of(Event::kBi), "");
        }
    }

    // has_last: of LL. If it lacks, there is no L2.
    void write_misses(bool has_l2, bool has_last) {
        const DataCount middle = has_l2 ? DataCount{of(Event::kD2mr), of(Event::kD2mw)} : DataCount{};
        const DataCount first{of(Event::kD1mr), of(Event::kD1mw)};
        const DataCount last{of(Event::kDLmr), of(Event::kDLmw)};
        count("I   refs", of(Event::kIr));
        count("I1  misses", of(Event::kI1mr));
        if (has_l2) count("L2i misses", of(Event::kI2mr));
        if (has_last) count("LLi misses", of(Event::kILmr));
        rate("I1  miss rate", of(Event::kI1mr), of(Event::kIr));
        if (has_l2) rate("L2i miss rate", of(Event::kI2mr), of(Event::kIr));
        if (has_last) rate("LLi miss rate", of(Event::kILmr), of(Event::kIr));
        out_ << '\n';
        data("D   refs", data_references());
        data("D1  misses", first);
        if (has_l2) data("L2d misses", middle);
        if (has_last) data("LLd misses", last);
        data_rate("D1  miss rate", first);
        if (has_l2) data_rate("L2d miss rate", middle);
        if (has_last) data_rate("LLd miss rate", last);
        if (!has_last) return;
        out_ << '\n';
        // What missed L1 is asked of L2, and what missed that of LL.
        const DataCount middle_references{of(Event::kI1mr) + first.reads, first.writes};
        const DataCount middle_misses{(has_l2 ? of(Event::kI2mr) : 0) + middle.reads, middle.writes};
        if (has_l2) {
            data("L2 refs", middle_references);
            data("L2 misses", middle_misses);
            rate("L2 miss rate", middle_misses.both(), of(Event::kIr) + data_references().both());
        }
        const DataCount last_references = has_l2 ? middle_misses : middle_references;
        const DataCount last_misses{of(Event::kILmr) + last.reads, last.writes};
        data("LL refs", last_references);
        data("LL misses", last_misses);
        rate("LL miss rate", last_misses.both(), of(Event::kIr) + data_references().both());
    }

    void write_pages() {
        out_ << '\n';
        count("I1  TLB misses", of(Event::kIT1mr));
        count("L2i TLB misses", of(Event::kIT2mr));
        data("D1  TLB misses", {of(Event::kDT1mr), of(Event::kDT1mw)});
        data("L2d TLB misses", {of(Event::kDT2mr), of(Event::kDT2mw)});
        out_ << "With huge pages:\n";
        count("I1  TLB misses", of(Event::kIH1mr));
        count("L2i TLB misses", of(Event::kIH2mr));
        data("D1  TLB misses", {of(Event::kDH1mr), of(Event::kDH1mw)});
        data("L2d TLB misses", {of(Event::kDH2mr), of(Event::kDH2mw)});
    }

    void write_branches() {
        out_ << '\n';
        branches("Branches", of(Event::kBc), of(Event::kBi));
        branches("Mispredicts", of(Event::kBcm), of(Event::kBim));
        rate("Mispredict rate", of(Event::kBcm) + of(Event::kBim), of(Event::kBc) + of(Event::kBi));
    }

    // `loss`: the level's SpLoss; the counts behind it follow in the table of events.
    void write_use(std::string_view level, Event loss) {
        const std::size_t first = column(loss);
        const std::uint64_t lost = totals_[first];
        const std::uint64_t lines = totals_[first + 1];
        const std::uint64_t accesses = totals_[first + 3];
        out_ << '\n';
        label(level, "bytes loaded");
        number(loaded(loss));
        out_ << '\n';
        label(level, "bytes never used");
        number(lost);
        out_ << "  (";
        out_.fixed(per_ten_thousand(lost, loaded(loss)), 2) << "%)\n";
        // What data has of the five counts stands behind them.
        const std::uint64_t data_lost = totals_[first + 5];
        label(level, "of these, data");
        number(data_lost);
        out_ << "  (";
        out_.fixed(per_ten_thousand(data_lost, data_lost + totals_[first + 7]), 2) << "% of its bytes)\n";
        label(level, "lines evicted");
        number(lines);
        out_ << '\n';
        label(level, "accesses per line");
        const std::uint64_t hundredths = lines == 0 ? 0 : per_ten_thousand(accesses, lines) / 100;
        pad(out_, Grouped(hundredths / 100).view().size() + 3, width_);
        out_ << Grouped(hundredths / 100) << '.' << hundredths / 10 % 10 << hundredths % 10 << '\n';
    }

private:
    static constexpr std::size_t kLabelWidth = 22;

    std::uint64_t of(Event event) const { return totals_[column(event)]; }
    // `fetches`: its misses of the second level; those of reads and writes stand behind them.
    std::uint64_t page_walks(Event fetches) const {
        const std::size_t first = column(fetches);
        return totals_[first] + totals_[first + 1] + totals_[first + 2];
    }
    DataCount data_references() const { return {of(Event::kDr), of(Event::kDw)}; }
    std::uint64_t loaded(Event loss) const { return totals_[column(loss)] + totals_[column(loss) + 2]; }

    void label(std::string_view first, std::string_view second = {}) {
        out_ << first;
        std::size_t used = first.size() + 1;
        if (!second.empty()) {
            out_ << ' ' << second;
            used += second.size() + 1;
        }
        out_ << ':';
        pad(out_, used, kLabelWidth);
    }
    void number(std::uint64_t number) {
        const Grouped grouped(number);
        pad(out_, grouped.view().size(), width_);
        out_ << grouped;
    }
    void count(std::string_view name, std::uint64_t count) {
        label(name);
        number(count);
        out_ << '\n';
    }
    void part(std::string_view name, std::uint64_t number_of, std::uint64_t whole, std::string_view behind) {
        label(name);
        number(number_of);
        out_ << "  (";
        out_.fixed(per_ten_thousand(number_of, whole), 2) << '%' << behind << ")\n";
    }
    void data(std::string_view name, const DataCount& counts) {
        label(name);
        number(counts.both());
        out_ << "  (";
        number(counts.reads);
        out_ << " rd + ";
        number(counts.writes);
        out_ << " wr)\n";
    }
    void branches(std::string_view name, std::uint64_t conditional, std::uint64_t indirect) {
        label(name);
        number(conditional + indirect);
        out_ << "  (";
        number(conditional);
        out_ << " cond + ";
        number(indirect);
        out_ << " ind)\n";
    }
    void rate(std::string_view name, std::uint64_t misses, std::uint64_t references) {
        label(name);
        percent(misses, references);
        out_ << '\n';
    }
    void data_rate(std::string_view name, const DataCount& misses) {
        const DataCount references = data_references();
        label(name);
        percent(misses.both(), references.both());
        out_ << " (";
        percent(misses.reads, references.reads);
        out_ << "   + ";
        percent(misses.writes, references.writes);
        out_ << "  )\n";
    }
    void percent(std::uint64_t part, std::uint64_t whole) {
        const std::uint64_t share = per_ten_thousand(part, whole);
        pad(out_, Grouped(share / 100).view().size() + 4, width_ + 1);
        out_.fixed(share, 2) << '%';
    }

    TextOutput& out_;
    ConstCosts totals_;
    std::size_t width_ = 6;
};

}  // namespace

void write_run_report(TextOutput& out, const EventSet& events, ConstCosts totals) {
    Report(out, events, totals).write_short(events);
}

void write_whole_run_report(TextOutput& out, const EventSet& events, ConstCosts totals) {
    out << "Events    :";
    for (std::size_t i = 0; i < totals.size(); ++i) {
        if (events.has(static_cast<Event>(i))) out << ' ' << kEvents[i].name;
    }
    out << "\nCollected :";
    for (std::size_t i = 0; i < totals.size(); ++i) {
        if (events.has(static_cast<Event>(i))) out << ' ' << totals[i];
    }
    out << "\n\n";
    Report report(out, events, totals);
    if (!events.has(Event::kI1mr)) {
        report.write_references();
    } else {
        report.write_misses(events.has(Event::kI2mr), events.has(Event::kILmr));
    }
    if (events.has(Event::kSpLoss1)) {
        report.write_use("L1", Event::kSpLoss1);
        if (events.has(Event::kSpLossL2)) report.write_use("L2", Event::kSpLossL2);
        if (events.has(Event::kSpLoss2)) report.write_use("LL", Event::kSpLoss2);
    }
    if (events.has(Event::kDT1mr)) report.write_pages();
    if (events.has(Event::kBc)) report.write_branches();
}

void write_context_tree_report(TextOutput& out, const ContextTree& tree) {
    const ContextTree::Stats stats = tree.stats();
    out << "\nContext tree:\n  nodes:              " << Grouped(stats.nodes) << " of " << Grouped(stats.contexts)
        << " functions\n  height:             " << Grouped(stats.height) << "\n  children per node:  ";
    const std::uint64_t called = stats.nodes - std::min(stats.nodes, stats.begun);
    out.fixed(per_ten_thousand(called, stats.parents) / 100, 2)
        << " on average where there are any; " << Grouped(stats.children)
        << " at most\n  nodes per function: " << Grouped(stats.copies) << " at most";
    if (stats.copied != nullptr) {
        out << ", of ";
        write_context_name(out, *stats.copied);
    }
    out << "\n  memory, bytes:      " << Grouped(stats.bytes) << '\n';
    if (tree.folds() != 0) out << "  folded:             " << Grouped(tree.folds()) << " times\n";
}

void write_other_paths(TextOutput& out, const ContextTree& tree, const EventSet& events, ConstCosts totals,
                       ConstCosts other_paths) {
    if (tree.folds() == 0) return;
    out << "Other paths:          ";
    const auto share = [&](Event event) {
        out.fixed(per_ten_thousand(other_paths[column(event)], totals[column(event)]), 2)
            << "% of " << kEvents[column(event)].name;
    };
    share(Event::kIr);
    if (events.has(Event::kSpLoss1)) {
        out << ", ";
        share(Event::kSpLoss1);
        out << ", ";
        share(Event::kSpLoss2);
    }
    out << "; see --context-tree-nodes\n";
}

void write_engine_stats(TextOutput& out, const EngineStats& stats, std::size_t functions, std::size_t blocks) {
    out << "Back-dating trees:\n  nodes, at most:     " << Grouped(stats.tree.most_live)
        << "\n  nodes made:         " << Grouped(stats.tree.made)
        << "\n  memory, bytes:      " << Grouped(stats.tree_bytes) << "\nCalls:                " << Grouped(stats.calls)
        << "\nCall arcs:            " << Grouped(stats.arcs) << "\nFunctions:            " << Grouped(functions)
        << "\nTranslated blocks:    " << Grouped(blocks) << '\n';
}

}  // namespace bd
