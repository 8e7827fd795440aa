// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the debug information says about code, asked for when it is translated.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/program/symbols.h"

namespace bd {

struct CodeBlockName {
    Function* function;
    Address load_bias;         // address minus load_bias is the address in the object file
    std::uint32_t section;     // the kind of section
    bool is_entry;             // the address is the function's first
    Address entry;             // that one, as far as it is known
};

struct SourceLine {
    const SourceFile* file;
    std::uint32_t line;  // 0: unknown
};

class CodeNames {
public:
    explicit CodeNames(SymbolTable& symbols) : symbols_(symbols) {}

    CodeBlockName block(Address address);
    SourceLine line(Address address);

private:
    // A folder and a file in it, where the core has their names.
    using Path = std::pair<const char*, const char*>;
    struct PathHash {
        std::size_t operator()(const Path& path) const {
            return reinterpret_cast<std::uintptr_t>(path.first) * 31 + reinterpret_cast<std::uintptr_t>(path.second);
        }
    };

    void forget_old_names();
    const ObjectFile& object(const char* name);
    const SourceFile& file(const char* folder, const char* name);

    SymbolTable& symbols_;

    // The core's names stay where they are until debug information comes or goes, which begins another epoch. Until
    // then the address is known again, and not the text, for each instruction anew. (A program of 100,000 functions: a
    // twentieth of its run.)
    std::uint32_t epoch_ = 0;
    boost::unordered_flat_map<Path, const SourceFile*, PathHash> files_;
    const char* object_name_ = nullptr;
    const ObjectFile* object_ = nullptr;  // by that name
};

}  // namespace bd
