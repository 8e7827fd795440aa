// SPDX-License-Identifier: GPL-2.0-or-later

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "choice.h"
#include "scenario.h"

namespace bd::test {
namespace {

// Hands out what is not handed out yet.
class Allocator {
public:
    explicit Allocator(Choice& choice) : choice_(choice) {}

    // 0: there is no room. `within`: in a block that is there, and not at its beginning.
    Address allocate(std::uint64_t size, bool within) {
        for (int attempt = 0; attempt < 4; ++attempt) {
            Address base = 0x100000 + below((below(2) == 0 ? kBytes : 1024) / 16) * 16;
            if (within && !blocks_.empty()) {
                const auto& [chunk, chunk_size] = *std::next(blocks_.begin(), static_cast<long>(below(blocks_.size())));
                base = chunk + 16 + below(8) * 16;
                if (freed_.contains(chunk) || base + size > chunk + chunk_size) continue;
                if (overlaps(inner_, base, size)) continue;
                inner_[base] = size;
                return base;
            }
            if (overlaps(blocks_, base, size)) continue;
            blocks_[base] = size;
            return base;
        }
        return 0;
    }

    // One of the blocks that has no other within it; 0: none.
    Address any() {
        if (blocks_.empty()) return 0;
        const auto& [base, size] = *std::next(blocks_.begin(), static_cast<long>(below(blocks_.size())));
        const auto inner = inner_.lower_bound(base);
        return inner != inner_.end() && inner->first < base + size ? 0 : base;
    }

    // Unless `reuse`, nothing else is ever put there.
    void free(Address base, bool reuse) {
        if (reuse) {
            blocks_.erase(base);
        } else {
            freed_.insert(base);
        }
    }

    // No pool goes on where its memory was unmapped.
    void unmap(Address begin, Address end) {
        for (const auto& [base, size] : blocks_) {
            if (base < end && begin < base + size) freed_.insert(base);
        }
    }

private:
    using Blocks = std::map<Address, std::uint64_t>;
    static constexpr std::uint64_t kBytes = 1 << 15;

    std::uint64_t below(std::uint64_t limit) { return choice_.below(limit); }
    static bool overlaps(const Blocks& blocks, Address base, std::uint64_t size) {
        const auto next = blocks.lower_bound(base + size);
        return next != blocks.begin() && std::prev(next)->first + std::max<Address>(std::prev(next)->second, 16) > base;
    }

    Choice& choice_;
    Blocks blocks_;
    Blocks inner_;
    std::set<Address> freed_;
};

}  // namespace

Scenario with_objects(const Scenario& plain, unsigned seed, bool reuse) {
    using enum AllocatorKind;
    Choice choice(seed);
    const auto below = [&](std::uint64_t limit) { return choice.below(limit); };
    Scenario scenario = plain;
    scenario.records.clear();
    constexpr AllocatorRole kRoles[]{{.kind = kAllocates, .size = 1},
                                     {.kind = kAllocates, .size = 2, .count = 1},
                                     {.kind = kAllocates, .size = 2, .may_be_within = true},
                                     {.kind = kReallocates, .block = 1, .size = 3},
                                     {.kind = kWraps},
                                     {.kind = kForwards},
                                     {.kind = kFrees, .block = 1}};
    for (Scenario::Function& function : scenario.functions) {
        if (below(2) != 0) function.allocator = kRoles[below(std::size(kRoles))];
        function.wraps_allocators = below(3) == 0;
    }
    Allocator heap(choice);
    struct Entered {
        Address stack_pointer;
        const AllocatorRole* role;
        Address arguments[3];
        Address inner = 0;  // the latest block that has been allocated in it
    };
    std::vector<Entered> entered;
    const auto mark = [&](Marker marker, Address a, Address b, Address c) {
        scenario.records.push_back(marker_record(marker, a, b, c));
    };
    // Where nothing is mapped, no pool has a block, but within others'.
    if (below(4) != 0) mark(Marker::kMapped, 0x100000, 0x110000, 0);
    for (const Scenario::Record& record : plain.records) {
        if (below(50) == 0 && !scenario.records.empty()) {
            const Address begin = 0x100000 + below(4) * 0x1000;
            const Address end = begin + 0x1000 * (1 + below(3));
            mark(below(2) == 0 ? Marker::kMapped : Marker::kUnmapped, begin, end, 0);
            heap.unmap(begin, end);
        }
        scenario.records.push_back(record);
        if (record.is_marker) continue;
        const Scenario::Block& block = scenario.blocks[record.block];
        const bool any_joins = std::ranges::any_of(block.accesses, &Scenario::Access::joins);
        for (Address& address : scenario.records.back().addresses) {
            if (address != 0 && !any_joins && below(6) == 0) address = record.stack_pointer - 160 + below(1024);
        }
        const AllocatorRole& role = scenario.functions[block.function].allocator;
        if (block.is_entry && role.kind == kFrees) {
            const Address freed = heap.any();
            heap.free(freed, reuse);
            mark(Marker::kFreed, freed, 0, 0);
        } else if (block.is_entry && role.marks_entry()) {
            Entered call{record.stack_pointer, &role, {1 + below(200), 1 + below(200), 1 + below(200)}};
            if (role.count != 0) call.arguments[role.count - 1] = 1 + below(4);
            if (role.size != 0 && reuse && below(20) == 0) call.arguments[role.size - 1] = 70000;
            if (role.block != 0) call.arguments[role.block - 1] = heap.any();
            // What is reallocated is not handed out again, see below.
            if (role.kind == kReallocates && !reuse) heap.free(call.arguments[role.block - 1], reuse);
            mark(Marker::kAllocatorEntered, call.arguments[0], call.arguments[1], call.arguments[2]);
            entered.push_back(call);
        }
        if (block.exits[record.exit].jump != JumpKind::kReturn || entered.empty() || below(8) == 0) continue;
        const Entered call = entered.back();
        entered.pop_back();
        const AllocatorRole& of = *call.role;
        if (of.kind == kWraps) {
            // As where it ends by a jump to an allocator; else no marker says so.
            if (below(4) == 0) mark(Marker::kAllocatorLeft, heap.any(), call.stack_pointer, 0);
            continue;
        }
        // It is not known whether the engines find that this is a return of that call. So what it reallocates is not
        // handed out again: what they think is there must not overlap.
        const std::uint64_t size = call.arguments[of.size - 1] * (of.count == 0 ? 1 : call.arguments[of.count - 1]);
        Address result = 0;
        if (of.may_be_within && call.inner != 0 && below(2) == 0) {
            result = call.inner + (below(2) == 0 ? 0 : 16);
        } else if (of.may_be_within && below(8) == 0) {
            result = below(2) == 0 ? 1 + below(0x1000) : call.stack_pointer + below(256);
        } else {
            result = heap.allocate(size, of.may_be_within && below(2) == 0);
        }
        for (Entered& outer : entered) outer.inner = result;
        mark(Marker::kAllocatorLeft, result, call.stack_pointer, 0);
    }
    return scenario;
}

}  // namespace bd::test
