// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/objects.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/narrow.h"

namespace bd {
namespace {

// What allocators use of a free block, for their lists of these: for two pointers.
constexpr Address kLinkBytes = 16;

// What is used below the stack pointer: by leaf functions, and by a block that has moved it since it began.
constexpr Address kRedZone = 128;
constexpr Address kMostBelow = 1 << 20;

bool is_in_frame(Address address, Address stack_pointer, const Execution& current) {
    return address + kRedZone >= stack_pointer && address < current.base;
}

// So many callers are looked at for those that wrap allocators, and count for nothing. (Without optimization, five of
// the C++ library stand between a vector and who fills it.)
constexpr std::uint32_t kMostWrappers = 8;

// Code without a name that does nothing but jump on: an unrecognised stub.
bool is_nameless_jump(const OpenCall& call) {
    if (call.return_address != 0) return false;
    const char* const name = call.caller->function().name;
    return name[0] == '0' && name[1] == 'x';
}
// Where places are named by their callers.
bool is_passed_over(const OpenCall& call) {
    return call.arc == kNoArc || is_nameless_jump(call);
}

// Those from bit `first` to before bit `last`, as the lowest ones.
std::uint64_t bits_of(std::uint64_t word, Address first, Address last) {
    const Address count = last - first;
    return word >> first & (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
}

// The instruction that calls.
ObjectPlace place_of(const CallSite& site) {
    return {site.from, static_cast<std::uint16_t>(site.from->block->exits()[site.exit].instructions - 1u)};
}

// Where a function that allocates is called by one that only forwards its calls, that one is who is called. `call`: how
// many calls are open; becomes that of the outermost such function. Returns the function.
const Function& skip_forwarding(const Execution& execution, std::size_t* call) {
    const Function* function = execution.last->block->function;
    for (std::size_t at = *call; at != 0; --at) {
        const OpenCall& open = execution.calls[at - 1];
        if (is_nameless_jump(open)) continue;
        const Function& caller = open.caller->function();
        if (caller.allocator.kind != AllocatorKind::kForwards) break;
        function = &caller;
        *call = at - 1;
    }
    return *function;
}

}  // namespace

// --- Places

// Where what runs was called from.
GroupId Objects::place(const Execution& execution, ObjectKind kind) {
    std::size_t call = execution.calls.size();
    const Function* function = execution.last->block->function;
    if (kind == ObjectKind::kHeap) function = &skip_forwarding(execution, &call);
    if (call == 0 || execution.calls[call - 1].arc == kNoArc) {
        // Its calls are not shown, or its caller was not seen.
        const CallSite& site = execution.charged_site;
        if (!site) return groups_.at(kind, nullptr, {}, execution.thread);
        const ObjectPlace from = place_of(site);
        return groups_.at(kind, function, {&from, 1}, execution.thread);
    }
    return place_of_chain(execution, kind, call);
}

// The same where the innermost of the first `call` open calls is that place.
[[gnu::always_inline]] inline GroupId Objects::place_of_chain(const Execution& execution, ObjectKind kind,
                                                              std::size_t call) {
    const std::size_t count = std::min(call, std::size_t{rules_.depth});
    if (kind != ObjectKind::kHeap || count > RecentPlace::kMost) return find_place(execution, kind, call);
    const std::span<const OpenCall> calls(&execution.calls[call - count], count);
    std::size_t hash = 0;
    bool passes_over = false;
    for (const OpenCall& each : calls) {
        hash = hash * 31 + index_of(each.arc);
        passes_over |= is_passed_over(each);
    }
    if (__builtin_expect(passes_over, 0)) return find_place(execution, kind, call);
    RecentPlace& recent = recent_places_[hash % recent_places_.size()];
    bool is_known = recent.count == count;
    for (std::size_t i = 0; i < count; ++i) is_known &= recent.arcs[i] == calls[i].arc;
    if (__builtin_expect(is_known, 1)) {
        return recent.has_wrappers ? place_behind_wrappers(execution, kind, call) : recent.group;
    }
    recent.count = count;
    for (std::size_t i = 0; i < count; ++i) recent.arcs[i] = calls[i].arc;
    recent.has_wrappers = std::ranges::any_of(calls, [this](const OpenCall& each) { return is_by_wrapper(each); });
    return recent.group = find_place(execution, kind, call);
}

// The same where more callers are looked at than `depth`.
GroupId Objects::place_behind_wrappers(const Execution& execution, ObjectKind kind, std::size_t call) {
    const std::size_t most = std::min(call, RecentPlace::kMost);
    std::size_t count = 0;
    std::size_t hash = 0;
    for (std::uint32_t depth = 0; count < most && depth < rules_.depth; ++count) {
        const OpenCall& each = execution.calls[call - 1 - count];
        if (is_passed_over(each)) return find_place(execution, kind, call);
        hash = hash * 31 + index_of(each.arc);
        if (!is_by_wrapper(each)) ++depth;
    }
    if (count == RecentPlace::kMost) return find_place(execution, kind, call);
    RecentPlace& recent = behind_wrappers_[hash % behind_wrappers_.size()];
    const auto arc_of = [&](std::size_t i) { return execution.calls[call - 1 - i].arc; };
    bool is_known = recent.count == count;
    for (std::size_t i = 0; i < count; ++i) is_known &= recent.arcs[i] == arc_of(i);
    if (is_known) return recent.group;
    recent.count = count;
    for (std::size_t i = 0; i < count; ++i) recent.arcs[i] = arc_of(i);
    return recent.group = find_place(execution, kind, call);
}

GroupId Objects::find_place(const Execution& execution, ObjectKind kind, std::size_t call) {
    const auto& calls = execution.calls;
    const ArcId innermost = calls[call - 1].arc;
    const std::size_t most = std::min(ObjectRules::kMostDepth, rules_.depth + kMostWrappers);
    std::uint32_t node = kind == ObjectKind::kHeap ? 1 : 2;
    chain_.clear();
    for (std::uint32_t depth = 0; call != 0 && depth < rules_.depth && chain_.size() < most; --call) {
        const OpenCall& open = calls[call - 1];
        if (is_passed_over(open)) continue;
        const std::uint64_t key = std::uint64_t{node} << 32 | index_of(open.arc);
        node = chains_.try_emplace(key, next_number(chains_.size() + 3)).first->second;
        chain_.push_back(open.arc);
        if (kind != ObjectKind::kHeap || !is_by_wrapper(open)) ++depth;
    }
    if (group_of_chain_.size() <= node) group_of_chain_.resize(node + node / 2 + 1);
    GroupId& group = group_of_chain_[node];
    if (group == kUnknownGroup) {
        std::vector<ObjectPlace> places;
        for (const ArcId arc : chain_) places.push_back(place_of(arcs_[arc].site));
        group = groups_.at(kind, &arcs_[innermost].callee->context->function(), places, execution.thread);
    }
    return group;
}

void Objects::map(const Execution* execution, Address begin, Address end, const std::vector<MappedObject>* list) {
    if (begin >= end) return;
    if (!ranges_.remove(begin, end)) blocks_.forget(begin, end);
    if (list != nullptr) {
        std::vector<GroupRange> ranges;
        for (const MappedObject& object : *list) {
            ranges.push_back({object.begin, object.end, GroupRange::kNotAsked, &object});
        }
        ranges_.add(ranges);
        return;
    }
    GroupId group = groups_.at(ObjectKind::kMapping, nullptr, {}, 0);
    if (execution != nullptr && execution->last != nullptr) {
        // What an allocator maps is its own until it is given away.
        const bool is_allocators = execution->allocations != nullptr &&
                                   std::ranges::any_of(execution->allocations->calls, [&](const OpenAllocation& open) {
                                       return is_open(*execution, open);
                                   });
        group = !is_allocators ? place(*execution, ObjectKind::kMapping) : groups_.unused();
    }
    const GroupRange range{begin, end, group};
    ranges_.add({&range, 1});
}

// What lines that are still in D1 have shown is noted for those blocks, until something else is there.
void Objects::unmap(Address begin, Address end) {
    ranges_.remove(begin, end);
    blocks_.free_range(begin, end);
}

// --- Whose byte

GroupId Objects::find(Address address, Address stack_pointer, const Execution& current,
                      const std::vector<Executions>& threads) {
    if (is_in_frame(address, stack_pointer, current)) return groups_.stack(frame_at(current, address));
    if (const GroupId group = blocks_.load(address); group != kUnknownGroup) return group;
    return find_outside_blocks(address, stack_pointer, current, threads);
}

GroupId Objects::look_at(Address address, Address stack_pointer, const Execution& current,
                         const std::vector<Executions>& threads) {
    if (is_in_frame(address, stack_pointer, current)) return groups_.stack(frame_at(current, address));
    if (const HeapBlock block = blocks_.find(address); block.size != 0) return block.group;
    return find_outside_blocks(address, stack_pointer, current, threads);
}

// Of a byte that is neither in a frame of what runs nor in a heap block.
inline GroupId Objects::find_outside_blocks(Address address, Address stack_pointer, const Execution& current,
                                            const std::vector<Executions>& threads) {
    GroupRange* const range = ranges_.find(address);
    const bool is_named = range != nullptr && range->mapped != nullptr;
    if (!is_named) {
        const bool may_be_below = address < stack_pointer &&
                                  (range == nullptr ? stack_pointer - address < kMostBelow : range->has(stack_pointer));
        if (may_be_below) return groups_.stack(frame_at(current, address));
        if (const Function* const owner = frame_elsewhere(address, threads)) return groups_.stack(*owner);
        if (range == nullptr) return kUnknownGroup;
    }
    return group_of(*range);
}

GroupId Objects::group_of(GroupRange& range) {
    if (range.group == GroupRange::kNotAsked) range.group = groups_.of(*range.mapped);
    return range.group;
}

// Of the calls that began above the address, the innermost.
const Function& Objects::frame_at(const CallStack& stack, Address address) {
    const auto is_above = [address](const OpenCall& call) { return call.stack_pointer > address; };
    // Mostly it is one of the last. (1,000,000 open calls: 10 % less replay.)
    auto begin = stack.calls.end();
    auto end = begin;
    for (std::ptrdiff_t step = 1; begin != stack.calls.begin() && !is_above(begin[-1]); step *= 2) {
        end = begin;
        begin -= std::min(step, begin - stack.calls.begin());
    }
    const auto below = std::partition_point(begin, end, is_above);
    return (below == stack.calls.end() ? stack.context : below->caller)->function();
}

const Function* Objects::frame_on(const CallStack& stack, Address address) const {
    if (stack.context == nullptr || address + kRedZone < stack.stack_pointer || address >= stack.base) return nullptr;
    return &frame_at(stack, address);
}

const Function* Objects::frame_elsewhere(Address address, const std::vector<Executions>& threads) const {
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) {
            if (const Function* const owner = frame_on(*execution, address)) return owner;
            for (const auto& other : execution->others) {
                if (const Function* const owner = frame_on(*other, address)) return owner;
            }
        }
    }
    return nullptr;
}

