// SPDX-License-Identifier: GPL-2.0-or-later
//
// All blocks. They are never freed while the table lives, as recorded costs and the trace point to them. The same code
// always gets the same block, so that retranslation does not take more memory.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/program/block.h"
#include "engine/program/block_builder.h"

namespace bd {

class BlockTable {
public:
    // `line_bits`: log2 of the I1 line size.
    explicit BlockTable(unsigned line_bits) : line_bits_(line_bits) {}
    ~BlockTable();
    BlockTable(const BlockTable&) = delete;
    BlockTable& operator=(const BlockTable&) = delete;

    // Returns the block that `builder` describes; the known one if it was translated before. It is valid as long as the
    // table.
    Block& add(BlockBuilder& builder);

    std::span<Block* const> blocks() const { return blocks_; }

private:
    unsigned line_bits_;
    std::vector<Block*> blocks_;
    boost::unordered_flat_map<std::uint64_t, Block*> by_hash_;
};

}  // namespace bd
