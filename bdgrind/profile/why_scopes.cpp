// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_scopes.h"

#include <algorithm>
#include <tuple>

namespace bd {

void WhyScopes::use(const Scope& scope, NameLists* names) {
    if (!numbers_.try_emplace(key_of(scope), 0).second) return;
    listed_.push_back(scope);
    names->add(*scope.context);
    if (scope.loop != nullptr) names->add(*scope.loop->instructions()[0].file);
}

// A function's call comes before its loops. Blocks may begin at the same address.
void WhyScopes::number_all() {
    const auto key = [](const Scope& scope) {
        if (scope.loop == nullptr) return std::tuple(scope.context->id(), 0, Address{0}, 0u, 0u);
        const Instruction& first = scope.loop->instructions()[0];
        return std::tuple(scope.context->id(), 1, scope.loop->address - scope.loop->load_bias, first.file->id,
                          first.line);
    };
    std::ranges::sort(listed_, {}, key);
    std::vector<Scope> firsts;
    for (const Scope& scope : listed_) {
        if (firsts.empty() || key(firsts.back()) != key(scope)) firsts.push_back(scope);
        numbers_[key_of(scope)] = static_cast<std::uint32_t>(firsts.size());
    }
    listed_ = std::move(firsts);
}

void WhyScopes::write(TextOutput& out, const NameLists& names) const {
    out << "scopes: " << listed_.size() << '\n';
    for (const Scope& scope : listed_) {
        if (scope.loop == nullptr) {
            out << "call " << names[*scope.context] << '\n';
            continue;
        }
        const Instruction& first = scope.loop->instructions()[0];
        out << "loop " << names[*scope.context] << ' ' << names[*first.file] << ' ' << first.line << ' '
            << scope.loop->address - scope.loop->load_bias << '\n';
    }
}

}  // namespace bd
