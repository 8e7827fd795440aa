// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a file name leads to, found out without opening what is there: a FIFO would make us wait, a link could lead
// anywhere.
//
// Who names a file may have put a symbolic link, a FIFO or a device there, and means it. But in a folder where
// everybody may write, such as /tmp, anybody can guess a name and put a link there for others to follow, to files that
// only they may write. So there, only the user's own are good, and those of the folder's owner.

#pragma once

#include <string_view>

#include "tool/valgrind.h"

namespace bd {

// The text of a path. One that is too long for any file is cut, and found to be too long when it is used.
class Path {
public:
    Path() = default;
    explicit Path(std::string_view text) { *this << text; }

    Path& operator<<(std::string_view text);
    Path& operator<<(long long number);

    std::string_view view() const { return {text_, size_}; }
    const char* c_str() const { return text_; }
    bool empty() const { return size_ == 0; }

    // The folder that it names something in.
    Path folder() const;

private:
    static constexpr std::size_t kMost = 4096;  // the kernel's limit, PATH_MAX

    char text_[kMost + 1]{};
    std::size_t size_ = 0;
};

// A file descriptor that is closed again.
class Descriptor {
public:
    // Opens `path`, with these flags of open(2).
    Descriptor(const char* path, int flags, unsigned mode = 0);
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    void close();
    int number() const { return number_; }  // -1: none
    int error() const { return error_; }    // the error number of opening it

private:
    int number_ = -1;
    int error_ = 0;
};

// Error numbers of ours, besides those of the kernel.
inline constexpr int kPlanted = -1;   // another user's link or FIFO in a folder that everyone may write to
inline constexpr int kReplaced = -2;  // something else is there now

struct Place {
    enum class Kind {
        kNothing,     // a file can be made there
        kFile,        // one is there
        kStream,      // a FIFO, a device
        kDescriptor,  // what this process has open under number `descriptor`, as /dev/stdout is
    };

    Kind kind = Kind::kNothing;
    Path path;  // of the file itself, behind all links
    int descriptor = -1;
    int error = 0;  // why there can be no file; 0: there can

    bool is_stream() const { return kind == Kind::kStream || kind == Kind::kDescriptor; }
};

// What a name that the user has chosen leads to.
Place find_place(std::string_view name);

// Opens a place that is a stream for writing, out of the guest's reach; waits until a FIFO has a reader. Returns
// an error number.
int open_stream(const Place& place, int* descriptor);

// What an error number means, for a message.
const char* error_text(int error);

}  // namespace bd
