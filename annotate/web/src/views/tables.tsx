// SPDX-License-Identifier: GPL-2.0-or-later
//
// Top-down, callers and flat: the same columns over three ways to order the same costs.

import { useEffect, useMemo, useState } from "preact/hooks";
import { usePage } from "../context";
import { metricValue } from "../costs";
import { SearchBox, useMatch, type Match } from "../find";
import { count, metricText, percent, times } from "../format";
import { LongList } from "../list";
import { AboveButton, Empty, FullTree, Shortened, Unread, Value, foldsStart } from "../parts";
import { Paths } from "../paths";
import { columnName, type MetricColumn, type Report } from "../report";
import { hotPath, openedFirst, sorted, topRows, visibleRows, type Row, type Shown } from "../rows";
import { groupings, tableKinds, type Grouping } from "../state";
import { ColumnPicker, Heads } from "./columns";

const rowHeight = 26;
const titles = { "top-down": "Top-down", callers: "Callers", flat: "Flat" } as const;
const explained = {
    "top-down": "Each path of calls from the program's start, with what happened on it.",
    callers: "Each function; below it who called it, and what these calls cost.",
    flat: "Each function once; with --structure=yes, its loops and inlined functions in it.",
} as const;

export function Tables() {
    const { report, state, go, memory } = usePage();
    const columns = report.columns(state.cols);
    const by = columns.find((column) => columnName(column) === state.sort) ?? columns[0]!;
    const ready = report.isReady(state);
    const start = foldsStart(report, state);
    const match = useMatch();
    const all = useMemo(
        () => (ready ? topRows(report, state.table, state.group, { start, startRows: start && !state.q }) : []),
        [ready, state.table, state.group, start, !state.q],
    );
    const order = (rows: Row[]): Row[] => sorted(rows, by, report.comparing, state.up);
    const paths = useMemo(
        () => (match && ready && report.tree && state.table === "top-down" ? new Paths(report, match) : null),
        [match, ready, state.table],
    );
    // What is open is remembered by what is shown, so that going back finds it again.
    const key = [state.table, state.group, start, state.q, state.re, all.length].join(" ");
    const open = useMemo((): ReadonlySet<string> => {
        const known = memory.open.get(key);
        if (known) return known;
        if (paths) return new Set(paths.opened(all, order));
        return new Set(state.table === "top-down" ? openedFirst(report, all) : []);
    }, [key, all, paths]);
    const [, setChanges] = useState(0);
    const setOpen = (next: ReadonlySet<string>): void => {
        memory.open.set(key, next);
        setChanges((count) => count + 1);
    };
    const nowOpen = memory.open.get(key) ?? open;
    const [cursor, setCursor] = useState(0);
    const shown = useMemo(() => {
        // A filter leaves those that match; in the tree also the paths to them, and what is below them.
        const wanted = (row: Row): boolean =>
            !match || matches(report, match, row) || (row.fn === null && row.hasChildren) || state.table === "top-down";
        const filtered = (rows: Row[]): Row[] => order(paths ? rows.filter((row) => paths.wants(row)) : rows);
        return visibleRows(all.filter(wanted), nowOpen, filtered);
    }, [all, nowOpen, match, paths, columnName(by), state.up]);
    const at = Math.min(cursor, Math.max(0, shown.length - 1));

    useEffect(() => setCursor(0), [all, match]);
    useEffect(() => {
        const found = shown.findIndex(({ row }) => row.fn !== null && row.fn === state.fn);
        if (found >= 0 && shown[at]?.row.fn !== state.fn) setCursor(found);
    }, [state.fn, all]);
    const found = useMemo(
        () => (match ? shown.flatMap(({ row }, index) => (matches(report, match, row) ? [index] : [])) : []),
        [shown, match],
    );

    const toggle = (row: Row, wanted: boolean): void => {
        const next = new Set(nowOpen);
        if (wanted) next.add(row.key);
        else next.delete(row.key);
        setOpen(next);
    };
    const choose = (index: number): void => {
        setCursor(index);
        const row = shown[index]?.row;
        if (row?.fn !== null && row?.fn !== undefined) go({ fn: row.fn }, true);
    };
    const followHotPath = (): void => {
        const start = shown[at]?.row ?? all[0];
        if (!start) return;
        const path = hotPath(start, by, report.comparing);
        const nextOpen = new Set([...nowOpen, ...path.open]);
        setOpen(nextOpen);
        setCursor(visibleRows(all, nextOpen, order).findIndex(({ row }) => row.key === path.end.key));
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const current = shown[at];
        if (!current) return;
        const steps: Record<string, () => void> = {
            ArrowDown: () => choose(Math.min(at + 1, shown.length - 1)),
            ArrowUp: () => choose(Math.max(at - 1, 0)),
            PageDown: () => choose(Math.min(at + 20, shown.length - 1)),
            PageUp: () => choose(Math.max(at - 20, 0)),
            Home: () => choose(0),
            End: () => choose(shown.length - 1),
            ArrowRight: () => toggle(current.row, true),
            ArrowLeft: () => (current.open ? toggle(current.row, false) : choose(parentOf(shown, at))),
            Enter: () => current.row.fn !== null && go({ view: "graph", fn: current.row.fn }),
            h: followHotPath,
        };
        const step = steps[event.key];
        if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        step();
    };

    return (
        <div class="tables">
            <div class="bar">
                <div class="segments" role="group" aria-label="Table">
                    {tableKinds.map((kind) => (
                        <button
                            type="button" aria-pressed={state.table === kind} onClick={() => go({ table: kind })}
                            key={kind}
                        >
                            {titles[kind]}
                        </button>
                    ))}
                </div>
                {state.table === "flat" && (
                    <label class="picker">
                        <span>by</span>
                        <select
                            value={state.group}
                            onChange={(event) => go({ group: (event.target as HTMLSelectElement).value as Grouping })}
                        >
                            {groupings.map((grouping) => (
                                <option key={grouping} value={grouping}>
                                    {grouping === "none" ? "function" : grouping}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
                <button
                    type="button" onClick={followHotPath}
                    title="Open the costliest callee again and again, while it has most of the cost (h)"
                >
                    Hot path
                </button>
                <AboveButton />
                <ColumnPicker columns={columns} />
                <SearchBox
                    placeholder="Filter functions"
                    found={{ count: found.length, at: found.indexOf(at), choose: (number) => choose(found[number]!) }}
                />
            </div>
            <p class="note">
                {explained[state.table]}
                {state.table !== "flat" && !report.facts.tree &&
                    " One level of calls is exact in this profile; whole paths need a run with --context-tree=yes."}
            </p>
            {ready && state.table !== "flat" && <FullTree metric={report.sizeMetric(by.metric.name)} />}
            {!ready ? <Unread what="the calls" /> : shown.length === 0 ? <Empty>No function matches.</Empty> : (
                <div class="grid" onKeyDown={onKeyDown}>
                    <TableOfRows
                        shown={shown} cursor={at} columns={columns} by={by} choose={choose} toggle={toggle}
                        match={match}
                    />
                </div>
            )}
        </div>
    );
}

function matches(report: Report, match: Match, row: Row): boolean {
    return row.fn === null ? match(row.label) : report.matches(match, row.fn);
}

function parentOf(shown: Shown[], at: number): number {
    for (let row = at - 1; row >= 0; --row) if (shown[row]!.depth < shown[at]!.depth) return row;
    return at;
}

function TableOfRows({ shown, cursor, columns, by, choose, toggle, match }: {
    shown: Shown[];
    cursor: number;
    columns: MetricColumn[];
    by: MetricColumn;
    choose: (row: number) => void;
    toggle: (row: Row, wanted: boolean) => void;
    match: Match | null;
}) {
    const { report, state, link, memory } = usePage();
    const [, setWidths] = useState(0);
    const width = (column: MetricColumn): Record<string, string> => {
        const known = memory.widths.get(columnName(column));
        return known ? { width: `${known}px` } : {};
    };
    const chosen = shown[cursor]?.row;
    const spoken = chosen ? `${chosen.label}: ${by.metric.heading} `
        + metricText(by.metric, metricValue(by.metric, chosen.costs, by.kind)) : "";
    return (
        <>
            <LongList
                className="rows" role="treegrid" active={`row${cursor}`}
                label={`${titles[state.table]} table: arrow keys move and open, Enter shows the call graph`}
                rows={shown.length}
                height={rowHeight}
                focusRow={cursor}
                head={<Heads columns={columns} by={by} changed={() => setWidths((count) => count + 1)} />}
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
                                {row.fn === null ? <b><Shortened text={row.label} /></b> : (
                                    <a
                                        class={`fn${match && matches(report, match, row) ? " match" : ""}`}
                                        title={report.fullName(row.fn)} tabIndex={-1}
                                        href={row.node !== null
                                            ? link({ view: "icicle", node: row.node, fn: row.fn, focus: false })
                                            : link({ view: "graph", fn: row.fn })}
                                    >
                                        <Shortened text={row.label} />
                                    </a>
                                )}
                                <small>{row.where}</small>
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
            <p class="spoken" aria-live="polite">{spoken}</p>
            <p class="note">
                {times(shown.length, "row")} · arrow keys move and open, h follows the hot path, Enter shows the call
                graph
            </p>
        </>
    );
}

function TotalShare({ column, row }: { column: MetricColumn; row: Row }) {
    const { report } = usePage();
    if (column.metric.denominator || report.comparing) return null;
    const total = metricValue(column.metric, report.totals, column.kind);
    const value = metricValue(column.metric, row.costs, column.kind);
    return <small class="of-total">{total && value !== null ? percent(value / total) : ""}</small>;
}
