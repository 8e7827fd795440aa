// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tip for the cell of the icicle under the mouse.

import { usePage } from "../context";
import { metricValue } from "../costs";
import type { Cell } from "../flame";
import { baseName, count, grouped, metricText, percent, signed } from "../format";
import type { Painting } from "./icicle_paint";

export function Tip({ cell, x, y, whole, painting }: {
    cell: Cell;
    x: number;
    y: number;
    whole: number; // the cost of the program
    painting: Painting;
}) {
    const { report } = usePage();
    const { metric, share, kind } = painting;
    const { group } = cell;
    const own = metricValue(metric, cell.costs, "self");
    const [file, line] = report.facts.places[group.place] ?? [-1, 0];
    const left = Math.min(x + 14, window.innerWidth - 330);
    return (
        <div
            class="tip"
            style={{ left: `${Math.max(left, 4)}px`, top: `${Math.min(y + 16, window.innerHeight - 170)}px` }}
        >
            <b>{report.label(cell.name)}</b>
            {typeof cell.name === "number" && <small>{report.where(cell.name)}</small>}
            {group.inner !== null && <small>{report.frames?.onPath(group.inner, group.hasOwn)}</small>}
            {group.isStart && <small>starts the program: a click shows its functions</small>}
            {group.place > 0 && line > 0 && (
                <small>called from {baseName(report.facts.files[file] ?? "")}:{line}</small>
            )}
            <dl class="facts">
                <dt>{metric.heading}</dt>
                <dd>{count(cell.after)} · {percent(whole ? cell.after / whole : 0)} of all</dd>
                {report.comparing && (
                    <>
                        <dt>before</dt>
                        <dd>
                            {count(cell.before)} ({signed(count(cell.after - cell.before), cell.after - cell.before)})
                        </dd>
                    </>
                )}
                {kind === "incl" && (group.inner === null || group.hasOwn) && (
                    <>
                        <dt>self</dt>
                        <dd>{metricText(metric, own)}</dd>
                    </>
                )}
                {share && (
                    <>
                        <dt>{share.heading}</dt>
                        <dd>{metricText(share, metricValue(share, cell.costs, kind))}</dd>
                    </>
                )}
                {!group.isStart && group.inner === null && group.at.length > 0 && (kind === "incl" || !cell.parent) && (
                    <><dt>calls</dt><dd>{grouped(group.calls())}</dd></>
                )}
            </dl>
        </div>
    );
}
