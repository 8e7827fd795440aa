// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_objects.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace bd::test {
namespace {

// As docs/simulation.md has it: rule 42, what is of the frame that runs, and how far below the stack pointer that
// reaches where nothing is known to be mapped; rule 45, the bytes that allocators use of blocks, and of how large ones.
constexpr Address kBelowStackPointer = 128;
constexpr Address kBelowWithoutMapping = 1'048'576;
constexpr Address kLinkBytes = 16;
constexpr Address kMostWithLinks = 65'536;
// As docs/format.md has it.
constexpr Address kMostInPattern = 64;

const Call* open_call(const NaiveExecution& execution, const Allocation& allocation) {
    const auto call = std::ranges::find(execution.calls, allocation.call, &Call::number);
    return call == execution.calls.end() ? nullptr : &*call;
}

std::string frame_at(const Stack& stack, Address address) {
    unsigned function = stack.calls.empty() ? stack.context.function : stack.calls[0].caller_context.function;
    for (std::size_t i = 0; i < stack.calls.size() && stack.calls[i].stack_pointer > address; ++i) {
        function = i + 1 < stack.calls.size() ? stack.calls[i + 1].caller_context.function : stack.context.function;
    }
    return "stack f" + std::to_string(function);
}

bool has_on_stack(const Stack& stack, Address address) {
    return stack.last && address + kBelowStackPointer >= stack.stack_pointer && address < stack.base;
}

// The function that a group's blocks were allocated by; none where that is not known.
std::optional<unsigned> function_of(const std::string& group) {
    if (!group.starts_with("heap f")) return {};
    return static_cast<unsigned>(std::stoul(group.substr(6)));
}

const Allocation::Inner* inner_at(const Allocation& call, Address base) {
    const auto inner = std::ranges::find(call.inner.rbegin(), call.inner.rend(), base, &Allocation::Inner::base);
    return inner == call.inner.rend() ? nullptr : &*inner;
}

// The latest block that was allocated there, if any was, is a part of what it was.
void resize_inner(Allocation& call, Address base, Address size) {
    const auto inner = std::ranges::find(call.inner.rbegin(), call.inner.rend(), base, &Allocation::Inner::base);
    if (inner != call.inner.rend()) inner->size = size;
}

}  // namespace

void NaiveObjects::on_allocator(NaiveExecution& now, const Scenario::Record& record) {
    if (depth_ == 0) return;
    auto& open = now.allocations;
    std::erase_if(open, [&](const Allocation& each) { return open_call(now, each) == nullptr; });
    if (record.marker == Marker::kAllocatorLeft) {
        while (!open.empty() && open.back().stack_pointer <= record.values[1]) {
            Allocation call = open.back();
            open.pop_back();
            if (call.stack_pointer != record.values[1]) continue;
            allocate(now, call, record.values[0]);
            for (auto outer = open.rbegin(); outer != open.rend(); ++outer) {
                outer->allocated = call.allocated;
                if (scenario_.functions[outer->function].allocator.kind != AllocatorKind::kWraps) break;
            }
        }
        return;
    }
    const unsigned function = scenario_.blocks[now.last->block].function;
    if (now.calls.empty()) return;
    const Call& call = now.calls.back();
    std::erase_if(open, [&](const Allocation& each) { return each.call == call.number; });
    Allocation allocation{call.number, call.stack_pointer, function, {}, {}};
    for (int i = 0; i < 3; ++i) allocation.arguments[i] = record.values[i];
    allocation.group = open.empty() ? "heap " + place_of(now, true) : open.back().group;
    open.push_back(allocation);
}

void NaiveObjects::allocate(NaiveExecution& now, Allocation& call, Address result) {
    const AllocatorRole& role = scenario_.functions[call.function].allocator;
    if (role.kind == AllocatorKind::kWraps || result == 0) return;
    Address size = call.arguments[role.size - 1];
    if (role.count != 0) size *= call.arguments[role.count - 1];
    if (role.may_be_within) {
        allocate_named(now, call, result, size);
        return;
    }
    if (call.allocated == result) return;
    if (role.block != 0) free(call.arguments[role.block - 1]);
    blocks_overlap_ |= size != 0 && std::ranges::any_of(heap_, [&](const Range& block) {
        return block.base < result && block.has(result);
    });
    add(now, call, result, size);
}

