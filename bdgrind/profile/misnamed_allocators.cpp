// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/misnamed_allocators.h"

#include <algorithm>

#include "profile/file_head.h"

namespace bd {
namespace {

constexpr int kMostNamed = 5;

void write_misnamed(TextOutput& out, const NamedAllocator& which) {
    const unsigned argument = which.function->allocator.size;
    out << "--alloc-fn" << argument << '=';
    write_text(out, which.function->name);
    out << ": ";
    if (which.never_allocates()) {
        out << "none of its " << which.calls << " calls returned a block. ";
    } else if (which.returns_no_block()) {
        out << which.outside << " of its " << which.calls << " results point outside the program's memory. ";
    } else {
        out << which.oversized << " of its " << which.calls << " results lie in less memory than argument " << argument
            << " says. ";
    }
    if (which.has_no_size()) {
        out << "If another argument is the size, name it: --alloc-fn<n>=.";
    } else {
        out << "If it does not return the block, remove the option.";
    }
}

}  // namespace

void write_misnamed_allocators(TextOutput& out, const NamedAllocators& all, std::string_view before) {
    int named = 0;
    for (const NamedAllocator& each : all.all()) {
        if (!each.is_misnamed() || ++named > kMostNamed) continue;
        out << before;
        write_misnamed(out, each);
        out << '\n';
    }
    if (named > kMostNamed) {
        const int more = named - kMostNamed;
        out << before << "Likewise " << more << " more function" << (more == 1 ? "" : "s")
            << " that an --alloc-fn option names.\n";
    }
}

}  // namespace bd
