// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bd::calibrate {

struct CacheLevel {
    int level = 0;
    std::size_t bytes = 0;
    std::size_t line = 0;
    std::size_t ways = 0;
};

// As the kernel describes the first processor. Caches that it does not describe are those of the preset of such a
// processor, if there is one.
struct Processor {
    std::string name;              // "AMD EPYC"
    std::string model;             // "AuthenticAMD family 26 model 2 stepping 1"
    std::vector<CacheLevel> data;  // the first level first
    std::string preset;            // whose caches these are; empty: the kernel describes them
};

// What is not known is left out.
Processor this_processor();

// Lower case, digits and hyphens: "amd-epyc-family-26-model-2".
std::string short_name(const Processor& processor);

// Bytes that could be allocated now; 0 if that is not known.
std::size_t available_memory();

}  // namespace bd::calibrate
