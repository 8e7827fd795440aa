// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where text goes: open files, written with Valgrind's own calls, Valgrind's log, and memory.

#pragma once

#include <string_view>
#include <vector>

#include "engine/base/text_output.h"

namespace bd {

// Writes to an open file, which stays the caller's.
class FileOutput final : public TextOutput {
public:
    explicit FileOutput(int descriptor) : descriptor_(descriptor) {}

    // The error number of the first thing that failed; 0: none. Only known after finish().
    int error() const { return error_; }

private:
    bool write(std::string_view text) override;

    int descriptor_;
    int error_ = 0;
};

// Each line gets Valgrind's prefix.
class LogOutput final : public TextOutput {
private:
    bool write(std::string_view text) override;
};

// A text to be handed around.
class TextBuffer final : public TextOutput {
public:
    std::string_view view() {
        finish();
        return {text_.data(), text_.size()};
    }
    // For as long as nothing is added.
    const char* c_str();

private:
    bool write(std::string_view text) override;

    std::vector<char> text_;
};

}  // namespace bd
