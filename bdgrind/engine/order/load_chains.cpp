// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/load_chains.h"

#include <algorithm>

namespace bd {

LoadChains::LoadChains() : loads_(kKept), stores_(kStores) {}

void LoadChains::start_piece() {
    registers_.fill({});
    begin_ = latest_;
}

LoadedFrom LoadChains::evaluate(std::span<const Source> sources) const {
    LoadedFrom value;
    for (const Source source : sources) {
        value.add(source.is_loaded() ? loaded_[source.index()] : registers_[source.index()], source.is_scaled());
    }
    return value;
}

// Whether the chain that ends with load `number` has a load of `site`.
bool LoadChains::comes_by(SiteId site, std::uint32_t number) const {
    for (unsigned steps = 0; steps < kMostSteps && is_kept(number); ++steps) {
        if (load(number).site == site) return true;
        number = load(number).behind;
    }
    return false;
}

LoadChains::Found LoadChains::access(std::size_t index, const DataflowCursor::AccessFlow& flow, SiteId site,
                                     SiteMemory* memory, Address address, std::uint32_t size, bool reads) {
    ++latest_;
    const bool was_here = memory->latest > begin_;
    Found found{was_here ? Dependence::kArithmetic : Dependence::kUnknown, kNoSite};
    Load made{site, 0, false};
    const LoadedFrom value = evaluate(flow.address);
    if (was_here) {
        for (const LoadedFrom::Load& source : value.loads()) {
            if (!is_kept(source.number)) break;
            if (memory->address_from.has(source.number)) continue;
            const Load& behind = load(source.number);
            const bool is_chain = behind.is_chain || comes_by(site, source.number);
            if (made.behind != 0 && !is_chain) continue;
            found = {is_chain                ? Dependence::kChain
                     : source.is_scaled != 0 ? Dependence::kIndex
                                             : Dependence::kPointer,
                     behind.site};
            made = {site, source.number, is_chain};
            if (is_chain) break;
        }
    }
    if (reads) {
        loads_[latest_ % kKept] = made;
        loaded_[index] = load_value(flow.is_slot, *memory, address, was_here);
        memory->value = loaded_[index];
    } else {
        loads_[latest_ % kKept] = {};
        loaded_[index] = {};
    }
    if (flow.stores) {
        const LoadedFrom stored = evaluate(flow.stored);
        for (std::uint32_t offset = 0; offset < std::min(size, kMostStoredBytes); offset += kStoredWord) {
            store_at(address + offset) = {address + offset, latest_, stored};
        }
    }
    memory->latest = latest_;
    memory->address = address;
    memory->address_from = value;
    return found;
}

LoadedFrom LoadChains::load_value(bool is_slot, const SiteMemory& memory, Address address, bool was_here) {
    const bool is_again = was_here && memory.address == address;
    if (is_slot || is_again) {
        const Store& store = store_at(address);
        const bool was_stored = store.address == address && store.number > begin_;
        if (was_stored && (is_slot || store.number >= memory.latest)) return store.value;
        if (is_again) return memory.value;
        if (is_slot) return {};
    }
    return LoadedFrom(latest_);
}

}  // namespace bd
