// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/name_order.h"

#include <algorithm>
#include <compare>
#include <string_view>
#include <utility>

namespace bd {
namespace {

// One of each, by id.
template <class Item, class IdOf>
std::vector<const Item*> each_once(std::vector<const Item*> items, IdOf id_of) {
    std::uint32_t ids = 0;
    for (const Item* item : items) ids = std::max(ids, id_of(*item) + 1);
    std::vector<const Item*> by_id(ids);
    for (const Item* item : items) by_id[id_of(*item)] = item;
    std::erase(by_id, nullptr);
    return by_id;
}

// What functions are sorted by, side by side. Most neighbours have the same object and file; only then is the name
// compared.
struct FunctionName {
    const ObjectFile* object;
    const SourceFile* file;
    std::string_view name;
    const Function* function;

    friend std::strong_ordering operator<=>(const FunctionName& a, const FunctionName& b) {
        const auto by_text = [](const auto* one, const auto* other) {
            return one == other ? std::strong_ordering::equal
                                : std::string_view(one->name) <=> std::string_view(other->name);
        };
        if (const auto order = by_text(a.object, b.object); order != 0) return order;
        if (const auto order = by_text(a.file, b.file); order != 0) return order;
        return a.name <=> b.name;
    }
};

// The ranks of these functions, by id.
std::vector<std::uint32_t> rank_by_name(const std::vector<const Function*>& functions) {
    std::vector<FunctionName> names;
    names.reserve(functions.size());
    for (const Function* function : functions) {
        names.push_back({function->object, function->file, function->name, function});
    }
    std::sort(names.begin(), names.end(), [](const FunctionName& a, const FunctionName& b) { return (a <=> b) < 0; });
    std::vector<std::uint32_t> ranks(functions.empty() ? 0 : functions.back()->id + 1);
    for (std::uint32_t rank = 0; rank < names.size(); ++rank) ranks[names[rank].function->id] = rank;
    return ranks;
}

}  // namespace

NameOrder::NameOrder(const std::vector<const Context*>& contexts) {
    contexts_ = each_once(contexts, [](const Context& context) { return context.id(); });
    ranks_.resize(contexts_.empty() ? 0 : contexts_.back()->id() + 1);

    std::vector<const Function*> functions;
    for (const Context* context : contexts_) {
        functions.push_back(&context->function());
        functions.insert(functions.end(), context->callers().begin(), context->callers().end());
    }
    const std::vector<std::uint32_t> function_ranks =
        rank_by_name(each_once(std::move(functions), [](const Function& function) { return function.id; }));

    const auto rank_of = [&](const Function& function) { return function_ranks[function.id]; };
    std::ranges::sort(contexts_, [&](const Context* a, const Context* b) {
        if (&a->function() != &b->function()) return rank_of(a->function()) < rank_of(b->function());
        if (a->level() != b->level()) return a->level() < b->level();
        return std::ranges::lexicographical_compare(
            a->callers(), b->callers(),
            [&](const Function* one, const Function* other) { return rank_of(*one) < rank_of(*other); });
    });
    for (std::uint32_t rank = 0; rank < contexts_.size(); ++rank) ranks_[contexts_[rank]->id()] = rank;
}

}  // namespace bd
