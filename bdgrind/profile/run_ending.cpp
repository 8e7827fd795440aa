// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_ending.h"

#include <algorithm>
#include <cstdint>

namespace bd {
namespace {

struct Unit {
    std::uint64_t bytes;
    std::string_view name;
};
constexpr Unit kUnits[] = {{1U << 30U, " GiB"}, {1U << 20U, " MiB"}, {1U << 10U, " KiB"}};

// In the largest unit of which it is a multiple: a cache of 1.25 MiB has 1280 KiB.
void write_size(TextOutput& out, std::uint64_t bytes) {
    const auto* const unit =
        std::ranges::find_if(kUnits, [bytes](const Unit& each) { return bytes % each.bytes == 0; });
    if (unit == std::end(kUnits)) {
        out << bytes << " B";
    } else {
        out << bytes / unit->bytes << unit->name;
    }
}

void write_caches(TextOutput& out, const CacheGeometries& caches) {
    const bool same_lines =
        caches.i1.line_bytes == caches.d1.line_bytes && caches.d1.line_bytes == caches.ll.line_bytes;
    const auto write = [&](std::string_view name, const CacheGeometry& cache) {
        out << name;
        write_size(out, cache.size_bytes);
        out << ' ' << cache.ways << "-way";
        if (!same_lines) out << ' ' << cache.line_bytes << " B";
    };
    write("Caches:   I1 ", caches.i1);
    write(", D1 ", caches.d1);
    write(", LL ", caches.ll);
    if (same_lines) out << "; lines of " << caches.ll.line_bytes << " B";
    out << '\n';
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
}

// As one word of a shell's.
void write_word(TextOutput& out, std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) {
        out << text;
        return;
    }
    out << '\'';
    for (const char c : text) {
        if (c == '\'') {
            out << "'\\''";
        } else {
            out << c;
        }
    }
    out << '\'';
}

void write_files(TextOutput& out, const ProfileFiles& files) {
    write_word(out, files.name);
    if (files.by_thread) out << "-*";
    if (!files.in_parts) return;
    // A digit, as forked children write to <name>.pid<number>.
    out << ' ';
    write_word(out, files.name);
    out << ".[0-9]*";
}

}  // namespace

void write_run_ending(TextOutput& out, const CacheGeometries* caches, const ProfileFiles* files) {
    if (caches == nullptr && files == nullptr) return;
    out << '\n';
    if (caches != nullptr) write_caches(out, *caches);
    if (files == nullptr) return;
    out << "Profile:  ";
    write_files(out, *files);
    out << "\nRead it:  bd_annotate ";
    write_files(out, *files);
    out << '\n';
}

}  // namespace bd
