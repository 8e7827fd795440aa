// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_ending.h"

#include <algorithm>
#include <cstdint>
#include <utility>

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

}  // namespace

void write_caches(TextOutput& out, const CacheGeometries& caches, std::string_view between) {
    const bool same_lines = caches.i1.line_bytes == caches.d1.line_bytes &&
                            caches.d1.line_bytes == caches.ll.line_bytes &&
                            (!caches.has_l2() || caches.l2.line_bytes == caches.ll.line_bytes);
    const auto write = [&](std::string_view name, const CacheGeometry& cache) {
        out << name;
        write_size(out, cache.size_bytes);
        out << ' ' << cache.ways << "-way";
        if (cache.replacement != Replacement{}) {
            out << ' ';
            write_replacement(out, cache.replacement);
        }
        if (cache.index == SetIndex::kHash) out << " hashed";
        if (!same_lines) out << ' ' << cache.line_bytes << " B";
    };
    write("I1 ", caches.i1);
    write(", D1 ", caches.d1);
    if (caches.has_l2()) write(", L2 ", caches.l2);
    write(", LL ", caches.ll);
    if (same_lines) out << between << "lines of " << caches.ll.line_bytes << " B";
    if (caches.is_exclusive()) out << ", exclusive LL";
    if (caches.is_inclusive()) out << ", inclusive LL";
}

namespace {

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

bool has_files(const ProfileFiles& files) {
    return files.is_there || files.in_parts || !files.elsewhere.empty();
}

void write_files(TextOutput& out, const ProfileFiles& files) {
    std::string_view between;
    const auto write = [&](std::string_view name, std::string_view behind) {
        out << std::exchange(between, " ");
        write_word(out, name);
        out << behind;
    };
    if (files.is_there) write(files.name, files.by_thread ? "-*" : "");
    // A digit, as forked children write to <name>.pid<number>.
    if (files.in_parts) write(files.name, ".[0-9]*");
    for (const std::string_view name : files.elsewhere) write(name, "");
}

}  // namespace

void write_run_ending(TextOutput& out, const CacheGeometries* caches, const ProfileFiles* files) {
    if (files != nullptr && !has_files(*files) && !files->is_lost) files = nullptr;
    if (caches == nullptr && files == nullptr) return;
    out << '\n';
    if (caches != nullptr) {
        out << "Caches:   ";
        write_caches(out, *caches);
        out << '\n';
    }
    if (files == nullptr) return;
    if (files->is_lost) out << "Lost:     the files named above, which could not be written anywhere\n";
    if (!has_files(*files)) return;
    out << "Read it:  bd_annotate ";
    write_files(out, *files);
    if (files->more_elsewhere != 0) {
        out << "\n          and " << files->more_elsewhere << " more files, which are named above";
    }
    out << '\n';
}

}  // namespace bd
