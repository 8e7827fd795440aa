// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/out_files.h"

#include <cstddef>

#include "tool/new_file.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// The profile is put in its place last: where it is, the others are.
bool write_in_place(std::span<const PartFile> files, std::string_view ending) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].file->write(ending, *files[i].text) == 0) continue;
        for (const PartFile& written : files.first(i + 1)) written.file->give_up();
        return false;
    }
    for (std::size_t i = files.size(); i-- != 0;) {
        if (files[i].file->commit() == 0) continue;
        for (const PartFile& each : files) each.file->give_up();
        return false;
    }
    return true;
}

// Returns an error number.
int write_all_beside(std::span<const PartFile> files, const Path& profile) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        const int error = files[i].file->write_beside(profile, *files[i].text);
        if (error == 0) continue;
        for (const PartFile& written : files.first(i)) VG_(unlink)(written.file->beside(profile).c_str());
        return error;
    }
    return 0;
}

bool write_elsewhere(std::span<const PartFile> files, std::string_view ending, Path* profile) {
    int error = VKI_EEXIST;
    for (int i = 0; error == VKI_EEXIST && i < kTries; ++i) {
        *profile = Path(VG_(tmpdir)());
        *profile << "/bdgrind.out." << VG_(getpid)() << ending;
        if (i != 0) *profile << "~" << i;
        error = write_all_beside(files, *profile);
    }
    if (error != 0) return false;
    for (const PartFile& each : files) each.file->say_elsewhere(*profile);
    return true;
}

}  // namespace

PartPlace write_part(std::span<const PartFile> files, std::string_view ending) {
    using enum PartPlace::Where;
    Path profile;
    if (write_in_place(files, ending)) return {kInPlace, true, {}};
    if (write_elsewhere(files, ending, &profile)) return {kElsewhere, true, profile};
    if (files.size() == 1) return {};
    const auto alone = files.first(1);
    if (write_in_place(alone, ending)) {
        VG_(umsg)("Only the profile itself is in %s.\n", alone[0].file->meant_for().c_str());
        return {kInPlace, false, {}};
    }
    if (write_elsewhere(alone, ending, &profile)) return {kElsewhere, false, profile};
    return {};
}

}  // namespace bd
