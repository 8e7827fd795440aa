// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/sharing_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profile/name_lists.h"
#include "profile/object_writer.h"
#include "profile/why_section.h"

namespace bd {

void SharingWriter::write(const RunDescription& run) {
    NameLists names;
    WhyPlaces places(engine_, run.thread);
    for (const SharedAccess& access : sharing_.accesses()) {
        if (access.counts != SharingCounts{}) places.use(access.instruction, &names);
    }
    for (const CoreLoad& load : loads_.rows()) {
        if (load.instruction != kNoCost && !load.is_nothing()) places.use(load.instruction, &names);
    }
    places.number_all();
    number_lines(places);

    out_ << "sharing: 1\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    out_ << "line: " << engine_.config().caches.d1.line_bytes << "\ncores: " << engine_.config().cores
         << "\ncoherence: " << (engine_.config().coherence == CoherenceProtocol::kMesi ? "mesi" : "moesi")
         << "\npage: " << (1u << CoreLoads::kPageBits) << '\n';
    const LastLevelShares* const shares = engine_.config().separate_threads ? nullptr : engine_.ll_shares();
    if (shares != nullptr) out_ << "ll-lines: " << shares->lines() << '\n';
    names.write(out_, engine_);
    places.write(out_, names);
    write_lines(run.thread);
    write_objects();
    write_cores();
    if (engine_.core_costs().counts() && !engine_.config().separate_threads) write_totals();
    write_accesses(places, run.thread <= 1);
    write_loads(places, run);
    if (shares != nullptr) write_shares(*shares);
}

// By group, as numbered in the file of data objects; empty if there is none.
std::vector<std::uint32_t> SharingWriter::group_numbers(std::uint32_t thread) const {
    if (engine_.objects() == nullptr) return {};
    return ObjectWriter(out_, engine_, false).group_numbers(thread);
}

// Those that something has happened to, by address.
void SharingWriter::number_lines(const WhyPlaces& places) {
    numbers_.assign(sharing_.lines().size(), 0);
    for (const SharedAccess& access : sharing_.accesses()) {
        if (access.counts != SharingCounts{} && places.has(access.instruction)) numbers_[access.line] = 1;
    }
    for (std::uint32_t line = 0; line < numbers_.size(); ++line) {
        if (numbers_[line] != 0) written_.push_back(line);
    }
    std::ranges::sort(written_, {}, [this](std::uint32_t line) {
        return std::pair(sharing_.lines()[line].line, sharing_.lines()[line].group);
    });
    for (std::uint32_t i = 0; i < written_.size(); ++i) numbers_[written_[i]] = i + 1;
}

void SharingWriter::write_lines(std::uint32_t thread) {
    const std::vector<std::uint32_t> groups = group_numbers(thread);
    std::vector<std::array<std::uint64_t, 3>> rows;
    for (const std::uint32_t line : written_) {
        const SharedLine& shared = sharing_.lines()[line];
        rows.push_back({static_cast<std::uint64_t>(shared.line) << sharing_.line_bits(),
                        shared.group < groups.size() ? groups[shared.group] : 0, shared.only_object()});
    }
    write_section(out_, "lines: address group object", rows);
}

void SharingWriter::write_objects() {
    std::vector<std::array<std::uint64_t, 3>> rows;
    for (const std::uint32_t line : written_) {
        for (const ObjectRange& object : sharing_.lines()[line].objects) {
            rows.push_back({numbers_[line], object.begin, object.bytes});
        }
    }
    std::ranges::sort(rows);
    write_section(out_, "objects: line address bytes", rows);
}

void SharingWriter::write_cores() {
    std::vector<std::array<std::uint64_t, 8>> rows;
    for (const std::uint32_t line : written_) {
        for (const CoreUse& use : sharing_.lines()[line].cores) {
            rows.push_back({numbers_[line], use.core, use.read, use.written, use.kinds[0], use.kinds[1], use.kinds[2],
                            use.kinds[3]});
        }
    }
    std::ranges::sort(rows);
    write_section(out_, "cores: line core read written unknown false true migrating", rows);
}

// What is not counted is 0.
void SharingWriter::write_totals() {
    static constexpr std::array kColumns{
        Event::kIr,     Event::kDr,      Event::kDw,      Event::kI1mr,     Event::kD1mr,    Event::kD1mw,
        Event::kD1copy, Event::kI2mr,    Event::kD2mr,    Event::kD2mw,     Event::kILmr,    Event::kDLmr,
        Event::kDLmw,   Event::kSpLoss1, Event::kUsByte1, Event::kSpLossD1, Event::kUsByteD1};
    std::vector<std::array<std::uint64_t, kColumns.size() + 1>> rows;
    for (std::uint32_t core = 0; core < engine_.core_costs().cores(); ++core) {
        const ConstCosts costs = engine_.core_costs().of(core);
        std::array<std::uint64_t, kColumns.size() + 1> row{core};
        bool has_any = false;
        for (std::size_t i = 0; i < kColumns.size(); ++i) {
            if (column(kColumns[i]) < costs.size()) row[i + 1] = costs[column(kColumns[i])];
            has_any |= row[i + 1] != 0;
        }
        if (has_any) rows.push_back(row);
    }
    out_ << "totals: core";
    for (const Event event : kColumns) out_ << ' ' << kEvents[column(event)].name;
    write_section(out_, "", rows);
}

// Blocks that overlap have costs of their own for the same instruction.
void SharingWriter::write_accesses(const WhyPlaces& places, bool has_rest) {
    using Row = std::array<std::uint64_t, 9>;
    std::vector<Row> rows;
    const auto add = [&rows](std::uint64_t line, std::uint64_t core, std::uint64_t place, std::uint64_t bytes,
                             const SharingCounts& counts) {
        rows.push_back(
            {line, core, place, bytes, counts.reads, counts.writes, counts.lost, counts.invalidated, counts.atomics});
    };
    if (has_rest && sharing_.rest() != SharingCounts{}) add(0, 0, 0, 0, sharing_.rest());
    for (const SharedAccess& access : sharing_.accesses()) {
        if (access.counts == SharingCounts{} || !places.has(access.instruction)) continue;
        add(numbers_[access.line], access.core, places[access.instruction], access.bytes, access.counts);
    }
    std::ranges::sort(rows);
    std::vector<Row> sums;
    for (const Row& row : rows) {
        if (sums.empty() || !std::equal(row.begin(), row.begin() + 3, sums.back().begin())) {
            sums.push_back(row);
            continue;
        }
        sums.back()[3] |= row[3];
        for (std::size_t i = 4; i < row.size(); ++i) sums.back()[i] += row[i];
    }
    write_section(out_, "accesses: line core place bytes reads writes lost invalidated atomics", sums);
}

bool SharingWriter::is_written(const CoreLoad& load, const WhyPlaces& places, bool has_rest) const {
    return !load.is_nothing() && (load.instruction == kNoCost ? has_rest : places.has(load.instruction));
}

// A row for each core, place and data, and what others miss in the pages of that.
void SharingWriter::write_loads(const WhyPlaces& places, const RunDescription& run) {
    const std::vector<std::uint32_t> groups = group_numbers(run.thread);
    using Key = std::array<std::uint64_t, 3>;
    std::vector<std::pair<Key, const CoreLoad*>> loads;
    for (const CoreLoad& load : loads_.rows()) {
        if (!is_written(load, places, run.thread <= 1)) continue;
        const std::uint64_t place = load.instruction == kNoCost ? 0 : places[load.instruction];
        loads.push_back({{load.core, place, load.group < groups.size() ? groups[load.group] : 0}, &load});
    }
    std::ranges::sort(loads, {}, &std::pair<Key, const CoreLoad*>::first);
    std::vector<std::array<std::uint64_t, 7>> rows;
    std::vector<std::array<std::uint64_t, 3>> misses;
    for (std::size_t i = 0; i < loads.size();) {
        const Key key = loads[i].first;
        rows.push_back({key[0], key[1], key[2]});
        std::array<std::uint64_t, kMostCores> missed{};
        for (; i < loads.size() && loads[i].first == key; ++i) {
            const CoreLoad& load = *loads[i].second;
            const std::array counts{load.pages, load.lines, load.second, load.further};
            for (std::size_t column = 0; column < counts.size(); ++column) rows.back()[3 + column] += counts[column];
            for (const auto& [core, count] : load.misses) missed[core] += count;
        }
        for (std::uint32_t core = 0; core < kMostCores; ++core) {
            if (missed[core] != 0) misses.push_back({rows.size(), core, missed[core]});
        }
    }
    write_section(out_, "loads: core place group pages lines second further", rows);
    write_section(out_, "page-misses: load core misses", misses);
}

// What is not 0.
void SharingWriter::write_shares(const LastLevelShares& shares) {
    std::vector<std::array<std::uint64_t, 3>> cores;
    std::vector<std::array<std::uint64_t, 4>> evictions;
    for (std::uint32_t core = 0; core < shares.cores(); ++core) {
        if (shares.puts(core) != 0 || shares.held(core) != 0) {
            cores.push_back({core, shares.puts(core), shares.held(core)});
        }
        for (std::uint32_t loser = 0; loser < shares.cores(); ++loser) {
            const LastLevelShares::Evicted& evicted = shares.evicted(core, loser);
            if (evicted.lines != 0 || evicted.again != 0) {
                evictions.push_back({core, loser, evicted.lines, evicted.again});
            }
        }
    }
    write_section(out_, "ll-cores: core lines held", cores);
    write_section(out_, "ll-evictions: evictor core lines again", evictions);
}

}  // namespace bd
