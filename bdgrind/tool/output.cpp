// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/output.h"

#include <algorithm>

#include "tool/valgrind.h"

namespace bd {

namespace {

// A write that fails may come with a signal, which would be taken for one of the guest's: it may be a pipe of ours that
// is broken, and a file of ours that is too large.
void drop_signal(int number) {
    vki_sigset_t set{};
    const unsigned bit = static_cast<unsigned>(number) - 1;
    constexpr unsigned kBits = sizeof set.sig[0] * 8;
    set.sig[bit / kBits] |= 1ul << bit % kBits;
    vki_siginfo_t dropped;
    VG_(sigtimedwait_zero)(&set, &dropped);
}

}  // namespace

bool FileOutput::write(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const Int written = VG_(write)(descriptor_, text.data(), static_cast<Int>(text.size()));
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written != -VKI_EINTR) {
            error_ = written == 0 ? VKI_ENOSPC : -written;
        }
    }
    if (error_ == VKI_EPIPE) drop_signal(VKI_SIGPIPE);
    if (error_ == VKI_EFBIG) drop_signal(VKI_SIGXFSZ);
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

}  // namespace bd
