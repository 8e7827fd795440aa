// SPDX-License-Identifier: GPL-2.0-or-later
// names ROUNDS: maps of strings and short vectors, as programs keep them that read text: filled, looked
// through, dropped.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr unsigned kNames = 20000;

std::string name_of(unsigned number)
{
    return "a name that is not short: " + std::to_string(number * 2654435761u);
}

std::uint64_t run_round(std::mt19937& random)
{
    std::map<std::string, std::vector<unsigned>> places;
    for (unsigned i = 0; i < 4 * kNames; i++)
        places[name_of(static_cast<unsigned>(random() % kNames))].push_back(i);
    std::uint64_t found = 0;
    for (const auto& [name, numbers] : places)
        found += numbers.size();
    return found;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: names ROUNDS\n");
        return 2;
    }
    const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
    std::mt19937 random(48);
    std::uint64_t found = 0;
    for (unsigned long i = 0; i < rounds; i++)
        found += run_round(random);
    std::printf("names: %llu\n", static_cast<unsigned long long>(found));
    return found == 4 * std::uint64_t{kNames} * rounds ? 0 : 1;
}
