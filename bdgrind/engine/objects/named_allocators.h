// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions that the user says allocate: what their calls have shown of them. A name may be of a function that returns
// something else, or whose size stands in another argument; or of a pool, which allocates much to hand out parts.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/objects/open_allocations.h"
#include "engine/program/symbols.h"

namespace bd {

struct NamedAllocator {
    // What it was asked for is less than what another allocator gave, where that begins: it has wrapped that one, or
    // it is a pool that has got more. The parts that it hands out later tell.
    struct Doubtful {
        InnerBlock block;
        std::uint64_t asked;  // bytes
        bool is_noted;        // its size, as it is
    };
    static constexpr std::size_t kMostDoubtful = 64;

    const Function* function = nullptr;
    std::uint64_t calls = 0;      // that have returned
    std::uint64_t wrapping = 0;   // in which another allocator has been called
    std::uint64_t null = 0;       // that returned null
    std::uint64_t outside = 0;    // results in no memory of the program
    std::uint64_t oversized = 0;  // results in memory that ends before what they were asked for does
    bool hands_out_parts = false;
    std::vector<Doubtful> doubtful;

    // What it returns is no block, as far as its calls tell.
    bool is_misnamed() const { return never_allocates() || has_no_size() || returns_no_block(); }
    bool never_allocates() const { return calls != 0 && null == calls && wrapping == 0; }
    // In a tenth of its calls at least.
    bool has_no_size() const { return oversized * kOneIn >= calls && oversized != 0 && oversized >= outside; }
    // One that wraps another tells its callers apart all the same, which may be all that it was named for.
    bool returns_no_block() const {
        return outside * kOneIn >= calls && outside != 0 && outside > oversized && wrapping == 0;
    }

private:
    static constexpr std::uint64_t kOneIn = 10;
};

class NamedAllocators {
public:
    NamedAllocator& operator[](const Function& function) {
        if (by_function_.size() <= function.id) by_function_.resize(function.id + std::size_t{1});
        NamedAllocator*& known = by_function_[function.id];
        if (known == nullptr) {
            known = &all_.emplace_back();
            known->function = &function;
        }
        return *known;
    }
    // In the order of their first calls.
    const std::deque<NamedAllocator>& all() const { return all_; }
    std::deque<NamedAllocator>& all() { return all_; }

private:
    std::deque<NamedAllocator> all_;
    std::vector<NamedAllocator*> by_function_;  // by Function::id
};

}  // namespace bd
