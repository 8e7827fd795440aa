// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/guest_text.h"

namespace bd {

std::string_view read_guest_text(Addr address, std::span<char> buffer) {
    std::size_t size = 0;
    for (; size < buffer.size(); ++size) {
        if (!VG_(am_is_valid_for_client)(address + size, 1, VKI_PROT_READ)) break;
        const char c = *reinterpret_cast<const char*>(address + size);
        if (c == '\0') break;
        buffer[size] = c;
    }
    return {buffer.data(), size};
}

}  // namespace bd
