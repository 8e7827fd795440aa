// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sources of the addresses of a block's accesses, and of the values that it leaves in registers, which show the
// loads that an address had to wait for. If they are recorded, they are beside a block's description (Block::dataflow),
// as numbers of 16 bits in program order:
//
//   access   [sources of the address | 4: slot | 8: stores | 16 * sources of the stored value] source... source...
//   exit     [puts] ([register | 256 * sources] source...)...
//
// for each access of the block, and for each exit, which follows the accesses before it. The puts of an exit are the
// registers that changed since the exit before it, or since the block's entry. Registers among the sources have their
// values at the block's entry.
//
// Only integer and vector registers are recorded, not flags; the tool numbers them. A value without a source is a
// constant, or not known.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/program/block.h"

namespace bd {

// A source of a value: a register at the block's entry, or what an access of the block loaded.
class Source {
public:
    static constexpr unsigned kRegisters = 64;

    constexpr Source() : Source(0) {}
    constexpr explicit Source(std::uint16_t code) : code_(code) {}
    static constexpr Source of_register(unsigned number) { return Source(static_cast<std::uint16_t>(number)); }
    static constexpr Source of_access(std::size_t index) { return Source(static_cast<std::uint16_t>(kLoaded | index)); }

    constexpr bool is_loaded() const { return (code_ & kLoaded) != 0; }
    // False if the value is an unchanged part of a sum, as a pointer is; true if it was scaled, masked or compared, or
    // is not an address.
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

// The sources of a value, at most kMostSources. If there are more, loads are preferred.
class Value {
public:
    static constexpr unsigned kMostSources = 3;

    constexpr Value() = default;
    constexpr explicit Value(Source source) : count_(1), sources_{source} {}

    std::span<const Source> sources() const { return {sources_, count_}; }

    // The sources of the sum of two values; of a value that is either of them; and of the result of any other
    // operation.
    Value plus(const Value& other) const;
    Value either(const Value& other) const;
    Value scaled() const;

    // Whether it is a register at the block's entry, plus a constant.
    bool is_near_register(unsigned number) const { return count_ == 1 && sources_[0] == Source::of_register(number); }

private:
    // If the source is there already, `twice` replaces it.
    void add(Source source, Source twice);

    std::uint8_t count_ = 0;
    Source sources_[kMostSources];
};

// Builds such a description while a block is translated. Accesses and exits must be added in the block's order.
class DataflowBuilder {
public:
    void start();

    // `is_slot`: whether the address is at a fixed distance from the stack or frame pointer. `stored`: the value that
    // is written, or null for a read, or if the value is of no interest.
    void add_access(const Value& address, bool is_slot, const Value* stored);
    // Makes the latest access, a read, a read-modify-write.
    void make_modify(const Value& stored);
    void add_exit();

    // The value of a register at this point.
    const Value& get(unsigned number) const { return registers_[number]; }
    void put(unsigned number, const Value& value);

    std::span<const std::uint16_t> words() const { return words_; }

private:
    void add_sources(const Value& value) {
        for (const Source source : value.sources()) words_.push_back(source.code());
    }

    std::vector<std::uint16_t> words_;
    std::size_t latest_access_ = 0;  // its index in words_
    Value registers_[Source::kRegisters];
    std::uint64_t changed_ = 0;  // a bit for each register that changed since the latest exit
};

// Reads such a description in order.
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
    // Returns the number of puts that follow.
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

// Whether `words` are a valid description of the block, with nothing behind it.
bool describes_dataflow(const Block& block, std::span<const std::uint16_t> words);

}  // namespace bd
