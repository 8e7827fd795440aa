// SPDX-License-Identifier: GPL-2.0-or-later
//
// The loops and inlined functions of a function, below its call graph.

import { usePage } from "../context";
import { metricValue } from "../costs";
import { inSentence, metricText } from "../format";
import { PlaceLink } from "../parts";

const shownFrames = 60;

// The frames in the order of their nesting.
export function FramesOf({ fn }: { fn: number }) {
    const { report, state } = usePage();
    const metric = report.sizeMetricOf("frames", state.metric);
    const { frames } = report;
    if (!frames || !frames.of(fn).length) return null;
    const rows: { row: number; depth: number }[] = [];
    const waiting = [...frames.of(fn)].reverse().map((row) => ({ row, depth: 0 }));
    for (let next = waiting.pop(); next && rows.length < shownFrames; next = waiting.pop()) {
        rows.push(next);
        for (const row of [...frames.inside(next.row)].reverse()) waiting.push({ row, depth: next.depth + 1 });
    }
    return (
        <section class="card frames">
            <h2>Loops and inlined functions <small>{inSentence(metric.title)}</small></h2>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Loops and inlined functions">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">frame</th>
                            <th scope="col" class="n">incl</th>
                            <th scope="col" class="n">self</th>
                            <th scope="col">how often</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map(({ row, depth }) => {
                            const costs = report.costs("frames", row);
                            const [incl, own] = (["incl", "self"] as const).map((kind) =>
                                metricValue(metric, costs, kind));
                            return (
                                <tr key={row} data-frame={frames.name(row)}>
                                    <td>
                                        <span style={{ "--depth": depth }} class="indent inline" />
                                        {frames.name(row)}{" "}
                                        <PlaceLink
                                            fn={fn} file={frames.get("file", row)} line={frames.get("line", row)}
                                        />
                                    </td>
                                    <td class="n" data-exact={incl ?? ""}>{metricText(metric, incl!)}</td>
                                    <td class="n">{metricText(metric, own!)}</td>
                                    <td><small>{frames.told(row)}</small></td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
