// SPDX-License-Identifier: GPL-2.0-or-later
//
// Hardware prefetchers for LL: those of --prefetch, each of which can be switched on. They look at the lines that are
// looked for there, and say which others to load; none of them goes beyond the page. Time plays no part: what they load
// is there at once.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/base/types.h"

namespace bd {

struct PrefetchRules {
    bool adjacent = false;  // the other line of a pair that misses
    bool next = false;      // the line behind one that misses
    bool stream = false;    // the lines that follow in the direction in which lines of a page are looked for
    bool stride = false;    // the next address of an instruction whose addresses have a constant distance

    constexpr bool any() const { return adjacent || next || stream || stride; }
};

class Prefetchers {
public:
    // `line_bits`: log2 of the LL's line size.
    Prefetchers(const PrefetchRules& rules, unsigned line_bits) : rules_(rules), line_bits_(line_bits) {}

    bool any() const { return rules_.any(); }
    bool follows_instructions() const { return rules_.stride; }

    // A line has been looked for, and loaded if it was absent. Calls load(LineNumber) for each line that is to be there
    // as well.
    template <class Load>
    void after(LineNumber line, bool missed, Load load) {
        const auto number = static_cast<std::uint64_t>(line);
        if (rules_.adjacent && missed) load(LineNumber{number ^ 1});
        if (rules_.next && missed && page_of(number + 1) == page_of(number)) load(LineNumber{number + 1});
        if (!rules_.stream) return;
        const int steps = steps_to(number);
        if (steps >= kSteps || steps <= -kSteps) {
            const std::uint64_t step = steps > 0 ? 1 : ~std::uint64_t{0};
            for (std::uint64_t next = number + step; next != number + (kAhead + 1) * step; next += step) {
                if (page_of(next) != page_of(number)) break;
                load(LineNumber{next});
            }
        }
    }

    // The same of the instruction that looked for data at `address`.
    template <class Load>
    void after_instruction(Address instruction, Address address, Load load) {
        Steps& steps = steps_[instruction % kInstructions];
        const Address stride = address - steps.address;
        const bool is_known = steps.instruction == instruction;
        const bool repeats = is_known && stride == steps.stride;
        steps = {instruction, address, is_known ? stride : 0};
        const Address next = address + stride;
        if (!repeats || stride + kFarthest > 2 * kFarthest || stride == 0) return;
        if (address >> kBasePageBits == next >> kBasePageBits) load(LineNumber{next >> line_bits_});
    }

    void clear() {
        pages_ = {};
        steps_ = {};
        clock_ = 0;
    }

private:
    static constexpr int kSteps = 2;
    static constexpr std::uint64_t kAhead = 2;
    static constexpr std::size_t kPages = 16;
    static constexpr std::size_t kInstructions = 256;
    static constexpr Address kFarthest = 2048;

    struct Page {
        std::uint64_t time = 0;  // when a line of it was last looked for; 0: none
        std::uint64_t line = 0;  // that line
        int steps = 0;           // in the same direction; negative: downwards
    };
    struct Steps {
        Address instruction = 0;
        Address address = 0;
        Address stride = 0;
    };

    std::uint64_t page_of(std::uint64_t line) const { return line >> (kBasePageBits - line_bits_); }

    // How many steps there have been in one direction, that to this line included. 0 if it is the latest one again.
    int steps_to(std::uint64_t line) {
        const auto is_it = [&](const Page& each) { return each.time != 0 && page_of(each.line) == page_of(line); };
        auto found = std::ranges::find_if(pages_, is_it);
        if (found == pages_.end()) {
            found = std::ranges::min_element(pages_, {}, &Page::time);
            *found = {++clock_, line, 0};
            return 0;
        }
        found->time = ++clock_;
        if (line == found->line) return 0;
        const int step = line > found->line ? 1 : -1;
        found->steps = (found->steps > 0) == (step > 0) ? found->steps + step : step;
        if (found->steps * step > kSteps) found->steps = step * kSteps;
        found->line = line;
        return found->steps;
    }

    PrefetchRules rules_;
    unsigned line_bits_;
    std::array<Page, kPages> pages_{};
    std::array<Steps, kInstructions> steps_{};
    std::uint64_t clock_ = 0;
};

}  // namespace bd
