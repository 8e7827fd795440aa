// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "calibrate/rounds.h"

namespace bd::calibrate {

// Memory of small pages, all of which are there.
class Buffer {
public:
    // Throws Failure if there is not so much memory.
    explicit Buffer(std::size_t bytes);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    char* data() const { return data_; }
    std::size_t size() const { return bytes_; }

private:
    std::size_t bytes_;
    char* data_;
};

// How the lines of a buffer follow each other.
enum class Order {
    kInOrder,      // one after the other
    kStride,       // a constant step of a few lines, which prefetchers see
    kColumn,       // a constant step of more than a page, which they do not
    kIndependent,  // at random, all known in advance
    kNearby,       // each address is in the line before, a few lines further on
    kChain,        // the same, anywhere
    kWrite,        // one after the other, and each is written to
};

// The time for a line of the first `bytes` of a buffer. Several measurements can share the buffer.
std::unique_ptr<Measurement> lines_in(Order order, const Buffer& buffer, std::size_t bytes, std::size_t line);

// The time for a step of a chain through so many pages, of one line each; or, packed, through as many lines that lie
// in as few pages as they can.
std::unique_ptr<Measurement> pages_in(const Buffer& buffer, std::size_t pages, bool packed, std::size_t line);

}  // namespace bd::calibrate
