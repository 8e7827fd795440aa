// SPDX-License-Identifier: GPL-2.0-or-later
//
// A line of a source file with its costs.

import { css, shareColour, textOn } from "../colours";
import { usePage } from "../context";
import { halfWidth, metricValue } from "../costs";
import { exactText, metricText, percent, plusMinus } from "../format";
import { FunctionLink } from "../parts";
import type { FileCosts } from "./file_costs";

export const rowHeight = 20;

export function Line({ file, line, text, costs, most, total, row, chosen, found, pick }: {
    file: number;
    line: number;
    text: string;
    costs: FileCosts | undefined;
    most: number; // the cost of the costliest line of the program
    total: number;
    row: number;
    chosen: boolean;
    found: boolean;
    pick: () => void;
}) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const sum = costs?.lines.get(line);
    const calls = costs?.calls.get(line) ?? [];
    const frames = report.frames?.atLine(file, line) ?? [];
    const own = sum ? metricValue(metric, sum, "self") : null;
    const inCalls = calls.length
        ? calls.reduce((all, call) => all + (call.recursive ? 0 : (metricValue(metric, call.costs, "incl") ?? 0)), 0)
        : null;
    const width = sum ? halfWidth(metric, sum, "self") : undefined;
    const offBy = width == null ? "" : ` ± ${exactText(metric, width)}`;
    const heat = heatOf(own, most);
    const colour = shareColour(heat);
    return (
        <div
            class={`line${chosen ? " chosen" : ""}${found ? " found-line" : ""}`} data-line={line} onClick={pick}
            role="row" aria-rowindex={row} aria-selected={chosen}
        >
            <span class="number" role="rowheader">{line || "?"}</span>
            <span
                class="n heat" role="gridcell" data-heat={heat}
                style={heat ? { background: css(colour), color: textOn(colour) } : {}}
                data-exact={own ?? ""}
                title={own === null ? ""
                    : `${exactText(metric, own)}${offBy}, ${percent(total ? own / total : 0)} of all`}
            >
                {own === null ? "" : own === 0 ? "·" : metricText(metric, own)}
            </span>
            {report.isEstimate && <span class="n interval" role="gridcell">{plusMinus(own, width)}</span>}
            <span class="n in-calls" role="gridcell" title={inCalls === null ? "" : exactText(metric, inCalls)}>
                {inCalls ? metricText(metric, inCalls) : ""}
            </span>
            <span class="text" role="gridcell">
                {text}
                {frames.slice(0, 2).map((frame) => (
                    <span class="calls-to" key={`f${frame}`} data-frame={report.frames!.name(frame)}>
                        {report.frames!.kind(frame) === "inlined" ? `inlines ${report.frames!.name(frame)}`
                            : report.frames!.kind(frame)}, {report.frames!.told(frame).replace(/^inlined at .*?, /, "")}
                    </span>
                ))}
                {calls.slice(0, 3).map((call) => (
                    <span class="calls-to" key={call.callee}>
                        → <FunctionLink fn={call.callee} view="graph" />
                    </span>
                ))}
                {calls.length > 3 && <span class="calls-to">and {calls.length - 3} more</span>}
            </span>
        </div>
    );
}

// Heat relative to the costliest line of the program, so that small costs are pale in every file.
export const heatOf = (cost: number | null, most: number): number => (cost && most ? 0.02 + 0.98 * (cost / most) : 0);
