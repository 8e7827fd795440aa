// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects: which object an address belongs to, and what it cost. The guest keeps its own allocator: the arguments
// and results of the allocator's functions are in the trace. The rules are in docs/simulation.md.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/calls/execution.h"
#include "engine/costs/arcs.h"
#include "engine/objects/group_ranges.h"
#include "engine/objects/heap_blocks.h"
#include "engine/objects/named_allocators.h"
#include "engine/objects/object_costs.h"
#include "engine/objects/object_groups.h"
#include "engine/objects/open_allocations.h"
#include "engine/objects/use_patterns.h"

namespace bd {

struct ObjectRules {
    static constexpr std::uint32_t kMostDepth = 64;

    // Callers of the allocator by which heap blocks are separated, 1 to kMostDepth; but see Function::wraps_allocators.
    std::uint32_t depth = 3;
};

class Objects {
public:
    using Executions = std::vector<std::unique_ptr<Execution>>;

    // `line_bits`: log2 of the D1 line size in bytes. `notes_ends`: whether ended() will be asked for.
    Objects(const ObjectRules& rules, const ArcTable& arcs, CostPool& costs, unsigned line_bits,
            bool notes_ends = false)
        : rules_(rules), arcs_(arcs), notes_ends_(notes_ends), blocks_(groups_, line_bits), costs_(costs) {}
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    // --- What happens in the trace, in its order

    // The latest block of `execution` was the first of a function that allocates. `arguments`: as its marker has them.
    void enter_allocator(Execution& execution, std::span<const Word> arguments);
    // The latest block of `execution` has returned from such a function. `stack_pointer`: when it was entered.
    void leave_allocator(Execution& execution, Address result, Address stack_pointer);
    void free(Address block) {
        end(block);
        blocks_.free(block);
    }

    // The range [begin, end) has been mapped, as `list` says, which is sorted by address; null: memory without a file.
    // `execution`: that made the system call; may be null. If something is mapped there already, it is only known
    // better now; otherwise, heap blocks in the range are forgotten.
    void map(const Execution* execution, Address begin, Address end, const std::vector<MappedObject>* list);
    // The range [begin, end) has been unmapped; heap blocks that begin in it are freed.
    void unmap(Address begin, Address end);

    // The blocks that have been freed since the caller last emptied this list.
    std::vector<HeapBlock>& ended() { return ended_; }

    // --- For the caches

    // The group of the byte at an address whose line is being loaded. `current`: the execution that runs, in a block
    // with this stack pointer.
    GroupId find(Address address, Address stack_pointer, const Execution& current,
                 const std::vector<Executions>& threads);
    // The same where the byte is accessed, but no line is loaded.
    GroupId look_at(Address address, Address stack_pointer, const Execution& current,
                    const std::vector<Executions>& threads);
    // The heap block or variable that has this byte; of no bytes if there is none.
    ObjectRange object_at(Address address);
    // For an address that find() or evict() will soon be called for: first host_prefetch_page(), then, once that has
    // arrived, host_prefetch_slots().
    [[gnu::always_inline]] void host_prefetch_page(Address address) const { blocks_.host_prefetch_page(address); }
    [[gnu::always_inline]] void host_prefetch_slots(Address address) const { blocks_.host_prefetch_slots(address); }
    // See UsePatterns::will_take_line().
    bool will_look_at_line(std::uint32_t nth) const { return patterns_.will_take_line(nth); }

    // The cost vector of an instruction of the object file `own` for loading code of `object`.
    CostId code_cell(CostId instruction, const ObjectFile& own, const ObjectFile& object) {
        groups_.code(own);  // so that it has a group
        return &own == &object ? instruction : costs_.get_code(instruction, groups_.code(object));
    }
    // The cost vector of an instruction for data of a group.
    CostId cell(CostId instruction, GroupId group) { return costs_.get(instruction, group); }

    // A line of `bytes` bytes that was loaded for `cell` leaves D1. Byte i was used if bit i % 64 of
    // `used.word(i / 64)` is set.
    template <class Mask>
    void evict(CostId cell, Address line, unsigned bytes, const Mask& used) {
        if (!patterns_.take_line()) return;
        const ObjectCosts::Owner& owner = costs_.owner_of(cell);
        const ObjectKind kind = groups_[owner.group].kind;
        if (kind == ObjectKind::kStack || kind == ObjectKind::kFile) return;
        for (unsigned begin = 0; begin < bytes; begin += 64) {
            const unsigned part = bytes - begin < 64 ? bytes - begin : 64;
            if (is_variable(kind)) {
                evict_variables(owner.instruction, line + begin, part, used.word(begin / 64));
            } else {
                evict_blocks(owner.instruction, line + begin, part, used.word(begin / 64));
            }
        }
    }

