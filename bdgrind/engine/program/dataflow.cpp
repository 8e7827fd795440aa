// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/dataflow.h"

#include <bit>

#include "engine/base/narrow.h"

namespace bd {

void Value::add(Source source, Source twice) {
    for (Source& known : std::span(sources_, count_)) {
        if (!known.is_same_value(source)) continue;
        known = twice;
        return;
    }
    if (count_ < kMostSources) {
        sources_[count_++] = source;
        return;
    }
    if (!source.is_loaded()) return;
    for (Source& known : sources_) {
        if (known.is_loaded()) continue;
        known = source;
        return;
    }
    sources_[0] = source;  // the latest loads matter most
}

Value Value::plus(const Value& other) const {
    Value sum = *this;
    for (const Source source : other.sources()) sum.add(source, source.scaled());  // twice a pointer is not a pointer
    return sum;
}

Value Value::either(const Value& other) const {
    Value either = *this;
    for (const Source source : other.sources()) either.add(source, source);
    return either;
}

Value Value::scaled() const {
    Value scaled = *this;
    for (Source& source : scaled.sources_) source = source.scaled();
    return scaled;
}

void DataflowBuilder::start() {
    words_.clear();
    for (unsigned number = 0; number < Source::kRegisters; ++number) {
        registers_[number] = Value(Source::of_register(number));
    }
    changed_ = 0;
}

void DataflowBuilder::add_access(const Value& address, bool is_slot, const Value* stored) {
    latest_access_ = words_.size();
    words_.push_back(narrow(address.sources().size() | (is_slot ? DataflowCursor::kSlot : 0u)));
    add_sources(address);
    if (stored != nullptr) make_modify(*stored);
}

void DataflowBuilder::make_modify(const Value& stored) {
    words_[latest_access_] = narrow(words_[latest_access_] | DataflowCursor::kStores |
                                    stored.sources().size() << DataflowCursor::kStoredShift);
    add_sources(stored);
}

void DataflowBuilder::put(unsigned number, const Value& value) {
    registers_[number] = value;
    changed_ |= std::uint64_t{1} << number;
}

void DataflowBuilder::add_exit() {
    words_.push_back(narrow(std::popcount(changed_)));
    for (; changed_ != 0; changed_ &= changed_ - 1) {
        const auto number = static_cast<unsigned>(std::countr_zero(changed_));
        const Value& value = registers_[number];
        words_.push_back(narrow(number | value.sources().size() << 8));
        add_sources(value);
    }
}

namespace {

// Parses a description as long as it is valid.
class DataflowCheck {
public:
    explicit DataflowCheck(std::span<const std::uint16_t> words) : rest_(words) {}

    // The `index`th access of a block.
    bool takes_access(std::size_t index) {
        std::uint16_t head = 0;
        if (!takes(&head) || head >= 1u << 6) return false;
        const unsigned stored = head >> DataflowCursor::kStoredShift;
        if (stored != 0 && (head & DataflowCursor::kStores) == 0) return false;
        // The stored value may be the one that the same access loaded.
        return take_sources(head & 3, index) && take_sources(stored, index + 1);
    }
    bool takes_exit(std::size_t accesses) {
        std::uint16_t puts = 0;
        if (!takes(&puts) || puts > Source::kRegisters) return false;
        for (unsigned i = 0; i < puts; ++i) {
            std::uint16_t head = 0;
            if (!takes(&head) || (head & 0xff) >= Source::kRegisters) return false;
            if (!take_sources(head >> 8, accesses)) return false;
        }
        return true;
    }
    bool is_at_end() const { return rest_.empty(); }

private:
    bool takes(std::uint16_t* word) {
        if (rest_.empty()) return false;
        *word = rest_.front();
        rest_ = rest_.subspan(1);
        return true;
    }
    // Only loads by the first `accesses` accesses are valid sources.
    bool take_sources(unsigned count, std::size_t accesses) {
        if (count > Value::kMostSources) return false;
        for (unsigned i = 0; i < count; ++i) {
            std::uint16_t code = 0;
            if (!takes(&code)) return false;
            const Source source(code);
            if (source.index() >= (source.is_loaded() ? accesses : std::size_t{Source::kRegisters})) return false;
        }
        return true;
    }

    std::span<const std::uint16_t> rest_;
};

}  // namespace

bool describes_dataflow(const Block& block, std::span<const std::uint16_t> words) {
    DataflowCheck check(words);
    std::size_t access = 0;
    for (const Exit& exit : block.exits()) {
        for (; access < exit.accesses; ++access) {
            if (!check.takes_access(access)) return false;
        }
        if (!check.takes_exit(access)) return false;
    }
    return check.is_at_end();
}

}  // namespace bd
