// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/new_file.h"

namespace bd {
namespace {

// VG_(rename) does not tell.
int error_of_rename(const Path& target) {
    vg_stat there{};
    const SysRes known = VG_(stat)(target.c_str(), &there);
    constexpr unsigned kFolder = 0040000;
    if (!sr_isError(known)) return (there.mode & kFolder) != 0 ? VKI_EISDIR : VKI_EPERM;
    return sr_Err(known) == VKI_ENOENT ? VKI_EPERM : static_cast<int>(sr_Err(known));
}

}  // namespace

// Viewers take a profile's name for a prefix of others, so this one begins otherwise. It is short, as the target's may
// be as long as a name can be.
NewFile::NewFile(const Path& target) {
    for (int i = 0; i < kTries; ++i) {
        path_ = target.folder();
        path_ << "/.bdgrind-" << VG_(getpid)();
        if (i != 0) path_ << "-" << i;
        path_ << ".tmp";
        const SysRes made = VG_(open)(path_.c_str(), kNewFile, kOwnersOnly);
        error_ = sr_isError(made) ? static_cast<int>(sr_Err(made)) : 0;
        if (error_ == 0) descriptor_ = static_cast<int>(sr_Res(made));
        if (error_ != VKI_EEXIST) return;
    }
}

NewFile::~NewFile() {
    if (descriptor_ < 0) return;
    VG_(close)(descriptor_);
    if (!is_in_place_) VG_(unlink)(path_.c_str());
}

int NewFile::rename_to(const Path& target) {
    is_in_place_ = VG_(rename)(path_.c_str(), target.c_str()) == 0;
    return is_in_place_ ? 0 : error_of_rename(target);
}

}  // namespace bd
