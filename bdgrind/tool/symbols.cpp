// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/symbols.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tool/options.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// Readers of the format know this for a name that is not known.
constexpr const char* kUnknown = "???";

// A function without a name gets its address in the object file for one: 0x and 16 digits, as in Callgrind;
// behind that of a stub stands [PLT].
class AddressName {
public:
    AddressName(Address address, bool is_stub) {
        char digits[16];
        const char* const end = std::to_chars(digits, std::end(digits), address, 16).ptr;
        std::fill(text_, text_ + kSize, '0');
        text_[1] = 'x';
        std::copy(static_cast<const char*>(digits), end, text_ + kSize - (end - digits));
        if (is_stub) std::ranges::copy(kStub, text_ + kSize);
        size_ = is_stub ? sizeof text_ : kSize;
    }
    std::string_view view() const { return {text_, size_}; }

private:
    static constexpr std::string_view kStub = " [PLT]";
    static constexpr std::size_t kSize = 18;

    char text_[kSize + kStub.size()];
    std::size_t size_;
};

bool is_stub_section(VgSectKind section) {
    return section == Vg_SectPLT || section == Vg_SectGOTPLT;
}

// The object whose code is mapped around `address`; null if there is none. The core knows an object by a few of its
// sections, but .plt.got, for one, has code as well.
const DebugInfo* mapped_around(Addr address) {
    const NSegment* const segment = VG_(am_find_nsegment)(address);
    if (segment == nullptr || segment->kind != SkFileC) return nullptr;
    const DebugInfo* info = VG_(next_DebugInfo)(nullptr);
    while (info != nullptr && (VG_(DebugInfo_get_text_size)(info) == 0 ||
                               VG_(DebugInfo_get_text_avma)(info) < segment->start ||
                               VG_(DebugInfo_get_text_avma)(info) > segment->end)) {
        info = VG_(next_DebugInfo)(info);
    }
    return info;
}

// What the core knows about the object that `address` is in; null if nothing. By address, it finds code only that is
// not in a section of stubs.
const DebugInfo* debug_info(Addr address, VgSectKind section) {
    if (!is_stub_section(section)) {
        const DebugInfo* const info = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), address);
        return info != nullptr ? info : mapped_around(address);
    }
    const auto within = [address](Addr begin, SizeT size) { return address - begin < size; };
    const DebugInfo* info = VG_(next_DebugInfo)(nullptr);
    while (info != nullptr && !within(VG_(DebugInfo_get_plt_avma)(info), VG_(DebugInfo_get_plt_size)(info)) &&
           !within(VG_(DebugInfo_get_gotplt_avma)(info), VG_(DebugInfo_get_gotplt_size)(info))) {
        info = VG_(next_DebugInfo)(info);
    }
    return info;
}

// The folder, a slash and the file, in `buffer`; cut if it does not fit.
std::string_view join_path(const char* folder, const char* file, char (&buffer)[4096]) {
    std::size_t size = 0;
    const auto append = [&](std::string_view part) {
        const std::size_t fits = std::min(part.size(), sizeof buffer - size);
        std::copy_n(part.data(), fits, buffer + size);
        size += fits;
    };
    if (folder != nullptr && folder[0] != '\0' && file[0] != '/') {
        append(folder);
        append("/");
    }
    append(file);
    return {buffer, size};
}

// Takes the "+123" off the end of "name+123"; without it, the offset stays as it is.
std::string_view split_offset(std::string_view name, Address* offset) {
    const std::size_t plus = name.rfind('+');
    if (plus == std::string_view::npos || plus + 1 == name.size()) return name;
    const auto [end, error] = std::from_chars(name.data() + plus + 1, name.data() + name.size(), *offset);
    const bool is_number = error == std::errc{} && end == name.data() + name.size();
    return is_number ? name.substr(0, plus) : name;
}

// The dynamic linker's resolvers end by a jump to what they found.
bool is_resolver(std::string_view function) {
    return function.starts_with("_dl_runtime_resolve");
}

}  // namespace

// To be called before the core is asked.
void CodeNames::forget_old_names() {
    const std::uint32_t now = VG_(current_DiEpoch)().n;
    if (epoch_ == now) return;
    epoch_ = now;
    files_.clear();
    object_name_ = nullptr;
}

const ObjectFile& CodeNames::object(const char* name) {
    if (name != object_name_) {
        object_ = &symbols_.object(name);
        object_name_ = name;
    }
    return *object_;
}

const SourceFile& CodeNames::file(const char* folder, const char* name) {
    const SourceFile*& file = files_[{folder, name}];
    if (file == nullptr) {
        char path[4096];
        file = &symbols_.file(join_path(folder, name, path));
    }
    return *file;
}

CodeBlockName CodeNames::block(Address address) {
    forget_old_names();
    const DiEpoch epoch = VG_(current_DiEpoch)();
    const Addr at = static_cast<Addr>(address);
    CodeBlockName result{};

    const HChar* object_name = kUnknown;
    const VgSectKind section = VG_(DebugInfo_sect_kind)(&object_name, at);
    result.section = static_cast<std::uint32_t>(section);
    if (const DebugInfo* const info = debug_info(at, section); info != nullptr) {
        result.load_bias = static_cast<Address>(VG_(DebugInfo_get_text_bias)(info));
        if (section == Vg_SectUnknown) object_name = VG_(DebugInfo_get_filename)(info);
    }
    if (object_name == nullptr || object_name[0] == '\0') object_name = kUnknown;
    const ObjectFile& from = object(object_name);

    std::string_view name;
    Address entry = address;
    const HChar* found = nullptr;
    if (VG_(get_fnname_if_entry)(epoch, at, &found)) {
        name = found;
        result.is_entry = true;
    } else if (VG_(get_fnname_w_offset)(epoch, at, &found)) {
        Address offset = 0;
        name = split_offset(found, &offset);
        entry -= offset;
    }
    result.entry = entry;
    const AddressName address_name(address - result.load_bias, is_stub_section(section));
    if (name.empty()) name = address_name.view();

    // The name lies in the core's buffer, which asking for the line leaves alone. The file is that of the
    // function's first instruction, as further on there may be inlined code.
    bool is_new = false;
    result.function = &symbols_.function(name, *line(entry).file, from, &is_new);
    if (is_new) {
        if (is_stub_section(section) && options.skip_plt) result.function->skipped = true;
        result.function->left_by_jump = is_resolver(result.function->name);
    }
    return result;
}

SourceLine CodeNames::line(Address address) {
    forget_old_names();
    const HChar* folder = nullptr;
    const HChar* name = nullptr;
    UInt line = 0;
    if (!VG_(get_filename_linenum)(VG_(current_DiEpoch)(), static_cast<Addr>(address), &name, &folder, &line)) {
        return {&file(nullptr, kUnknown), 0};
    }
    return {&file(folder, name), line};
}

}  // namespace bd
