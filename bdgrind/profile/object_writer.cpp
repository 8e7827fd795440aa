// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/object_writer.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "profile/binary_column.h"
#include "profile/name_order.h"

namespace bd {
namespace {

std::string_view text_of(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::kUnknown:
            return "unknown";
        case ObjectKind::kCode:
            return "code";
        case ObjectKind::kHeap:
            return "heap";
        case ObjectKind::kUnused:
            return "unused";
        case ObjectKind::kStack:
            return "stack";
        case ObjectKind::kStatic:
            return "static";
        case ObjectKind::kThreadLocal:
            return "thread-local";
        case ObjectKind::kFile:
            return "file";
        case ObjectKind::kMapping:
            return "mapping";
    }
    return "unknown";
}

bool any(ConstCosts costs) {
    return std::ranges::any_of(costs, [](std::uint64_t count) { return count != 0; });
}

}  // namespace

ObjectWriter::ObjectWriter(TextOutput& out, const Engine& engine, bool compat_events)
    : out_(out), engine_(engine), objects_(*engine.objects()), events_{engine.events(), compat_events} {}

void ObjectWriter::write(const RunDescription& run) {
    choose_rows(run.thread);
    choose_groups(run.thread);
    out_ << "data-objects: 3\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    out_ << "depth: " << objects_.rules().depth << "\nwhole-to: " << UsePatterns::kMostWhole << '\n';
    if (const std::uint32_t one_in = objects_.patterns().one_in(); one_in != 1) out_ << "sample: " << one_in << '\n';
    write_events(out_, events_);
    names_.write(out_, engine_);
    write_groups(run.thread);
    write_rows();
    write_patterns();
}

// By group, function and line.
void ObjectWriter::choose_rows(std::uint32_t thread) {
    places_.assign(engine_.costs().size() + std::size_t{1}, {});
    cells_.reserve(objects_.costs().cells().size());
    std::vector<std::uint64_t> code(engine_.events().width());
    for (const BlockCost* cost : engine_.blocks().all()) {
        if (thread != 0 && cost->context->thread() != thread) continue;
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            if (cost->instructions[i] == kNoCost) continue;
            const Instruction& instruction = cost->block->instructions()[i];
            places_[index_of(cost->instructions[i])] = {cost->context, instruction.file, instruction.line};
            objects_.costs().get_code_costs(cost->instructions[i], code);
            if (!any(code)) continue;
            const GroupId group = objects_.groups().known_code(*cost->block->function->object);
            cells_.push_back({cost->instructions[i], group, kNoCost});
        }
    }
    for (const ObjectCell& cell : objects_.costs().cells()) {
        if (places_[index_of(cell.instruction)].context == nullptr || !any(engine_.costs()[cell.costs])) continue;
        cells_.push_back(cell);
    }
    const auto key = [this](const ObjectCell& cell) {
        const Place& place = places_[index_of(cell.instruction)];
        return std::tuple(cell.group, place.context->id(), place.file->id, place.line);
    };
    std::ranges::sort(cells_, {}, key);
    for (std::uint32_t i = 0; i < cells_.size(); ++i) {
        if (i == 0 || key(cells_[i - 1]) != key(cells_[i])) rows_.push_back({i});
    }
    rows_.push_back({static_cast<std::uint32_t>(cells_.size())});
}

// What cost something, or is a heap block.
void ObjectWriter::choose_groups(std::uint32_t thread) {
    const std::span<const ObjectGroup> all = objects_.groups().all();
    group_numbers_.assign(all.size(), 0);
    for (const ObjectCell& cell : cells_) group_numbers_[static_cast<std::uint32_t>(cell.group)] = 1;
    for (const auto& [pattern, count] : objects_.patterns().all()) {
        if (places_[index_of(pattern.loaded_by())].context == nullptr) continue;
        group_numbers_[static_cast<std::uint32_t>(pattern.group())] = 1;
    }
    for (std::uint32_t id = 0; id < all.size(); ++id) {
        const ObjectGroup& group = all[id];
        const bool has_blocks = (group.blocks != 0 || group.live_bytes != 0) && is_counted_here(group, thread);
        if (group_numbers_[id] == 0 && !has_blocks) continue;
        groups_.push_back(GroupId{id});
        group_numbers_[id] = static_cast<std::uint32_t>(groups_.size());
        if (group.object != nullptr) names_.add(*group.object);
        if (group.function != nullptr) {
            names_.add(*group.function->object);
            names_.add(*group.function->file);
        }
        for (const ObjectPlace& place : group.places) {
            names_.add(*place.from->context);
            names_.add(*place.from->block->instructions()[place.instruction].file);
        }
    }
    for (const ObjectCell& cell : cells_) {
        const Place& place = places_[index_of(cell.instruction)];
        names_.add(*place.context);
        names_.add(*place.file);
    }
}

void ObjectWriter::write_groups(std::uint32_t thread) {
    out_ << "groups: " << groups_.size() << '\n';
    for (const GroupId id : groups_) {
        const ObjectGroup& group = objects_.groups()[id];
        write_group(group, is_counted_here(group, thread));
    }
}

