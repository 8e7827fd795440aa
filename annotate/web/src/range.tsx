// SPDX-License-Identifier: GPL-2.0-or-later
//
// A note above every view, if a range of profiles is chosen: which profiles these are, and what is about all of them
// nevertheless.

import { usePage } from "./context";
import { rangeOf } from "./report";
import type { View } from "./state";

// The notes of views with parts that are not about the range.
const ofAll: Partial<Record<View, string>> = {
    summary: "What to look at first, what to change, and curves cover all profiles.",
    data: "Data objects cover all profiles.",
    source: "Instructions, loops and data cover all profiles.",
    graph: "Loops and inlined functions cover all profiles.",
};

export function RangeNote() {
    const { report, state, go } = usePage();
    const range = rangeOf(report.facts, state);
    if (!range) return null;
    const { members } = report.facts;
    const [from, to] = [members[range.from]!.label, members[range.to]!.label];
    const isWeighed = report.range !== null;
    const hasPaths = report.canWeigh("tree") || !report.facts.tree;
    return (
        <p class="range-note" role="status" data-range={`${range.from} ${range.to}`} data-weighed={isWeighed}>
            <b>{from === to ? from : `${from} to ${to}`}</b>{" "}
            {isWeighed ? `only (${range.to - range.from + 1} of ${members.length}). ${ofAll[state.view] ?? ""}`
                + (hasPaths ? "" : " Paths cover all profiles.")
                : "in Profiles only: the page has no functions and lines of single profiles."}{" "}
            <button type="button" onClick={() => go({ from: null, to: null })}>All</button>
        </p>
    );
}
