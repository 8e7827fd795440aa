// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calls and loops that the sections of a why file name: in its list of scopes, by their numbers there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/text_output.h"
#include "engine/calls/scope_tracker.h"
#include "profile/name_lists.h"

namespace bd {

class WhyScopes {
public:
    // It will be asked for its number. Adds the names that it needs.
    void use(const Scope& scope, NameLists* names);
    // All that will be asked for have been used.
    void number_all();
    // From 1.
    std::uint32_t operator[](const Scope& scope) const { return numbers_.find(key_of(scope))->second; }

    // The list, after number_all().
    void write(TextOutput& out, const NameLists& names) const;

private:
    using Key = std::pair<std::uint32_t, const Block*>;
    static Key key_of(const Scope& scope) { return {scope.context->id(), scope.loop}; }
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return key.first * std::size_t{31} + reinterpret_cast<std::uintptr_t>(key.second);
        }
    };

    std::vector<Scope> listed_;  // one with each number, from the first on
    boost::unordered_flat_map<Key, std::uint32_t, KeyHash> numbers_;
};

}  // namespace bd
