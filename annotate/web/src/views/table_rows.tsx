// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rows of a table, and their menu.

import { useState } from "preact/hooks";
import { usePage } from "../context";
import { metricValue } from "../costs";
import type { Match } from "../find";
import { count, metricText, percent, times } from "../format";
import { LongList } from "../list";
import { Menu, type Chosen } from "../menu";
import { Shortened, Value } from "../parts";
import { columnName, type MetricColumn } from "../report";
import { rowMatches, type Row, type Shown } from "../rows";
import { tableTitles, type TableKind } from "../state";
import { readWidths } from "../widths";
import { Heads } from "./columns";

const rowHeight = 26;

export function TableOfRows({ shown, cursor, columns, by, choose, toggle, match }: {
    shown: Shown[];
    cursor: number;
    columns: MetricColumn[];
    by: MetricColumn;
    choose: (row: number) => void;
    toggle: (row: Row, wanted: boolean) => void;
    match: Match | null;
}) {
    const [menu, setMenu] = useState<Chosen | null>(null);
    const { report, state, link } = usePage();
    const kind = state.table;
    const [widths, setWidths] = useState(readWidths);
    const width = (column: MetricColumn): Record<string, string> => {
        const known = widths[columnName(column)];
        return known ? { width: `${known}px` } : {};
    };
    const chosen = shown[cursor]?.row;
    const openMenu = (event: MouseEvent, index: number): void => {
        event.preventDefault();
        choose(index);
        const { row } = shown[index]!;
        setMenu({ x: event.clientX, y: event.clientY, fn: row.fn, node: row.node, stack: stackOf(shown, index, kind) });
    };
    const spoken = chosen ? `${chosen.label}: ${by.metric.heading} `
        + metricText(by.metric, metricValue(by.metric, chosen.costs, by.kind)) : "";
    return (
        <>
            <LongList
                className="rows" role="treegrid" active={`row${cursor}`}
                label={`${tableTitles[state.table]} table: arrow keys move and open, Enter shows the call graph`}
                rows={shown.length}
                height={rowHeight}
                focusRow={cursor}
                head={<Heads columns={columns} by={by} widths={widths} setWidths={setWidths} />}
                render={(index) => {
                    const { row, depth, open } = shown[index]!;
                    return (
                        <div
                            key={row.key} id={`row${index}`} role="row" aria-rowindex={index + 2}
                            aria-level={depth + 1} aria-selected={index === cursor}
                            aria-expanded={row.hasChildren ? open : undefined}
                            class={`row${index === cursor ? " cursor" : ""}${
                                row.fn !== null && row.fn === state.fn ? " chosen" : ""}`}
                            data-function={row.fn === null ? row.label : report.fullName(row.fn)}
                            onClick={() => choose(index)}
                            onContextMenu={(event) => openMenu(event, index)}
                        >
                            <span class="cell name" role="rowheader">
                                <span style={{ "--depth": Math.min(depth, 40) }} class="indent" />
                                {row.hasChildren ? (
                                    <button
                                        type="button" class={`twist glyph ${open ? "opened" : "closed"}`} tabIndex={-1}
                                        aria-label={open ? `Close ${row.label}` : `Open ${row.label}`}
                                        onClick={(event) => { event.stopPropagation(); toggle(row, !open); }}
                                    />
                                ) : <span class="twist" />}
                                {row.inner !== undefined ? <InnerLink row={row.inner} label={row.label} />
                                    : row.fn === null ? <b><Shortened text={row.label} /></b> : (
                                    <a
                                        class={`fn${match && rowMatches(report, match, row) ? " match" : ""}`}
                                        title={report.fullName(row.fn)} tabIndex={-1}
                                        href={row.node !== null
                                            ? link({ view: "icicle", node: row.node, fn: row.fn, focus: false })
                                            : link({ view: "graph", fn: row.fn })}
                                    >
                                        <Shortened text={row.label} />
                                    </a>
                                )}
                                <small title={row.inner === undefined ? undefined : row.where}>{row.where}</small>
                            </span>
                            {columns.map((column) => (
                                <span class="cell n" role="gridcell" key={columnName(column)} style={width(column)}>
                                    <Value column={column} costs={row.costs} />
                                    <TotalShare column={column} row={row} />
                                </span>
                            ))}
                            <span class="cell calls n" role="gridcell">
                                {row.calls === null ? "" : count(row.calls)}
                            </span>
                        </div>
                    );
                }}
            />
            {menu && <Menu chosen={menu} close={() => setMenu(null)} />}
            <p class="spoken" aria-live="polite">{spoken}</p>
            <p class="note">
                {times(shown.length, "row")} · arrow keys move and open, h follows the hot path, Enter shows the call
                graph, the right button has more; ? tells of all keys
            </p>
        </>
    );
}

// A loop or inlined function on a path, with a link to its line.
function InnerLink({ row, label }: { row: number; label: string }) {
    const { report, link } = usePage();
    const frames = report.frames!;
    return (
        <a
            class="inner" tabIndex={-1} href={link({
                view: "source", fn: frames.get("function", row), file: frames.get("file", row),
                line: frames.get("line", row),
            })}
        >
            <Shortened text={label} />
        </a>
    );
}

function TotalShare({ column, row }: { column: MetricColumn; row: Row }) {
    const { report } = usePage();
    if (column.metric.denominator || report.comparing) return null;
    const total = metricValue(column.metric, report.totals, column.kind);
    const value = metricValue(column.metric, row.costs, column.kind);
    return <small class="of-total">{total && value !== null ? percent(value / total) : ""}</small>;
}

// The names on the path to a row, the outermost first; in a table of callers, the path is reversed.
function stackOf(shown: Shown[], index: number, kind: TableKind): string[] {
    const found: string[] = [];
    for (let at = index, depth = Infinity; at >= 0 && depth > 0; --at) {
        const one = shown[at]!;
        if (one.depth >= depth) continue;
        found.push(one.row.label);
        ({ depth } = one);
    }
    return kind === "callers" ? found : found.reverse();
}
