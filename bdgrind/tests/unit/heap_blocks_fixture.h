// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of heap blocks: blocks and who has a byte by the names of their groups.

#pragma once

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "engine/objects/heap_blocks.h"

namespace bd::test {

inline constexpr Address kHeap = 0x5000;
inline constexpr unsigned kLineBits = 6;

class HeapBlocksTest : public testing::Test {
protected:
    GroupId group(const char* name) {
        const Address base = 8 * objects_.size();
        const MappedObject object{base, base, ObjectKind::kStatic, name, nullptr};
        return groups_.of(objects_.try_emplace(name, object).first->second);
    }
    void add(Address base, std::uint64_t size, const char* name, bool within = false) {
        blocks_.add(base, size, group(name), within);
        groups_.add_block(group(name), size, size);
    }
    // With its line loaded.
    std::string at(Address address) {
        const HeapBlock block = blocks_.find(address);
        EXPECT_EQ(blocks_.load(address), block.size == 0 ? kUnknownGroup : block.group) << address;
        return block.size == 0 ? "" : groups_[block.group].name;
    }
    // Whether a block of 16 bytes that begins at `known` is forgotten when something else gets these bytes.
    static bool forgets(Address base, std::uint64_t size, Address known) {
        ObjectGroups groups;
        HeapBlocks blocks(groups, kLineBits);
        const MappedObject object{0, 0, ObjectKind::kStatic, "known", nullptr};
        const GroupId group = groups.of(object);
        blocks.add(known, 16, group, false);
        groups.add_block(group, 16, 16);
        blocks.add(base, size, groups.unused(), false);
        return groups[group].live_bytes == 0;
    }
    // The parts of a range, as "name@offset+bytes".
    std::string parts(Address begin, Address end) {
        std::string text;
        blocks_.for_each_part(begin, end, [&](const HeapBlock& block, Address from, Address to) {
            text += std::string(groups_[block.group].name) + "@" + std::to_string(from - block.base) + "+" +
                    std::to_string(to - from) + " ";
        });
        return text;
    }

    ObjectGroups groups_;
    HeapBlocks blocks_{groups_, kLineBits};
    std::map<std::string, MappedObject> objects_;
};

}  // namespace bd::test
