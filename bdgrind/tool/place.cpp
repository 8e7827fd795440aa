// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/place.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace bd {
namespace {

constexpr int kMostLinks = 40;  // as many as the kernel follows

constexpr unsigned kTypeMask = 0170000;
constexpr unsigned kFolderType = 0040000;
constexpr unsigned kRegular = 0100000;
constexpr unsigned kLink = 0120000;

// /dev/fd/3 and the like. The kernel would open the same file anew, which is not possible with all files, and begin
// at its start; what is meant is the open one. -1: it is not one of those.
int descriptor_of(std::string_view path) {
    if (path == "/dev/stdout") return 1;
    if (path == "/dev/stderr") return 2;
    for (const std::string_view folder : {"/proc/self/fd/", "/dev/fd/"}) {
        if (!path.starts_with(folder)) continue;
        const std::string_view digits = path.substr(folder.size());
        int number = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc{} && end == digits.data() + digits.size()) return number;
    }
    return -1;
}

// See above. `entry` is in `folder`.
bool is_planted(const vg_stat& folder, const vg_stat& entry) {
    return (folder.mode & VKI_S_IWOTH) != 0 && entry.uid != folder.uid &&
           entry.uid != static_cast<unsigned>(VG_(geteuid)());
}

// Follows the link at `path`, one step. False if it cannot be read.
bool follow(Path* path) {
    char target[4096];
    const SSizeT size = VG_(readlink)(path->c_str(), target, sizeof target);
    if (size <= 0) return false;
    const std::string_view text(target, static_cast<std::size_t>(size));
    Path next;
    if (text[0] != '/') next << path->folder().view() << "/";
    next << text;
    *path = next;
    return true;
}

}  // namespace

Path& Path::operator<<(std::string_view text) {
    const std::size_t fits = std::min(text.size(), kMost - size_);
    std::copy_n(text.data(), fits, text_ + size_);
    size_ += fits;
    text_[size_] = '\0';
    return *this;
}

Path& Path::operator<<(long long number) {
    char digits[24];
    return *this << std::string_view(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

Path Path::folder() const {
    const std::size_t slash = view().rfind('/');
    if (slash == std::string_view::npos) return Path(".");
    return Path(view().substr(0, std::max<std::size_t>(slash, 1)));
}

Descriptor::Descriptor(const char* path, int flags, unsigned mode) {
    const SysRes opened = VG_(open)(path, flags, static_cast<Int>(mode));
    if (sr_isError(opened)) {
        error_ = static_cast<int>(sr_Err(opened));
    } else {
        number_ = static_cast<int>(sr_Res(opened));
    }
}

void Descriptor::close() {
    if (number_ >= 0) VG_(close)(number_);
    number_ = -1;
}

Place find_place(std::string_view name) {
    Place place;
    place.path = Path(name);
    for (int links = 0; links <= kMostLinks; ++links) {
        place.descriptor = descriptor_of(place.path.view());
        if (place.descriptor >= 0) {
            place.kind = Place::Kind::kDescriptor;
            return place;
        }
        vg_stat folder{};
        if (const SysRes known = VG_(stat)(place.path.folder().c_str(), &folder); sr_isError(known)) {
            place.error = static_cast<int>(sr_Err(known));
            return place;
        }
        const Descriptor entry(place.path.c_str(), kOpenPathOnly | kOpenNoFollow);
        if (entry.error() == VKI_ENOENT) return place;
        vg_stat found{};
        place.error = entry.error() != 0 ? entry.error() : VG_(fstat)(entry.number(), &found) < 0 ? VKI_EACCES : 0;
        if (place.error != 0) return place;
        const unsigned type = found.mode & kTypeMask;
        if (type == kRegular) {
            place.kind = Place::Kind::kFile;
            return place;
        }
        if (type == kFolderType) {
            place.error = VKI_EISDIR;
        } else if (is_planted(folder, found)) {
            place.error = kPlanted;
        } else if (type != kLink) {
            place.kind = Place::Kind::kStream;
        } else if (follow(&place.path)) {
            continue;
        } else {
            place.error = VKI_EACCES;
        }
        return place;
    }
    place.error = kTooManyLinks;
    return place;
}

int open_stream(const Place& place, int* descriptor) {
    const SysRes opened = place.kind == Place::Kind::kDescriptor
                              ? VG_(dup)(place.descriptor)
                              : VG_(open)(place.path.c_str(), VKI_O_WRONLY, 0);
    if (sr_isError(opened)) return static_cast<int>(sr_Err(opened));
    *descriptor = VG_(safe_fd)(static_cast<Int>(sr_Res(opened)));
    return 0;
}

const char* error_text(int error) {
    switch (error) {
        case kPlanted:
            return "another user has put it there, in a folder that everyone may write to";
        case kReplaced:
            return "it has been removed or replaced";
        case VKI_ENOENT:
            return "there is no such folder";
        case VKI_ENOTDIR:
            return "part of the path is not a folder";
        case VKI_EISDIR:
            return "it is a folder";
        case VKI_EACCES:
        case VKI_EPERM:
            return "permission denied";
        case VKI_EROFS:
            return "the file system is read-only";
        case VKI_ENOSPC:
            return "no space is left on the device";
        case kDiskQuota:
            return "the disk quota is used up";
        case VKI_EFBIG:
            return "the file would be larger than the limit allows (ulimit -f)";
        case kNameTooLong:
            return "the name is too long";
        case kTooManyLinks:
            return "too many symbolic links lead to one another";
        case VKI_EBADF:
            return "no file is open under that number";
        case VKI_ENXIO:
            return "it cannot be opened like a file";
        case VKI_EPIPE:
            return "its reader has gone";
        case VKI_EMFILE:
        case VKI_ENFILE:
            return "too many files are open";
        default:
            return "an input/output error";
    }
}

}  // namespace bd
