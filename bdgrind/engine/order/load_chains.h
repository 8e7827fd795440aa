// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which loads each address in a piece of a trace had to wait for. The content of each register is known by the loads
// that it comes from, and blocks say how they change it (dataflow.h).
//
// An address depends on a load from which the previous address of the same instruction did not come. What both come
// from, such as an array's base, is constant as far as this instruction is concerned.
//
// Memory that is used like a register counts as one: a slot of the stack that was stored to, and what an instruction
// loads from the same address as the last time. So values that were spilled, or are reloaded again and again because of
// other stores, make no chains.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/types.h"
#include "engine/program/dataflow.h"

namespace bd {

// An access of an instruction, wherever the code was translated.
enum class SiteId : std::uint32_t {};
inline constexpr SiteId kNoSite{0};

// What an address depends on. The numbers are written to files.
enum class Dependence : std::uint8_t {
    kUnknown,     // the instruction was not executed before
    kArithmetic,  // on registers
    kIndex,       // on a number that was loaded
    kChain,       // on a load at the end of a chain of loads in which an instruction occurs twice
    kPointer,     // on a pointer that was loaded
};
inline constexpr std::size_t kDependences = 5;

// The two latest loads that a value comes from, by number, the latest first; 0: none is known.
class LoadedFrom {
public:
    struct Load {
        std::uint32_t number : 31;
        std::uint32_t is_scaled : 1;  // see Source
    };

    constexpr LoadedFrom() : LoadedFrom(0) {}
    constexpr explicit LoadedFrom(std::uint32_t number) : loads_{{number & 0x7fffffff, 0}, {0, 0}} {}

    std::span<const Load> loads() const { return loads_; }
    bool has(std::uint32_t number) const { return number == loads_[0].number || number == loads_[1].number; }
    void add(const LoadedFrom& other, bool is_scaled) {
        for (const Load& load : other.loads_) {
            if (load.number == 0) return;
            add(Load{load.number, load.is_scaled | (is_scaled ? 1u : 0u)});
        }
    }

private:
    void add(Load load) {
        if (load.number > loads_[0].number) {
            loads_[1] = loads_[0];
            loads_[0] = load;
        } else if (load.number != loads_[0].number && load.number > loads_[1].number) {
            loads_[1] = load;
        }
    }

    Load loads_[2];
};

// The latest execution of a site.
struct SiteMemory {
    std::uint32_t latest = 0;  // the number of the access; 0: there was none
    Address address = 0;
    LoadedFrom value;         // what it loaded
    LoadedFrom address_from;  // what its address was computed from
};

class LoadChains {
public:
    static constexpr std::uint32_t kMostAccesses = (1u << 31) - 1;

    LoadChains();

    // From here on, nothing is known of what registers hold, or of earlier accesses.
    void start_piece();
    // The number of accesses so far.
    std::uint32_t accesses() const { return latest_; }

    // Begins a block that has a description. Its accesses must follow in its order, then its puts, then leave_block().
    void enter_block(std::size_t accesses) {
        if (loaded_.size() < accesses) loaded_.resize(accesses);
        puts_.clear();
    }
    struct Found {
        Dependence dependence;
        SiteId on;
    };
    // The access of the block with this index, from 0. `on`: the site of the load that it depends on.
    Found access(std::size_t index, const DataflowCursor::AccessFlow& flow, SiteId site, SiteMemory* memory,
                 Address address, std::uint32_t size, bool reads);
    // An access that was not made.
    void skip(std::size_t index) { loaded_[index] = {}; }
    void put(const DataflowCursor::Put& put) { puts_.push_back({put.number, evaluate(put.value)}); }
    void leave_block() {
        for (const auto& [number, value] : puts_) registers_[number] = value;
    }

private:
    static constexpr std::uint32_t kKept = 8192;  // accesses whose loads are known
    static constexpr std::size_t kStores = 2048;
    static constexpr std::uint32_t kStoredWord = 8;  // bytes
    static constexpr std::uint32_t kMostStoredBytes = 64;
    static constexpr unsigned kMostSteps = 8;  // that are followed back along a chain

    struct Load {
        SiteId site = kNoSite;
        std::uint32_t behind = 0;  // the load that its address depends on; 0: none
        bool is_chain = false;
    };
    struct Store {
        Address address = 0;
        std::uint32_t number = 0;
        LoadedFrom value;
    };
    struct PutValue {
        unsigned number;
        LoadedFrom value;
    };

    bool is_kept(std::uint32_t load) const { return load != 0 && latest_ - load < kKept; }
    const Load& load(std::uint32_t number) const { return loads_[number % kKept]; }
    LoadedFrom evaluate(std::span<const Source> sources) const;
    bool comes_by(SiteId site, std::uint32_t number) const;
    LoadedFrom load_value(bool is_slot, const SiteMemory& memory, Address address, bool was_here);
    Store& store_at(Address address) { return stores_[address / 4 % kStores]; }

    std::array<LoadedFrom, Source::kRegisters> registers_;
    std::vector<LoadedFrom> loaded_;  // by access of the block
    std::vector<PutValue> puts_;
    std::vector<Load> loads_;
    std::vector<Store> stores_;
    std::uint32_t latest_ = 0;  // access
    std::uint32_t begin_ = 0;   // of the piece: accesses up to here are forgotten
};

}  // namespace bd
