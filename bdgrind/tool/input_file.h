// SPDX-License-Identifier: GPL-2.0-or-later
//
// An object file of the guest's, to be read in parts.

#pragma once

#include "tool/elf_variables.h"
#include "tool/valgrind.h"

namespace bd {

class InputFile {
public:
    explicit InputFile(const HChar* path) : descriptor_(VG_(fd_open)(path, VKI_O_RDONLY, 0)) {}
    ~InputFile() {
        if (descriptor_ >= 0) VG_(close)(descriptor_);
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    // Nothing if it could not be opened. Valid as long as this is.
    FileBytes bytes() const {
        const Off64T size = descriptor_ < 0 ? 0 : VG_(lseek)(descriptor_, 0, VKI_SEEK_END);
        return {size < 0 ? 0 : static_cast<std::uint64_t>(size), read, this};
    }

private:
    static bool read(const void* file, std::uint64_t offset, std::span<unsigned char> bytes) {
        const Int descriptor = static_cast<const InputFile*>(file)->descriptor_;
        if (VG_(lseek)(descriptor, static_cast<Off64T>(offset), VKI_SEEK_SET) < 0) return false;
        return VG_(read)(descriptor, bytes.data(), static_cast<Int>(bytes.size())) == static_cast<Int>(bytes.size());
    }

    Int descriptor_;
};

}  // namespace bd
