// SPDX-License-Identifier: GPL-2.0-or-later
//
// write_samples FOLDER: fills it with small traces, for a fuzzer to start from.

#include <cstdio>
#include <string>

#include "tests/sample_run.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("Usage: write_samples FOLDER\n", stderr);
        return 2;
    }
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        // Few functions: much of a small trace are definitions.
        const std::string trace = bd::test::SampleRun(seed, 20 + 20 * seed, 1 + seed % 4, 6, seed % 2 != 0).file();
        const std::string path = std::string(argv[1]) + "/" + std::to_string(seed) + ".trace";
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        const bool written = file != nullptr && std::fwrite(trace.data(), 1, trace.size(), file) == trace.size();
        if (file == nullptr || std::fclose(file) != 0 || !written) {
            std::perror(path.c_str());
            return 2;
        }
    }
    return 0;
}
