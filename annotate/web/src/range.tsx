// SPDX-License-Identifier: GPL-2.0-or-later
//
// A note above every view, if a range of profiles is chosen: which profiles these are, and what is about all of them
// nevertheless.

import { usePage } from "./context";
import { rangeOf } from "./report";
import type { View } from "./state";

// The notes of views with parts that are not about the range.
const ofAll: Partial<Record<View, string>> = {
    summary: "What to look at first, places to change and curves are of all.",
    data: "Data objects are of all.",
    source: "Instructions, loops and data are of all.",
    graph: "Loops and inlined functions are of all.",
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
                + (hasPaths ? "" : " Paths are of all.")
                : "in Profiles only: the page does not know of each what it has of functions and lines."}{" "}
            <button type="button" onClick={() => go({ from: null, to: null })}>All</button>
        </p>
    );
}
