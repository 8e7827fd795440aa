// SPDX-License-Identifier: GPL-2.0-or-later
//
// A note above every view that the page is about a sampled run.

import { usePage } from "./context";
import { times } from "./format";

export function SampledNote() {
    const { report } = usePage();
    const { estimates } = report.facts;
    if (!estimates) return null;
    const { bursts, totals } = estimates;
    return (
        <p class="range-note" role="note" data-sampled={bursts.join(" ")}>
            {report.comparing ? (
                <span>
                    <b>Sampled:</b> of what is compared, {names(bursts)}. How far changes may be off is not known: look
                    at each profile alone.
                </span>
            ) : (
                <span>
                    <b>Sampled:</b> all numbers are estimates, from {times(bursts[0]!, "burst")}.{" "}
                    {totals ? meaning(report.range !== null) : "That is too few to say how far they may be off."}
                </span>
            )}
        </p>
    );
}

const meaning = (isRange: boolean): string =>
    (isRange ? "How far they may be off is known for all profiles together, not for some of them."
        : "±5% is a 95% interval; ? stands for one that is unknown, or wider than the number itself. Paths, calls, "
            + "ratios, and single profiles of several have none.");

const names = (bursts: readonly number[]): string =>
    bursts.flatMap((count, side) =>
        (count ? [`${side ? "before" : "after"} is an estimate from ${times(count, "burst")}`] : [])).join(", ");
