// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the addresses of a block's accesses, and what it leaves in registers, are computed from: as far as that tells
// which loads an address had to wait for. It stands beside a block's description if it is asked for
// (Block::dataflow), as numbers of 16 bits in program order:
//
//   access   [sources of the address | 4: slot | 8: stores | 16 * sources of what is stored] source... source...
//   exit     [puts] ([register | 256 * sources] source...)...
//
// for each access of the block and each exit, an exit behind the accesses up to there. Its puts are the registers that
// have changed since the exit before, or since the block's entry; all sources are values at the block's entry.
//
// Only registers of integers and vectors matter, numbered as the tool likes; flags do not. No source at all: a
// constant, or what nothing is known about.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/program/block.h"

namespace bd {

// What a value is computed from: a register at the block's entry, or what an access of the block has loaded.
class Source {
public:
    static constexpr unsigned kRegisters = 64;

    constexpr Source() : Source(0) {}
    constexpr explicit Source(std::uint16_t code) : code_(code) {}
    static constexpr Source of_register(unsigned number) { return Source(static_cast<std::uint16_t>(number)); }
    static constexpr Source of_access(std::size_t index) { return Source(static_cast<std::uint16_t>(kLoaded | index)); }

    constexpr bool is_loaded() const { return (code_ & kLoaded) != 0; }
    // Whether it was added without more, as a pointer is; else it was scaled, masked, compared, or is no address.
    constexpr bool is_scaled() const { return (code_ & kScaled) != 0; }
    constexpr unsigned index() const { return code_ & kIndex; }
    constexpr std::uint16_t code() const { return code_; }

    constexpr Source scaled() const { return Source(static_cast<std::uint16_t>(code_ | kScaled)); }
    constexpr bool is_same_value(Source other) const { return ((code_ ^ other.code_) & ~kScaled) == 0; }
    constexpr bool operator==(const Source&) const = default;

private:
    static constexpr unsigned kLoaded = 0x8000;
    static constexpr unsigned kScaled = 0x4000;
    static constexpr unsigned kIndex = 0x3fff;

    std::uint16_t code_;
};

// A value by its sources. Of too many, what has been loaded is kept.
class Value {
public:
    static constexpr unsigned kMostSources = 3;

    constexpr Value() = default;
    constexpr explicit Value(Source source) : count_(1), sources_{source} {}

    std::span<const Source> sources() const { return {sources_, count_}; }

    // Their sum; one of them; and what any other operation makes of it.
    Value plus(const Value& other) const;
    Value either(const Value& other) const;
    Value scaled() const;

    // Nothing but a constant away from a register at the block's entry.
    bool is_near_register(unsigned number) const { return count_ == 1 && sources_[0] == Source::of_register(number); }

private:
    // Where it is there already, `twice` takes its place.
    void add(Source source, Source twice);

    std::uint8_t count_ = 0;
    Source sources_[kMostSources];
};

// Puts together such a description while a block is translated. Accesses and exits must be the block's.
class DataflowBuilder {
public:
    void start();

    // `is_slot`: the address is at a fixed distance from the stack or frame pointer. `stored`: what is written there;
    // null: nothing, or it does not matter.
    void add_access(const Value& address, bool is_slot, const Value* stored);
    // The latest access, a read, has become a read-modify-write.
    void make_modify(const Value& stored);
    void add_exit();

    // Registers as they are here.
    const Value& get(unsigned number) const { return registers_[number]; }
    void put(unsigned number, const Value& value);

    std::span<const std::uint16_t> words() const { return words_; }

private:
    void add_sources(const Value& value) {
        for (const Source source : value.sources()) words_.push_back(source.code());
    }

    std::vector<std::uint16_t> words_;
    std::size_t latest_access_ = 0;  // where in words_
    Value registers_[Source::kRegisters];
    std::uint64_t changed_ = 0;  // registers since the latest exit, a bit each
};

// Walks through such a description, in its order.
class DataflowCursor {
public:
    explicit DataflowCursor(const std::uint16_t* at) : at_(at) {}

    struct AccessFlow {
        std::span<const Source> address;
        std::span<const Source> stored;
        bool is_slot;
        bool stores;
    };
    AccessFlow next_access() {
        const unsigned head = *at_++;
        AccessFlow flow{};
        flow.address = sources(head & 3);
        flow.is_slot = (head & kSlot) != 0;
        flow.stores = (head & kStores) != 0;
        flow.stored = sources(head >> kStoredShift);
        return flow;
    }
    // How many puts follow.
    unsigned next_exit() { return *at_++; }
    struct Put {
        unsigned number;
        std::span<const Source> value;
    };
    Put next_put() {
        const unsigned head = *at_++;
        return {head & 0xff, sources(head >> 8)};
    }

    static constexpr unsigned kSlot = 4;
    static constexpr unsigned kStores = 8;
    static constexpr unsigned kStoredShift = 4;

private:
    std::span<const Source> sources(unsigned count) {
        static_assert(sizeof(Source) == sizeof(std::uint16_t));
        const auto* const first = reinterpret_cast<const Source*>(at_);
        at_ += count;
        return {first, count};
    }

    const std::uint16_t* at_;
};

// Whether these are a description of the block, and nothing else.
bool describes_dataflow(const Block& block, std::span<const std::uint16_t> words);

}  // namespace bd
