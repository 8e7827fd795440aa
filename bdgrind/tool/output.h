// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where text goes: files, written with Valgrind's own calls, Valgrind's log, and memory.

#pragma once

#include <string_view>
#include <vector>

#include "engine/base/text_output.h"

namespace bd {

class FileOutput final : public TextOutput {
public:
    enum class Mode { kReplace, kAppend };

    // Opens the file, which is made if it does not exist. See error().
    explicit FileOutput(const char* path, Mode mode = Mode::kReplace);
    ~FileOutput();

    // The error number of the first thing that failed; 0: none. Of writing, only known after finish().
    int error() const { return error_; }

private:
    bool write(std::string_view text) override;

    int fd_ = -1;
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

// What an error number means, for a message.
const char* error_text(int error);

}  // namespace bd
