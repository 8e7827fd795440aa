// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/processor.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tool/machine_presets.h"

namespace bd::calibrate {
namespace {

constexpr std::size_t kLongestName = 100;

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    const std::size_t end = text.find_last_not_of(" \t\n");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Printable, and of a bounded length: it goes into a file's line.
std::string in_a_line(const std::string& text) {
    std::string found;
    for (const char c : text.substr(0, kLongestName)) found += c >= ' ' && c < 127 ? c : '?';
    return found;
}

// "name : value" for each line; of several processors, the first.
std::map<std::string, std::string> table(const char* path) {
    std::map<std::string, std::string> found;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos) found.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
    return found;
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// "48K"
std::size_t size_of(const std::string& text) {
    char* end = nullptr;
    const std::size_t number = std::strtoul(text.c_str(), &end, 10);
    return number << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

std::vector<CacheLevel> described_caches() {
    std::vector<CacheLevel> found;
    for (int index = 0; index < 10; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        const std::string type = first_line(folder + "type");
        if (type != "Data" && type != "Unified") continue;
        const CacheLevel level{
            std::atoi(first_line(folder + "level").c_str()),
            size_of(first_line(folder + "size")),
            size_of(first_line(folder + "coherency_line_size")),
            size_of(first_line(folder + "ways_of_associativity")),
        };
        if (level.level > 0 && level.bytes > 0) found.push_back(level);
    }
    std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) { return one.level < other.level; });
    return found;
}

// Virtual machines may describe no caches, but name their processor.
const MachinePreset* preset_of(std::map<std::string, std::string>& processor) {
    const auto number = [&](const char* name) {
        return static_cast<std::uint32_t>(std::strtoul(processor[name].c_str(), nullptr, 0));
    };
    using enum ProcessorModel::Vendor;
    ProcessorModel model;
    if (processor["vendor_id"] == "AuthenticAMD") model = {kAmd, number("cpu family"), number("model")};
    if (processor["vendor_id"] == "GenuineIntel") model = {kIntel, number("cpu family"), number("model")};
    if (number("CPU implementer") == 0x41) model = {kArm, 0, number("CPU part")};
    if (number("CPU implementer") == 0x61) model = {kApple, 0, number("CPU part")};
    return preset_of_processor(model);
}

std::vector<CacheLevel> caches_of(const MachinePreset& preset) {
    const CacheGeometries& caches = preset.caches;
    std::vector<CacheLevel> found;
    for (const CacheGeometry& each : {caches.d1, caches.l2, caches.ll}) {
        if (each.size_bytes == 0) continue;
        found.push_back({static_cast<int>(found.size()) + 1, each.size_bytes, each.line_bytes, each.ways});
    }
    return found;
}

}  // namespace

Processor this_processor() {
    auto known = table("/proc/cpuinfo");
    Processor found;
    found.name = in_a_line(known["model name"]);
    if (known.contains("vendor_id")) {
        found.model = known["vendor_id"] + " family " + known["cpu family"] + " model " + known["model"] +
                      " stepping " + known["stepping"];
    } else if (known.contains("CPU part")) {
        found.model = "implementer " + known["CPU implementer"] + " part " + known["CPU part"] + " variant " +
                      known["CPU variant"] + " revision " + known["CPU revision"];
    }
    found.model = in_a_line(found.model);
    if (found.name.empty()) found.name = found.model.empty() ? "unknown processor" : found.model;
    found.data = described_caches();
    if (const MachinePreset* const preset = found.data.empty() ? preset_of(known) : nullptr; preset != nullptr) {
        found.data = caches_of(*preset);
        found.preset = preset->processor;
    }
    return found;
}

std::string short_name(const Processor& processor) {
    std::string text = processor.name;
    const std::size_t family = processor.model.find(" family");
    const std::size_t stepping = processor.model.find(" stepping");
    if (family != std::string::npos) text += processor.model.substr(family, stepping - family);
    std::string found;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            found += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!found.empty() && found.back() != '-') {
            found += '-';
        }
    }
    while (!found.empty() && found.back() == '-') found.pop_back();
    return found;
}

std::size_t available_memory() {
    const std::string text = table("/proc/meminfo")["MemAvailable"];
    return std::strtoul(text.c_str(), nullptr, 10) << 10;
}

}  // namespace bd::calibrate