    // --- Results

    // To be called before the results are read.
    void settle() {
        for (NamedAllocator& each : named_.all()) note_doubtful(&each);
        patterns_.settle();
        costs_.fold();
    }

    const ObjectRules& rules() const { return rules_; }
    const ObjectGroups& groups() const { return groups_; }
    const NamedAllocators& named_allocators() const { return named_; }
    const UsePatterns& patterns() const { return patterns_; }
    ObjectCosts& costs() { return costs_; }
    const ObjectCosts& costs() const { return costs_; }
    // Clears the counts of a thread, or all counts (0). The counts of its instructions must have been zeroed.
    void clear_counts(std::uint32_t thread);

private:
    // A group of heap blocks by the calls that separate it from others, the innermost last.
    struct RecentPlace {
        static constexpr std::size_t kMost = 8;

        std::array<ArcId, kMost> arcs{};
        std::size_t count = 0;
        GroupId group{};
        bool has_wrappers = false;  // among these calls: calls further out separate it, too
    };

    void evict_blocks(CostId loaded_by, Address begin, unsigned bytes, std::uint64_t used);
    void evict_variables(CostId loaded_by, Address begin, unsigned bytes, std::uint64_t used);
    void allocate(Execution& execution, OpenAllocation& call, Address result);
    void add_block(Execution& execution, OpenAllocation& call, Address base, bool within);
    void allocate_named(Execution& execution, OpenAllocation& call, Address result);
    void take_inner(Execution& execution, OpenAllocation& call, std::size_t inner);
    void take_part(Execution& execution, OpenAllocation& call, Address result);
    bool fits(const Execution& execution, const OpenAllocation& call, Address result);
    static std::size_t find_inner(const Execution& execution, const OpenAllocation& call, Address base);
    bool shrink(const InnerBlock& block, std::uint64_t size);
    void note_inner(Execution& execution, std::size_t first);
    void shrink_doubtful(NamedAllocator* seen);
    void note_doubtful(NamedAllocator* seen);
    bool is_memory(const Execution& execution, Address begin, std::uint64_t bytes) const;
    GroupId of_pools();
    static bool is_open(const Execution& execution, const OpenAllocation& allocation);
    static void mark_open(Execution& execution);
    void note(const InnerBlock& block) { groups_.note_size(block.group, block.size, block.element); }
    void end(Address block);
    GroupId place(const Execution& execution, ObjectKind kind);
    GroupId place_of_chain(const Execution& execution, ObjectKind kind, std::size_t call);
    // Whether the calling function is a wrapper, which does not count in ObjectRules::depth.
    bool is_by_wrapper(const OpenCall& call) const {
        return arcs_[call.arc].site.from->context->function().wraps_allocators;
    }
    GroupId place_behind_wrappers(const Execution& execution, ObjectKind kind, std::size_t call);
    GroupId find_place(const Execution& execution, ObjectKind kind, std::size_t call);
    GroupId group_of(GroupRange& range);
    GroupId find_outside_blocks(Address address, Address stack_pointer, const Execution& current,
                                const std::vector<Executions>& threads);
    static const Function& frame_at(const CallStack& stack, Address address);
    const Function* frame_on(const CallStack& stack, Address address) const;
    const Function* frame_elsewhere(Address address, const std::vector<Executions>& threads) const;

    const ObjectRules rules_;
    const ArcTable& arcs_;
    const bool notes_ends_;
    ObjectGroups groups_;
    HeapBlocks blocks_;
    GroupRanges ranges_;
    NamedAllocators named_;
    GroupId of_pools_ = kUnknownGroup;  // of blocks that pools allocate; kUnknownGroup: not made yet
    ObjectCosts costs_;
    UsePatterns patterns_;
    std::vector<HeapBlock> ended_;  // only if ended() is asked for
    // The chains of calls seen so far: a node for each further caller, by the previous node and the caller's arc.
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> chains_;
    std::vector<GroupId> group_of_chain_;           // by node
    std::vector<ArcId> chain_;                      // the latest chain
    std::array<RecentPlace, 512> recent_places_{};  // looked at before chains_
    std::array<RecentPlace, 512> behind_wrappers_{};
};

}  // namespace bd
