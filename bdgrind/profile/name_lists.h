// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lists of names in the heads of files that have binary columns: object files, source files, functions. What is
// named gets the number of its place in its list, from 1; docs/format.md.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/costs/contexts.h"
#include "engine/replay/engine.h"

namespace bd {

class NameLists {
public:
    // In the order of their first use.
    void add(const ObjectFile& object) { objects_.add(object.id, object); }
    void add(const SourceFile& file) { files_.add(file.id, file); }
    // With its object and its file.
    void add(const Context& context) {
        if (!functions_.add(context.id(), context)) return;
        add(*context.function().file);
        add(*context.function().object);
    }

    std::uint32_t operator[](const ObjectFile& object) const { return objects_.numbers[object.id]; }
    std::uint32_t operator[](const SourceFile& file) const { return files_.numbers[file.id]; }
    std::uint32_t operator[](const Context& context) const { return functions_.numbers[context.id()]; }

    // The lists objects:, files: and functions:. Where functions begin, `engine` knows.
    void write(TextOutput& out, const Engine& engine) const;

private:
    template <class Named>
    struct List {
        // Returns whether it is the first use.
        bool add(std::uint32_t id, const Named& what) {
            if (numbers.size() <= id) numbers.resize(id + std::size_t{1});
            if (numbers[id] != 0) return false;
            used.push_back(&what);
            numbers[id] = static_cast<std::uint32_t>(used.size());
            return true;
        }

        std::vector<std::uint32_t> numbers;  // by id; 0: not used
        std::vector<const Named*> used;
    };

    std::vector<std::uint32_t> first_lines(const Engine& engine) const;

    List<ObjectFile> objects_;
    List<SourceFile> files_;
    List<Context> functions_;
};

}  // namespace bd
