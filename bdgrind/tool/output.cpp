// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/output.h"

#include <algorithm>

#include "tool/valgrind.h"

namespace bd {

FileOutput::FileOutput(const char* path, Mode mode) {
    const SysRes opened = VG_(open)(path,
                                    VKI_O_CREAT | VKI_O_WRONLY | (mode == Mode::kAppend ? VKI_O_APPEND : VKI_O_TRUNC),
                                    VKI_S_IRUSR | VKI_S_IWUSR | VKI_S_IRGRP | VKI_S_IROTH);
    if (sr_isError(opened)) {
        error_ = static_cast<int>(sr_Err(opened));
        return;
    }
    fd_ = static_cast<int>(sr_Res(opened));
}

FileOutput::~FileOutput() {
    if (fd_ >= 0) VG_(close)(fd_);
}

bool FileOutput::write(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const Int written = VG_(write)(fd_, text.data(), static_cast<Int>(text.size()));
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written != -VKI_EINTR) {
            error_ = written == 0 ? VKI_ENOSPC : -written;
        }
    }
    return error_ == 0;
}

// The core takes whole lines of limited length only.
bool LogOutput::write(std::string_view text) {
    HChar line[256];
    while (!text.empty()) {
        const std::size_t end = std::min({text.find('\n') + 1 == 0 ? text.size() : text.find('\n') + 1, text.size(),
                                          sizeof line - 1});
        std::copy_n(text.data(), end, line);
        line[end] = '\0';
        VG_(umsg)("%s", line);
        text.remove_prefix(end);
    }
    return true;
}

const char* TextBuffer::c_str() {
    finish();
    text_.push_back('\0');
    const char* const text = text_.data();
    text_.pop_back();
    return text;
}

bool TextBuffer::write(std::string_view text) {
    text_.insert(text_.end(), text.begin(), text.end());
    return true;
}

const char* error_text(int error) {
    switch (error) {
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
        case VKI_EMFILE:
        case VKI_ENFILE:
            return "too many files are open";
        default:
            return "an input/output error";
    }
}

}  // namespace bd
