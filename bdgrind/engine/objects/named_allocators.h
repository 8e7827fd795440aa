// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is known from their calls about the functions that --alloc-fn names. Such a function may return something other
// than a block, or take the size in another argument; or it may be a pool, which allocates much and hands out parts.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/objects/open_allocations.h"
#include "engine/program/symbols.h"

namespace bd {

struct NamedAllocator {
    // It returned the beginning of a larger block than it was asked for, which it got from another allocator: either it
    // wraps that allocator, or it is a pool that was refilled. The parts that it hands out later decide.
    struct Doubtful {
        InnerBlock block;
        std::uint64_t asked;  // bytes
        bool is_noted;        // the block's own size has been counted
    };
    static constexpr std::size_t kMostDoubtful = 64;

    const Function* function = nullptr;
    std::uint64_t calls = 0;      // calls that have returned; the next four are among these
    std::uint64_t wrapping = 0;   // called another allocator
    std::uint64_t null = 0;       // returned null
    std::uint64_t outside = 0;    // returned an address outside of the program's memory
    std::uint64_t oversized = 0;  // returned an address in memory that is too small for the size asked for
    bool hands_out_parts = false;
    std::vector<Doubtful> doubtful;

    // Whether its calls suggest that it does not return blocks of the size that it was asked for.
    bool is_misnamed() const { return never_allocates() || has_no_size() || returns_no_block(); }
    bool never_allocates() const { return calls != 0 && null == calls && wrapping == 0; }
    // In at least a tenth of its calls.
    bool has_no_size() const { return oversized * kOneIn >= calls && oversized != 0 && oversized >= outside; }
    // A wrapper of another allocator is not meant: blocks are separated by its callers in any case.
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
