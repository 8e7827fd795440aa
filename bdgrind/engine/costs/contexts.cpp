// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/contexts.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/narrow.h"

namespace bd {

std::size_t ContextTable::ChainHash::operator()(Callers chain) const {
    std::uint64_t hash = 0;
    for (const Function* function : chain) hash = (hash + function->id + 1) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

bool ContextTable::ChainEqual::operator()(Callers a, Callers b) const {
    return std::ranges::equal(a, b);
}

const Context& ContextTable::find_or_make(const Function& function, std::uint32_t level) {
    Levels& levels = by_function_[function.id];
    const Context& context = get(levels, function, level, {});
    outermost_[function.id] = levels.front();
    return context;
}

const Context& ContextTable::with_callers(const Function& function, std::uint32_t level, Callers callers) {
    key_.assign(1, &function);
    key_.insert(key_.end(), callers.begin(), callers.end());
    auto found = by_chain_.find(Callers(key_));
    if (found == by_chain_.end()) {
        chains_.push_back(std::make_unique<const Function*[]>(key_.size()));
        std::ranges::copy(key_, chains_.back().get());
        found = by_chain_.emplace(Callers(chains_.back().get(), key_.size()), Levels{}).first;
    }
    return get(found->second, function, level, found->first.subspan(1));
}

const Context& ContextTable::in_thread(const Context& context, std::uint32_t thread) {
    if (context.thread() == thread) return context;
    const Context*& own = by_thread_[std::uint64_t{thread} << 32 | context.id()];
    if (own == nullptr) {
        const std::uint32_t id = next_number(contexts_.size());
        contexts_.push_back(
            std::make_unique<Context>(context.function(), context.level(), context.callers(), id, thread));
        own = contexts_.back().get();
    }
    return *own;
}

const Context& ContextTable::get(Levels& levels, const Function& function, std::uint32_t level, Callers callers) {
    BD_DCHECK(level >= 1 && level <= function.recursion_levels && callers.size() <= function.caller_count);
    while (levels.size() < level) {
        const std::uint32_t id = next_number(contexts_.size());
        const auto next = static_cast<std::uint32_t>(levels.size() + 1);
        contexts_.push_back(std::make_unique<Context>(function, next, callers, id));
        levels.push_back(contexts_.back().get());
    }
    return *levels[level - 1];
}

}  // namespace bd