void ObjectWriter::write_group(const ObjectGroup& group, bool is_counted) {
    out_ << text_of(group.kind);
    const auto write_function = [this, &group] {
        if (group.function == nullptr) return;
        const Function& function = *group.function;
        out_ << ' ' << names_[*function.object] << ' ' << names_[*function.file] << ' ';
        write_text(out_, function.name);
    };
    switch (group.kind) {
        case ObjectKind::kUnknown:
        case ObjectKind::kUnused:
            break;
        case ObjectKind::kCode:
        case ObjectKind::kFile:
            out_ << ' ' << (group.object == nullptr ? 0 : names_[*group.object]);
            break;
        case ObjectKind::kStack:
            write_function();
            break;
        case ObjectKind::kStatic:
        case ObjectKind::kThreadLocal:
            out_ << ' ' << (group.object == nullptr ? 0 : names_[*group.object]) << ' ' << group.size << ' ';
            write_text(out_, group.name);
            break;
        case ObjectKind::kHeap:
            if (is_counted) {
                out_ << ' ' << group.blocks << ' ' << group.bytes << ' ' << group.blocks_freed << ' '
                     << group.live_bytes << ' ' << group.most_live_bytes;
            } else {
                out_ << " 0 0 0 0 0";
            }
            out_ << ' ' << group.smallest << ' ' << group.largest << ' ' << group.divisor << ' ' << group.usual_size();
            [[fallthrough]];
        case ObjectKind::kMapping:
            out_ << ' ' << group.places.size();
            for (const ObjectPlace& place : group.places) {
                const Block& block = *place.from->block;
                const Instruction& instruction = block.instructions()[place.instruction];
                out_ << ' ' << names_[*place.from->context] << ' ' << names_[*instruction.file] << ' '
                     << instruction.line << ' ' << block.instruction_address(place.instruction) - block.load_bias;
            }
            write_function();
            break;
    }
    out_ << '\n';
}

void ObjectWriter::write_rows() {
    const std::size_t width = engine_.events().width();
    std::vector<std::uint64_t> totals(width);
    std::vector<std::uint64_t> costs;
    std::vector<std::uint64_t> code(width);
    std::vector<std::uint64_t> values;
    out_ << "rows:\n";
    const std::size_t all = rows_.size() - 1;
    write_in_blocks(out_, all, [&](std::size_t first, std::size_t count) {
        const std::span<const Row> rows = std::span(rows_).subspan(first, count);
        const auto write = [&](auto value_of) {
            values.clear();
            for (const Row& row : rows) values.push_back(value_of(row));
            write_column(out_, values);
        };
        write([&](const Row& row) { return number(group_of(row)); });
        write([&](const Row& row) { return names_[*place_of(row).context]; });
        write([&](const Row& row) { return names_[*place_of(row).file]; });
        write([&](const Row& row) { return place_of(row).line; });
        costs.assign(count * width, 0);
        for (std::size_t i = 0; i < count; ++i) {
            const Costs sum(&costs[i * width], width);
            for (const ObjectCell& cell : cells_of(first + i)) {
                if (cell.costs == kNoCost) {
                    objects_.costs().get_code_costs(cell.instruction, code);
                    add(sum, code);
                } else {
                    add(sum, engine_.costs()[cell.costs]);
                }
            }
        }
        for (std::size_t event = 0; event < width; ++event) {
            if (!events_.has(event)) continue;
            values.clear();
            for (std::size_t i = event; i < costs.size(); i += width) values.push_back(costs[i]);
            write_column(out_, values);
            totals[event] += std::accumulate(values.begin(), values.end(), std::uint64_t{0});
        }
    });
    write_binary(out_, all, kTotalBytes);
    for (std::size_t event = 0; event < width; ++event) {
        if (events_.has(event)) write_binary(out_, totals[event], kTotalBytes);
    }
}

// Sorted by what a row has: several instructions of a line may have the same. They are many; there is no copy of all.
void ObjectWriter::write_patterns() {
    const std::span<const PatternCount> all = objects_.patterns().all();
    std::vector<std::uint32_t> order;
    order.reserve(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (places_[index_of(all[i].pattern.loaded_by())].context != nullptr) order.push_back(i);
    }
    const auto row_of = [&](std::uint32_t i) {
        const auto& [pattern, times] = all[i];
        const Place& by = places_[index_of(pattern.loaded_by())];
        return PatternRow{{number(pattern.group()), names_[*by.context], names_[*by.file], by.line, pattern.offset(),
                           pattern.bytes()},
                          pattern.used(),
                          times};
    };
    std::ranges::sort(order, {}, row_of);
    std::vector<std::uint32_t> firsts;  // in order, by row; and one behind the last
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        if (i == 0 || !row_of(order[i]).is_like(row_of(order[i - 1]))) firsts.push_back(i);
    }
    firsts.push_back(static_cast<std::uint32_t>(order.size()));
    std::vector<PatternRow> rows;
    std::vector<std::uint64_t> values;
    write_in_blocks(out_, firsts.size() - 1, [&](std::size_t first, std::size_t count) {
        rows.clear();
        for (std::size_t i = first; i < first + count; ++i) {
            PatternRow& row = rows.emplace_back(row_of(order[firsts[i]]));
            for (std::size_t same = firsts[i] + 1; same < firsts[i + 1]; ++same) row.times += all[order[same]].times;
        }
        const auto write = [&](auto value_of) {
            values.clear();
            for (const PatternRow& row : rows) values.push_back(value_of(row));
            write_column(out_, values);
        };
        for (std::size_t i = 0; i < PatternRow{}.where.size(); ++i) {
            write([i](const PatternRow& row) { return row.where[i]; });
        }
        write([](const PatternRow& row) { return row.used; });
        write([](const PatternRow& row) { return row.times; });
    });
    write_binary(out_, firsts.size() - 1, kTotalBytes);
}

}  // namespace bd
