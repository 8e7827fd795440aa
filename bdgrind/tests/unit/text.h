// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests: text output to memory.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/text_output.h"

namespace bd::test {

class Text final : public TextOutput {
public:
    // All that was written.
    std::string finished() {
        EXPECT_TRUE(finish());
        std::string text;
        for (const std::string& piece : pieces) text += piece;
        return text;
    }

    std::vector<std::string> pieces;
    std::size_t room = ~std::size_t{0};  // writes beyond so many bytes fail

private:
    bool write(std::string_view text) override {
        if (text.size() > room) return false;
        room -= text.size();
        pieces.emplace_back(text);
        return true;
    }
};

}  // namespace bd::test
