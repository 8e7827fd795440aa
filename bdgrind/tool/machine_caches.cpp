// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/machine_caches.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tool/valgrind.h"

namespace bd {
namespace {

// A desktop machine of the 2020s.
constexpr CacheGeometries kTypical{.i1 = {32768, 8, 64}, .d1 = {32768, 8, 64}, .ll = {8388608, 16, 64}};

enum class Kind { kData, kInstruction, kUnified };

// Puts the caches of a machine into their places as they are found: the L1 caches, and the last unified one.
class Collector {
public:
    // Illegal geometries are passed over: some kernels and hypervisors report no ways, or none of it.
    void found(unsigned level, Kind kind, const CacheGeometry& geometry) {
        if (geometry_error(geometry) != nullptr) return;
        if (level == 1) {
            if (kind != Kind::kInstruction) caches_.d1 = geometry;
            if (kind != Kind::kData) caches_.i1 = geometry;
        } else if (kind == Kind::kUnified) {
            if (level == 2) l2_ = geometry;
            if (level <= last_level_) return;
            caches_.ll = geometry;
            last_level_ = level;
        }
    }

    // Whether all three are known.
    bool finish(MachineCaches* found) const {
        found->caches = caches_;
        if (last_level_ > 2 && l2_.size_bytes < caches_.ll.size_bytes) found->l2 = l2_;
        return caches_.i1.ways != 0 && caches_.d1.ways != 0 && caches_.ll.ways != 0;
    }

private:
    CacheGeometries caches_{};
    CacheGeometry l2_{};
    unsigned last_level_ = 1;
};

// One short file of what the kernel says of the first processor, without its line end.
class KernelFile {
public:
    KernelFile(unsigned index, const char* name) {
        HChar path[80];
        VG_(sprintf)(path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
        read(path);
    }
    explicit KernelFile(const char* path) { read(path); }

    std::string_view text() const { return {text_, size_}; }

    // The number that the file starts with, 0 if there is none; "K" and "M" behind it multiply.
    std::uint64_t number() const {
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(text_, text_ + size_, number);
        if (error != std::errc{}) return 0;
        const std::string_view unit(end, static_cast<std::size_t>(text_ + size_ - end));
        if (unit == "K") number <<= 10;
        if (unit == "M") number <<= 20;
        return number;
    }

private:
    void read(const char* path) {
        const Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
        if (fd < 0) return;
        const Int size = VG_(read)(fd, text_, sizeof text_);
        VG_(close)(fd);
        if (size > 0) size_ = static_cast<std::size_t>(size);
        while (size_ != 0 && text_[size_ - 1] == '\n') --size_;
    }

    char text_[64];
    std::size_t size_ = 0;
};

bool ask_kernel(MachineCaches* found) {
    Collector collector;
    for (unsigned index = 0;; ++index) {
        const KernelFile type(index, "type");
        if (type.text().empty()) break;
        const Kind kind = type.text() == "Data"          ? Kind::kData
                          : type.text() == "Instruction" ? Kind::kInstruction
                                                         : Kind::kUnified;
        collector.found(static_cast<unsigned>(KernelFile(index, "level").number()), kind,
                        {.size_bytes = KernelFile(index, "size").number(),
                         .ways = static_cast<std::uint32_t>(KernelFile(index, "ways_of_associativity").number()),
                         .line_bytes =
                             static_cast<std::uint32_t>(KernelFile(index, "coherency_line_size").number())});
    }
    return collector.finish(found);
}

#if defined(VGA_amd64) || defined(VGA_x86)

struct CpuId {
    std::uint32_t a, b, c, d;
};

CpuId cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
    CpuId result;
    asm volatile("cpuid"
                 : "=a"(result.a), "=b"(result.b), "=c"(result.c), "=d"(result.d)
                 : "a"(leaf), "c"(subleaf));
    return result;
}

// Leaf 4 of Intel and leaf 0x8000001d of AMD describe one cache per subleaf, in the same form.
bool ask_processor(MachineCaches* found) {
    constexpr std::uint32_t kExtended = 0x80000000;
    constexpr std::uint32_t kIntelLeaf = 4;
    constexpr std::uint32_t kAmdLeaf = 0x8000001d;
    for (const std::uint32_t leaf : {kIntelLeaf, kAmdLeaf}) {
        if (cpuid(leaf & kExtended, 0).a < leaf) continue;
        Collector collector;
        for (std::uint32_t subleaf = 0; subleaf < 16; ++subleaf) {
            const CpuId id = cpuid(leaf, subleaf);
            const std::uint32_t type = id.a & 0x1f;
            if (type == 0 || type > 3) break;
            const std::uint32_t ways = (id.b >> 22) + 1;
            const std::uint32_t line_bytes = (id.b & 0xfff) + 1;
            const std::uint64_t sets = std::uint64_t{id.c} + 1;
            collector.found(id.a >> 5 & 7, type == 1 ? Kind::kData : type == 2 ? Kind::kInstruction : Kind::kUnified,
                            {.size_bytes = sets * ways * line_bytes, .ways = ways, .line_bytes = line_bytes});
        }
        if (collector.finish(found)) return true;
    }
    return false;
}

ProcessorModel processor_model() {
    const CpuId name = cpuid(0, 0);
    const std::uint32_t words[]{name.b, name.d, name.c};
    char vendor[sizeof words];
    VG_(memcpy)(vendor, words, sizeof words);
    const std::string_view text(vendor, sizeof vendor);
    ProcessorModel found{};
    if (text == "AuthenticAMD") found.vendor = ProcessorModel::Vendor::kAmd;
    if (text == "GenuineIntel") found.vendor = ProcessorModel::Vendor::kIntel;
    const std::uint32_t signature = cpuid(1, 0).a;
    found.family = (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
    found.model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
    return found;
}

#else

bool ask_processor(MachineCaches*) { return false; }

// The main ID register, as the kernel shows it: "0x" and sixteen digits.
ProcessorModel processor_model() {
    const KernelFile file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    const std::string_view text = file.text();
    std::uint64_t value = 0;
    if (!text.starts_with("0x")) return {};
    std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    const std::uint64_t implementer = value >> 24 & 0xff;
    return {.vendor = implementer == 0x41   ? ProcessorModel::Vendor::kArm
                      : implementer == 0x61 ? ProcessorModel::Vendor::kApple
                                            : ProcessorModel::Vendor::kOther,
            .family = 0,
            .model = static_cast<std::uint32_t>(value >> 4 & 0xfff)};
}

#endif

// Virtual machines may describe no caches, but name their processor.
bool ask_presets(MachineCaches* found) {
    const MachinePreset* const preset = preset_of_this_machine();
    if (preset == nullptr) return false;
    const CacheGeometries& caches = preset->caches;
    const auto simple = [](const CacheGeometry& of) { return CacheGeometry{of.size_bytes, of.ways, of.line_bytes}; };
    found->caches = {.i1 = simple(caches.i1), .d1 = simple(caches.d1), .ll = simple(caches.ll)};
    found->l2 = simple(caches.l2);
    static HChar source[80];
    VG_(snprintf)(source, sizeof source, "this machine's, as %s is known to have them", preset->processor);
    found->source = source;
    return true;
}

}  // namespace

const MachinePreset* preset_of_this_machine() { return preset_of_processor(processor_model()); }

MachineCaches find_machine_caches() {
    MachineCaches found{};
    if (ask_kernel(&found)) {
        found.source = "this machine's, as the kernel describes it";
    } else if (ask_processor(&found)) {
        found.source = "this machine's, as the processor describes it";
    } else if (!ask_presets(&found)) {
        found = {.caches = kTypical, .source = nullptr, .l2 = {}};
        found.source = "a typical machine's, as this one's is not known";
    }
    return found;
}

}  // namespace bd