void NaiveObjects::add(NaiveExecution& now, Allocation& call, Address result, Address size) {
    call.allocated = result;
    // What began there was freed in a way that was not seen.
    for (auto* blocks : {&heap_, &freed_}) {
        std::erase_if(*blocks, [&](const Range& block) { return block.base - result < size; });
    }
    for (Range& block : freed_) {
        if (block.base < result && result - block.base < block.size) block.has_other = true;
    }
    heap_.push_back({result, size, call.group, size <= kMostWithLinks});
    for (Allocation& outer : now.allocations) {
        if (is_named(outer.function)) outer.inner.push_back({result, size});
    }
}

// What the user says allocates, as rule 43 of docs/simulation.md has it.
void NaiveObjects::allocate_named(NaiveExecution& now, Allocation& call, Address result, Address size) {
    const auto forget_inner = [&](Address base) {
        const auto has_base = [&](const Allocation::Inner& inner) { return inner.base == base; };
        std::erase_if(call.inner, has_base);
        for (Allocation& outer : now.allocations) std::erase_if(outer.inner, has_base);
    };
    if (const Allocation::Inner* const inner = inner_at(call, result)) {
        call.allocated = result;
        if (size == 0 || size >= inner->size) return;
        if (pools_.contains(call.function)) {
            if (!shrink(result, inner->size, call.group, size)) return;
            for (Allocation& outer : now.allocations) resize_inner(outer, result, size);
        } else if (std::ranges::none_of(now.allocations,
                                        [&](const Allocation& each) { return is_named(each.function); })) {
            doubtful_[call.function].push_back({result, inner->size, call.group, size});
        }
        return;
    }
    if (!fits(now, call, result, size)) return;
    const auto around = [&] { return block_at(result); };
    while (around() != nullptr && result - around()->base + size > around()->size) free(around()->base);
    const bool is_in_inner = around() != nullptr && inner_at(call, around()->base) != nullptr;
    if (!is_in_inner && pools_.insert(call.function).second) {
        for (const Asked& each : doubtful_[call.function]) shrink(each.base, each.size, each.group, each.asked);
    }
    if (around() != nullptr && is_part(*around()) && function_of(around()->group) == function_of(call.group)) {
        if (size > kMostWithLinks) return;
        if (is_in_inner) {
            forget_inner(around()->base);
            around()->group = "unused";
        } else {
            free(around()->base);
        }
    }
    add(now, call, result, size);
}

bool NaiveObjects::is_part(const Range& block) const {
    const std::optional<unsigned> function = function_of(block.group);
    return function && is_named(*function);
}

NaiveObjects::Range* NaiveObjects::block_at(Address address) {
    return const_cast<Range*>(innermost(heap_, address));
}

bool NaiveObjects::fits(const NaiveExecution& now, const Allocation& call, Address result, Address size) {
    size = std::max(size, Address{1});
    const auto has_it = [&](const Range& block) { return size <= block.base + block.size - result; };
    const Range* block = block_at(result);
    std::vector<Range> others;
    if (block != nullptr && !has_it(*block)) {
        if (inner_at(call, block->base) != nullptr) return false;
        std::ranges::copy_if(heap_, std::back_inserter(others), [&](const Range& each) { return !is_part(each); });
        block = innermost(others, result);
    }
    return block != nullptr ? has_it(*block) : is_memory(now, result, size);
}

bool NaiveObjects::is_memory(const NaiveExecution& now, Address begin, Address size) const {
    const auto is_on = [&](const Stack& stack) { return stack.stack_pointer <= begin && begin + size <= stack.base; };
    if (is_on(now) || std::ranges::any_of(now.others, is_on)) return true;
    Address known = begin;
    while (const Range* const range = innermost(mapped_, known)) known = range->base + range->size;
    return known >= begin + size;
}

