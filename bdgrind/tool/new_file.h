// SPDX-License-Identifier: GPL-2.0-or-later
//
// A file that takes the place of another one once it is complete. Until then it has a name of its own beside it; unless
// it has been put there, it is removed.

#pragma once

#include "tool/place.h"
#include "tool/valgrind.h"

namespace bd {

// Of files that are made. What is there already is neither opened nor followed.
inline constexpr unsigned kOwnersOnly = VKI_S_IRUSR | VKI_S_IWUSR;
inline constexpr int kNewFile = VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY | kOpenNoFollow;

// How many names are tried for one: killed processes that had the same number may have left files of these names.
inline constexpr int kTries = 100;

class NewFile {
public:
    // Makes it beside `target`.
    explicit NewFile(const Path& target);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int error() const { return error_; }  // the error number of making it; 0: none
    int descriptor() const { return descriptor_; }

    // Puts it in the place of what is there; a link is replaced, not followed. Returns an error number.
    int rename_to(const Path& target);

private:
    Path path_;
    int descriptor_ = -1;
    int error_ = 0;
    bool is_in_place_ = false;
};

}  // namespace bd
