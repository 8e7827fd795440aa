// SPDX-License-Identifier: GPL-2.0-or-later
//
// The instructions of a line's function.

import { useMemo } from "preact/hooks";
import { css, shareColour, textOn } from "../colours";
import { usePage } from "../context";
import { metricValue } from "../costs";
import { exactText, metricText } from "../format";
import { LongList } from "../list";
import { heatOf, rowHeight } from "./source_line";

// The instructions of the chosen line's function, or of the chosen function.
export function Instructions({ file, line, most: mostOfLines }: {
    file: number;
    line: number | null;
    most: number; // the cost of the costliest line of the program
}) {
    const { report, state, go } = usePage();
    const metric = report.sizeMetricOf("code", state.metric);
    const code = report.table("code")!;
    // If instructions lack the events of the chosen metric, they show another one, with a scale of its own.
    const most = useMemo(() => {
        if (metric === report.sizeMetric(state.metric)) return mostOfLines;
        let found = 0;
        for (let row = 0; row < code.rows; ++row) {
            found = Math.max(found, metricValue(metric, report.costs("code", row), "self") ?? 0);
        }
        return found;
    }, [metric, mostOfLines]);
    const rows = useMemo(() => {
        const [functions, files, lines] = (["function", "file", "line"] as const).map((name) => code.column(name));
        let fn = state.fn;
        const inLine: number[] = [];
        for (let row = 0; row < code.rows; ++row) {
            if (files![row] === file && lines![row] === line) inLine.push(functions![row]!);
        }
        if (inLine.length && !inLine.includes(fn ?? -1)) fn = inLine[0]!;
        const found: number[] = [];
        for (let row = 0; row < code.rows; ++row) if (functions![row] === fn) found.push(row);
        return found;
    }, [state.fn, file, line]);
    const chosen = (row: number): boolean => code.column("line")[row] === line && code.column("file")[row] === file;
    const first = rows.findIndex(chosen);
    if (!rows.length) return <p class="note code-note">Choose a line with costs to see its instructions.</p>;
    return (
        <LongList
            className="code assembly"
            label={`Instructions of ${report.name(code.column("function")[rows[0]!]!)}`}
            rows={rows.length}
            height={rowHeight}
            focusRow={first < 0 ? null : first}
            head={
                <div class="line head" role="row" aria-rowindex={1}>
                    <span class="n" role="columnheader">{metric.heading}</span>
                    <span class="address" role="columnheader">address</span>
                    <span class="text" role="columnheader">{report.name(code.column("function")[rows[0]!]!)}</span>
                </div>
            }
            render={(index) => {
                const row = rows[index]!;
                const value = metricValue(metric, report.costs("code", row), "self") ?? 0;
                const colour = shareColour(heatOf(value, most));
                return (
                    <div class={`line${chosen(row) ? " chosen" : ""}`} key={row} role="row" aria-rowindex={index + 2}
                        onClick={() => go({ file: code.column("file")[row]!, line: code.column("line")[row]! }, true)}>
                        <span
                            class="n heat" role="gridcell"
                            style={value ? { background: css(colour), color: textOn(colour) } : {}}
                            title={exactText(metric, value)}
                        >
                            {value ? metricText(metric, value) : "·"}
                        </span>
                        <span class="address" role="gridcell">{code.column("address")[row]!.toString(16)}</span>
                        <span class="text" role="gridcell">
                            {report.facts.codeTexts[code.column("text")[row]!] || `line ${code.column("line")[row]}`}
                        </span>
                    </div>
                );
            }}
        />
    );
}
