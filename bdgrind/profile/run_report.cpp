// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "engine/costs/level_events.h"
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

struct LevelNames {
    Level level;
    std::string_view code;
    std::string_view data;
    std::string_view both;
};
constexpr LevelNames kLevelNames[]{
    {Level::kL1, "I1 ", "D1 ", "L1"}, {Level::kL2, "L2i", "L2d", "L2"}, {Level::kLL, "LLi", "LLd", "LL"}};

// What begins a line: one word, or two.
struct Label {
    Label(const char* only) : first(only) {}
    Label(std::string_view word, std::string_view other) : first(word), second(other) {}

    std::string_view first;
    std::string_view second;
};

class Report {
public:
    Report(TextOutput& out, const EventSet& events, ConstCosts totals) : out_(out), totals_(totals) {
        for (const std::uint64_t total : totals.first(kRunningEvents)) {
            width_ = std::max(width_, Grouped(total).view().size());
        }
        width_ = std::max(width_, Grouped(of(Event::kDr) + of(Event::kDw)).view().size());
        for (const LevelNames& each : kLevelNames) {
            const LevelEvents& level = kLevelEvents[each.level];
            if (events.has(level.misses[kFetch])) missed_.push_back(each);
            if (!events.has(level.use_of_lines[kUnusedBytes])) continue;
            used_.push_back(each);
            width_ = std::max(width_, Grouped(loaded(level.use_of_lines)).view().size());
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
        for (const LevelNames& each : missed_) part({each.code, "misses"}, code_misses(each.level), of(Event::kIr), "");
        for (const LevelNames& each : missed_) {
            part({each.data, "misses"}, data_misses(each.level).both(), references.both(), "");
        }
        if (events.has(Event::kDT2mr)) {
            part("Page walks", page_walks(Event::kIT2mr), of(Event::kIr) + references.both(), "");
            part("  with huge pages", page_walks(Event::kIH2mr), of(Event::kIr) + references.both(), "");
        }
        for (const LevelNames& each : used_) {
            const auto& use = kLevelEvents[each.level].use_of_data;
            part({each.data, "bytes never used"}, of(use[kUnusedBytes]), loaded(use), " of those loaded");
        }
        if (events.has(Event::kBc)) {
            part("Mispredicts", of(Event::kBcm) + of(Event::kBim), of(Event::kBc) + of(Event::kBi), "");
        }
    }

    void write_misses() {
        count("I   refs", of(Event::kIr));
        for (const LevelNames& each : missed_) count({each.code, "misses"}, code_misses(each.level));
        for (const LevelNames& each : missed_) rate({each.code, "miss rate"}, code_misses(each.level), of(Event::kIr));
        out_ << '\n';
        data("D   refs", data_references());
        for (const LevelNames& each : missed_) data({each.data, "misses"}, data_misses(each.level));
        for (const LevelNames& each : missed_) data_rate({each.data, "miss rate"}, data_misses(each.level));
        if (missed_.size() == 1) return;
        out_ << '\n';
        // What missed a level is asked of the next one.
        DataCount references{};
        for (const LevelNames& each : missed_) {
            const DataCount misses{code_misses(each.level) + data_misses(each.level).reads,
                                   data_misses(each.level).writes};
            if (each.level != Level::kL1) {
                data({each.both, "refs"}, references);
                data({each.both, "misses"}, misses);
                rate({each.both, "miss rate"}, misses.both(), of(Event::kIr) + data_references().both());
            }
            references = misses;
        }
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

    void write_use() {
        for (const LevelNames& names : used_) {
            const auto& use = kLevelEvents[names.level].use_of_lines;
            const auto& use_of_data = kLevelEvents[names.level].use_of_data;
            out_ << '\n';
            label({names.both, "bytes loaded"});
            number(loaded(use));
            out_ << '\n';
            label({names.both, "bytes never used"});
            number(of(use[kUnusedBytes]));
            out_ << "  (";
            out_.fixed(per_ten_thousand(of(use[kUnusedBytes]), loaded(use)), 2) << "%)\n";
            label({names.both, "of these, data"});
            number(of(use_of_data[kUnusedBytes]));
            out_ << "  (";
            out_.fixed(per_ten_thousand(of(use_of_data[kUnusedBytes]), loaded(use_of_data)), 2) << "% of its bytes)\n";
            const std::uint64_t lines = of(use[kLinesEvicted]);
            label({names.both, "lines evicted"});
            number(lines);
            out_ << '\n';
            label({names.both, "accesses per line"});
            const std::uint64_t hundredths = lines == 0 ? 0 : per_ten_thousand(of(use[kAccesses]), lines) / 100;
            pad(out_, Grouped(hundredths / 100).view().size() + 3, width_);
            out_ << Grouped(hundredths / 100) << '.' << hundredths / 10 % 10 << hundredths % 10 << '\n';
        }
    }

private:
    static constexpr std::size_t kLabelWidth = 22;

    static constexpr auto kFetch = static_cast<std::size_t>(Missed::kFetch);
    static constexpr auto kRead = static_cast<std::size_t>(Missed::kRead);
    static constexpr auto kWrite = static_cast<std::size_t>(Missed::kWrite);

    std::uint64_t of(Event event) const { return totals_[column(event)]; }
    std::uint64_t code_misses(Level level) const { return of(kLevelEvents[level].misses[kFetch]); }
    DataCount data_misses(Level level) const {
        const LevelEvents& events = kLevelEvents[level];
        return {of(events.misses[kRead]), of(events.misses[kWrite])};
    }
    // `fetches`: its misses of the second level; those of reads and writes stand behind them.
    std::uint64_t page_walks(Event fetches) const {
        const std::size_t first = column(fetches);
        return totals_[first] + totals_[first + 1] + totals_[first + 2];
    }
    DataCount data_references() const { return {of(Event::kDr), of(Event::kDw)}; }
    // In bytes. `use`: by UseColumn.
    std::uint64_t loaded(const std::array<Event, kUseColumns>& use) const {
        return of(use[kUnusedBytes]) + of(use[kUsedBytes]);
    }

    void label(const Label& words) {
        out_ << words.first;
        std::size_t used = words.first.size() + 1;
        if (!words.second.empty()) {
            out_ << ' ' << words.second;
            used += words.second.size() + 1;
        }
        out_ << ':';
        pad(out_, used, kLabelWidth);
    }
    void number(std::uint64_t number) {
        const Grouped grouped(number);
        pad(out_, grouped.view().size(), width_);
        out_ << grouped;
    }
    void count(const Label& name, std::uint64_t count) {
        label(name);
        number(count);
        out_ << '\n';
    }
    void part(const Label& name, std::uint64_t number_of, std::uint64_t whole, std::string_view behind) {
        label(name);
        number(number_of);
        out_ << "  (";
        out_.fixed(per_ten_thousand(number_of, whole), 2) << '%' << behind << ")\n";
    }
    void data(const Label& name, const DataCount& counts) {
        label(name);
        number(counts.both());
        out_ << "  (";
        number(counts.reads);
        out_ << " rd + ";
        number(counts.writes);
        out_ << " wr)\n";
    }
    void branches(const Label& name, std::uint64_t conditional, std::uint64_t indirect) {
        label(name);
        number(conditional + indirect);
        out_ << "  (";
        number(conditional);
        out_ << " cond + ";
        number(indirect);
        out_ << " ind)\n";
    }
    void rate(const Label& name, std::uint64_t misses, std::uint64_t references) {
        label(name);
        percent(misses, references);
        out_ << '\n';
    }
    void data_rate(const Label& name, const DataCount& misses) {
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
    // The levels of which there are misses, and the use of lines.
    std::vector<LevelNames> missed_;
    std::vector<LevelNames> used_;
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
        report.write_misses();
    }
    report.write_use();
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
