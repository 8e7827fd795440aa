// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the options say about functions, by their names and their objects' names. Calls nothing of Valgrind.

#pragma once

#include "engine/base/text_output.h"
#include "engine/calls/call_tracker.h"
#include "engine/program/symbols.h"
#include "tool/options.h"

namespace bd {

// `given` must not change.
class FunctionOptions final : public FunctionRules {
public:
    explicit FunctionOptions(const Options& given) : options_(given) {}

    void apply(Function& function) const override;

private:
    const Options& options_;
};

// Says of each pattern that has not matched anything that it has not: a name that is spelt wrongly does nothing, and
// should not do so in silence.
void write_unmatched(TextOutput& out, const Options& given);

ContextRules context_rules(const Options& given);

}  // namespace bd
