// SPDX-License-Identifier: GPL-2.0-or-later
//
// The files of a part of the profile: the profile itself and what stands beside it. A reader looks for the others where
// the profile is, so they are written together: all in their places; or all, by a name that is found there, in the
// folder for temporary files; or else the profile alone.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tool/out_file.h"

namespace bd {

struct PartFile {
    OutFile* file;
    const Text* text;
};

struct PartPlace {
    enum class Where : std::uint8_t { kNowhere, kInPlace, kElsewhere };

    Where where = Where::kNowhere;
    bool is_whole = false;  // else the profile is alone
    Path profile;           // where it is, if elsewhere
};

// The profile is the first of `files`; `ending` goes behind their names. What fails is told in the log.
PartPlace write_part(std::span<const PartFile> files, std::string_view ending);

}  // namespace bd