// What has got more than it returns: the rest is the allocators' own. Of a small block nothing is left. False: that is
// too large, or something else is there now.
bool NaiveObjects::shrink(Address base, Address size, const std::string& group, Address asked) {
    Range* const block = block_at(base);
    if (block == nullptr || block->base != base || block->size != size || block->group != group) return false;
    if (asked > kMostWithLinks) return false;
    if (size > kMostWithLinks) {
        block->group = "unused";
        heap_.push_back({base, asked, group, true});
    } else {
        *block = {base, asked, group, true};
    }
    return true;
}

// With all that lies within it. If a pool's part begins where what the pool has got does, the part is freed first.
void NaiveObjects::free(Address base) {
    const auto found = std::ranges::find(heap_.rbegin(), heap_.rend(), base, &Range::base);
    if (found == heap_.rend()) return;
    const Range freed = *found;
    heap_.erase(std::prev(found.base()));
    freed_.push_back(freed);
    std::erase_if(heap_, [&](const Range& block) {
        if (block.base == base || !freed.has(block.base)) return false;
        freed_.push_back(block);
        return true;
    });
}

void NaiveObjects::map(Address begin, Address end, const NaiveExecution* now) {
    if (!is_mapped(begin, end)) forget_blocks(begin, end);
    remove_mapping(begin, end);
    mapped_.push_back({begin, end - begin, now != nullptr && depth_ != 0 ? mapping_group(*now) : "mapping "});
}

bool NaiveObjects::is_mapped(Address begin, Address end) const {
    return std::ranges::any_of(mapped_,
                               [&](const Range& each) { return each.base < end && begin < each.base + each.size; });
}

void NaiveObjects::forget_blocks(Address begin, Address end) {
    for (auto* blocks : {&heap_, &freed_}) {
        std::erase_if(*blocks, [&](const Range& block) { return begin <= block.base && block.base < end; });
        for (Range& block : *blocks) {
            if (block.has(begin)) block.size = begin - block.base;
        }
    }
}

void NaiveObjects::unmap(Address begin, Address end) {
    const std::vector<Range> blocks = heap_;
    for (const Range& block : blocks) {
        if (block.base < begin || block.base >= end) continue;
        for (const Range& within : blocks) {
            if (block.has(within.base)) free(within.base);
        }
    }
    remove_mapping(begin, end);
}

void NaiveObjects::remove_mapping(Address begin, Address end) {
    std::vector<Range> kept;
    for (const Range& range : mapped_) {
        const Address range_end = range.base + range.size;
        if (range.base < begin) kept.push_back({range.base, std::min(begin, range_end) - range.base, range.group});
        if (range_end > end) {
            const Address from = std::max(end, range.base);
            kept.push_back({from, range_end - from, range.group});
        }
    }
    mapped_ = kept;
}

std::string NaiveObjects::mapping_group(const NaiveExecution& now) const {
    for (const Allocation& each : now.allocations) {
        if (open_call(now, each) != nullptr) return "unused";
    }
    return "mapping " + place_of(now, false);
}

std::string NaiveObjects::name_of_instruction(const Site& site) const {
    const Scenario::Block& block = scenario_.blocks[site.block];
    const Address address = block.instruction_address(block.exits[site.exit].instructions - 1);
    return " f" + std::to_string(site.context.function) + "@" + std::to_string(address);
}

// Code without a name that only jumps on counts as no caller: it is a stub that has not been recognised.
bool NaiveObjects::is_nameless_jump(const Call& call) const {
    return !call.return_address && !scenario_.functions[call.caller_context.function].is_named;
}

