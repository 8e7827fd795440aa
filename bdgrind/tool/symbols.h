// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the debug information says about code, asked for when it is translated.

#pragma once

#include "engine/symbols.h"
#include "engine/types.h"

namespace bd {

struct CodeBlockName {
    Function* function;
    Address load_bias;         // address minus load_bias is the address in the object file
    std::uint32_t section;     // the kind of section
    bool is_entry;             // the address is the function's first
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
    SymbolTable& symbols_;
};

}  // namespace bd
