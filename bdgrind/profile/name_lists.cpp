// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/name_lists.h"

#include <algorithm>
#include <string_view>

#include "profile/file_head.h"

namespace bd {

void NameLists::write(TextOutput& out, const Engine& engine) const {
    const auto write_list = [&out](std::string_view key, const auto& names) {
        out << key << ": " << names.size() << '\n';
        for (const auto* name : names) {
            write_text(out, name->name);
            out << '\n';
        }
    };
    write_list("objects", objects_.used);
    write_list("files", files_.used);
    const std::vector<std::uint32_t> lines = first_lines(engine);
    out << "functions: " << functions_.used.size() << '\n';
    for (const Context* context : functions_.used) {
        const Function& function = context->function();
        out << (*this)[*function.object] << ' ' << (*this)[*function.file] << ' ' << lines[context->id()] << ' ';
        write_context_name(out, *context);
        out << '\n';
    }
}

// The line in which each function begins, by Context::id; 0: not known.
std::vector<std::uint32_t> NameLists::first_lines(const Engine& engine) const {
    std::vector<std::uint32_t> lines(functions_.numbers.size());
    for (const BlockCost* cost : engine.blocks().all()) {
        const std::uint32_t id = cost->context->id();
        if (!cost->block->is_entry || id >= lines.size() || lines[id] != 0) continue;
        const Instruction& first = cost->block->instructions()[0];
        if (first.file == cost->context->function().file) lines[id] = first.line;
    }
    return lines;
}

}  // namespace bd
