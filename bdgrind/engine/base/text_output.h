// SPDX-License-Identifier: GPL-2.0-or-later
//
// Collects text and hands it on in large pieces. A derived class says where they go: the tool writes with Valgrind's
// calls, the tests to memory.

#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace bd {

class TextOutput {
public:
    TextOutput() = default;
    TextOutput(const TextOutput&) = delete;
    TextOutput& operator=(const TextOutput&) = delete;

    TextOutput& operator<<(std::string_view text);
    TextOutput& operator<<(char c) { return *this << std::string_view(&c, 1); }
    template <std::integral Number>
    TextOutput& operator<<(Number number) {
        return *this << std::string_view(digits_, std::to_chars(digits_, std::end(digits_), number).ptr);
    }

    // Writes a number in hexadecimal with "0x" before it.
    TextOutput& hex(unsigned long long number);

    // Writes `number` divided by 10^decimals, with that many decimals: fixed(1234, 2) is 12.34.
    TextOutput& fixed(unsigned long long number, unsigned decimals);

    // Hands on what is left. False if anything could not be written, now or before.
    bool finish();

protected:
    ~TextOutput() = default;

    // Takes all of `text`; returns false if it could not.
    virtual bool write(std::string_view text) = 0;

private:
    char digits_[24];
    char buffer_[16384];
    std::size_t used_ = 0;
    bool good_ = true;
};

}  // namespace bd