// Where what runs was called from, and its callers. Of the heap, functions that only forward calls of what allocates
// are as if they did so themselves.
std::string NaiveObjects::place_of(const NaiveExecution& now, bool is_heap) const {
    unsigned function = scenario_.blocks[now.last->block].function;
    auto innermost = now.calls.rbegin();
    for (auto call = innermost; is_heap && call != now.calls.rend(); ++call) {
        if (is_nameless_jump(*call)) continue;
        const unsigned caller = call->caller_context.function;
        if (scenario_.functions[caller].allocator.kind != AllocatorKind::kForwards) break;
        function = caller;
        innermost = call + 1;
    }
    if (innermost == now.calls.rend() || !innermost->arc) {
        if (!now.charged_site) return "";
        return "f" + std::to_string(function) + name_of_instruction(*now.charged_site);
    }
    std::string place = "f" + std::to_string(innermost->arc->callee_context.function);
    unsigned depth = 0;
    unsigned wrappers = 0;
    for (auto call = innermost; call != now.calls.rend() && depth < depth_ && depth + wrappers < depth_ + 8; ++call) {
        if (!call->arc || is_nameless_jump(*call)) continue;
        place += name_of_instruction({call->arc->block, call->arc->context, call->arc->exit});
        const bool is_wrapper = is_heap && scenario_.functions[call->arc->context.function].wraps_allocators;
        ++(is_wrapper ? wrappers : depth);
    }
    return place;
}

const NaiveObjects::Range* NaiveObjects::innermost(const std::vector<Range>& ranges, Address address) {
    const Range* found = nullptr;
    for (const Range& range : ranges) {
        if (!range.has(address)) continue;
        const bool is_within =
            found == nullptr || range.base > found->base || (range.base == found->base && range.size < found->size);
        if (is_within) found = &range;
    }
    return found;
}

std::vector<NaiveObjects::Pattern> NaiveObjects::patterns_of(Address begin, Address bytes,
                                                             const std::function<bool(Address)>& is_used,
                                                             const std::string& loaded_for) const {
    std::vector<Pattern> patterns;
    if (depth_ == 0 || loaded_for.starts_with("stack ")) return patterns;
    std::vector<Range> all = heap_;
    all.insert(all.end(), freed_.begin(), freed_.end());
    const auto is_free_or_new = [&](const Range& block) {
        return &block - all.data() >= std::ssize(heap_) || block.is_new;
    };
    const Range* latest = nullptr;
    for (Address address = begin; address < begin + bytes; ++address) {
        const Range* block = innermost(all, address);
        if (block != nullptr && block->group == "unused") block = nullptr;
        if (block != nullptr && address - block->base < kLinkBytes && is_free_or_new(*block)) block = nullptr;
        if (block != nullptr && (block != latest || (address - begin) % kMostInPattern == 0)) {
            patterns.push_back({block->group, address - block->base, "", block->size, block->has_other});
        }
        latest = block;
        if (block != nullptr) patterns.back().used += is_used(address) ? '#' : '.';
    }
    return patterns;
}

std::string NaiveObjects::group_of_code(const Scenario::Block& block) const {
    if (depth_ == 0) return "";
    return "code object" + std::to_string(scenario_.functions[block.function].object);
}

std::string NaiveObjects::group_at(Address address, const NaiveExecution& now, const Executions& all,
                                   bool loads) {
    if (depth_ == 0) return "";
    if (address + kBelowStackPointer >= now.stack_pointer && address < now.base) return frame_at(now, address);
    const Address line_bytes = scenario_.caches.d1.line_bytes;
    for (Range& block : heap_) {
        if (loads && block.base / line_bytes == address / line_bytes) block.is_new = false;
    }
    if (const Range* const block = innermost(heap_, address)) return block->group;
    const Range* const range = innermost(mapped_, address);
    const bool is_below =
        range != nullptr ? range->has(now.stack_pointer) : now.stack_pointer - address < kBelowWithoutMapping;
    if (address < now.stack_pointer && is_below) return frame_at(now, address);
    for (const auto& [thread, executions] : all) {
        for (const NaiveExecution& each : executions) {
            if (has_on_stack(each, address)) return frame_at(each, address);
            for (const Stack& other : each.others) {
                if (has_on_stack(other, address)) return frame_at(other, address);
            }
        }
    }
    return range != nullptr ? range->group : "unknown";
}

}  // namespace bd::test
