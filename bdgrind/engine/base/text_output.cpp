// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/text_output.h"

#include <algorithm>

namespace bd {

TextOutput& TextOutput::operator<<(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = std::min(text.size(), sizeof buffer_ - used_);
        std::copy_n(text.data(), size, buffer_ + used_);
        used_ += size;
        text.remove_prefix(size);
        if (used_ == sizeof buffer_) finish();
    }
    return *this;
}

TextOutput& TextOutput::hex(unsigned long long number) {
    *this << "0x";
    return *this << std::string_view(digits_, std::to_chars(digits_, std::end(digits_), number, 16).ptr);
}

TextOutput& TextOutput::fixed(unsigned long long number, unsigned decimals) {
    unsigned long long unit = 1;
    for (unsigned i = 0; i < decimals; ++i) unit *= 10;
    *this << number / unit;
    if (decimals == 0) return *this;
    *this << '.';
    for (unit /= 10; unit != 0; unit /= 10) *this << number / unit % 10;
    return *this;
}

bool TextOutput::finish() {
    if (good_ && used_ != 0) good_ = write({buffer_, used_});
    used_ = 0;
    return good_;
}

}  // namespace bd