// --- Which bytes

ObjectRange Objects::object_at(Address address) {
    const HeapBlock block = blocks_.find(address);
    if (block.size != 0) return {block.base, block.size};
    const GroupRange* const range = ranges_.find(address);
    const MappedObject* const mapped = range == nullptr ? nullptr : range->mapped;
    if (mapped == nullptr || !is_variable(mapped->kind)) return {};
    return {mapped->base, mapped->size};
}

// Of a block that has been allocated or freed since the line was loaded, it is not known which of the first bytes
// the program used, and which the allocator.
void Objects::evict_blocks(CostId loaded_by, Address begin, unsigned bytes, std::uint64_t used) {
    blocks_.for_each_part(begin, begin + bytes, [&](const HeapBlock& block, Address from, Address to) {
        if (block.group == of_pools_) return;
        if ((block.is_free || block.is_new) && from - block.base < kLinkBytes) {
            from = std::min(to, block.base + kLinkBytes);
            if (from == to) return;
        }
        patterns_.add(loaded_by, block.group, block.size, from - block.base, static_cast<unsigned>(to - from),
                      bits_of(used, from - begin, to - begin));
    });
}

void Objects::evict_variables(CostId loaded_by, Address begin, unsigned bytes, std::uint64_t used) {
    ranges_.for_each_part(begin, begin + bytes, [&](GroupRange& range, Address from, Address to) {
        if (range.mapped == nullptr || !is_variable(range.mapped->kind)) return;
        const MappedObject& variable = *range.mapped;
        patterns_.add(loaded_by, group_of(range), variable.size, from - variable.base, static_cast<unsigned>(to - from),
                      bits_of(used, from - begin, to - begin));
    });
}

void Objects::clear_counts(std::uint32_t thread) {
    groups_.clear_counts(thread);
    if (thread == 0) {
        patterns_.clear();
    } else {
        costs_.forget_zeroed();
        patterns_.drop_if([this](CostId loaded_by) { return costs_.is_zero(loaded_by); });
    }
}

}  // namespace bd
