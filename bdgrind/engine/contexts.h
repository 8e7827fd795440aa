// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calling contexts: what a cost is kept apart by. A context is a function; callers and recursion levels are to join
// it where the user asks for them.

#pragma once

#include <memory>
#include <vector>

#include "engine/symbols.h"

namespace bd {

class Context {
public:
    explicit Context(const Function& function) : function_(&function) {}

    const Function& function() const { return *function_; }

private:
    const Function* function_;
};

// Owns all of them; references stay valid as long as the table lives.
class ContextTable {
public:
    ContextTable() = default;
    ~ContextTable() {
        for (const auto& context : contexts_) context->function().context = nullptr;
    }
    ContextTable(const ContextTable&) = delete;
    ContextTable& operator=(const ContextTable&) = delete;

    const Context& of(const Function& function) {
        if (function.context == nullptr) {
            contexts_.push_back(std::make_unique<Context>(function));
            function.context = contexts_.back().get();
        }
        return *function.context;
    }

private:
    std::vector<std::unique_ptr<Context>> contexts_;
};

}  // namespace bd
