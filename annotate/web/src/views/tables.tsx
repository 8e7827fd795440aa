// SPDX-License-Identifier: GPL-2.0-or-later
//
// Top-down, callers and flat: the same columns over three ways to order the same costs.

import { useEffect, useMemo, useState } from "preact/hooks";
import { usePage } from "../context";
import { metricValue } from "../costs";
import { count, percent } from "../format";
import { AboveButton, Empty, LongList, SearchBox, Unread, Value, foldsStart, matcher } from "../parts";
import { columnName, type MetricColumn, type Report } from "../report";
import { hotPath, openedFirst, sorted, topRows, visibleRows, type Row, type Shown } from "../rows";
import { groupings, tableKinds, type Grouping } from "../state";

const rowHeight = 26;
const titles = { "top-down": "Top-down", callers: "Callers", flat: "Flat" } as const;
const explained = {
    "top-down": "Each path of calls from the program's start, with what happened on it.",
    callers: "Each function; below it who called it, and what these calls cost.",
    flat: "Each function once.",
} as const;

export function Tables() {
    const { report, state, go } = usePage();
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const [cursor, setCursor] = useState(0);
    const columns = report.columns(state.cols);
    const by = columns.find((column) => columnName(column) === state.sort) ?? columns[0]!;
    const ready = report.isReady(state);
    const start = foldsStart(report, state);
    const all = useMemo(
        () => (ready ? topRows(report, state.table, state.group, { start, startRows: start && !state.q }) : []),
        [ready, state.table, state.group, start, !state.q],
    );
    const match = matcher(state.q);
    const order = (rows: Row[]): Row[] => sorted(rows, by, report.comparing, state.up);
    const shown = useMemo(() => {
        // A filter leaves those that match; in the tree also the paths to them, as far as they are open.
        const wanted = (row: Row): boolean =>
            !match || matches(report, match, row) || (row.fn === null && row.hasChildren) || state.table === "top-down";
        return visibleRows(all.filter(wanted), open, order);
    }, [all, open, state.q, columnName(by), state.up]);
    const at = Math.min(cursor, Math.max(0, shown.length - 1));

    useEffect(() => {
        if (state.table === "top-down" && all.length) setOpen(new Set(openedFirst(report, all)));
        setCursor(0);
    }, [all]);
    useEffect(() => {
        const found = shown.findIndex(({ row }) => row.fn !== null && row.fn === state.fn);
        if (found >= 0 && shown[at]?.row.fn !== state.fn) setCursor(found);
    }, [state.fn, all]);

    const toggle = (row: Row, wanted: boolean): void => {
        const next = new Set(open);
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
        const nextOpen = new Set([...open, ...path.open]);
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
                <SearchBox placeholder="Filter functions" />
            </div>
            <p class="note">
                {explained[state.table]}
                {state.table !== "flat" && !report.facts.tree &&
                    " One level of calls is exact in this profile; whole paths need a run with --context-tree=yes."}
            </p>
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

function matches(report: Report, match: (name: string) => boolean, row: Row): boolean {
    return row.fn === null ? match(row.label) : report.matches(match, row.fn);
}

function parentOf(shown: Shown[], at: number): number {
    for (let row = at - 1; row >= 0; --row) if (shown[row]!.depth < shown[at]!.depth) return row;
    return at;
}

const titleOf = ({ metric, kind }: MetricColumn): string =>
    `${metric.title}, ${kind === "incl" ? "inclusive" : "self"}`;

function TableOfRows({ shown, cursor, columns, by, choose, toggle, match }: {
    shown: Shown[];
    cursor: number;
    columns: MetricColumn[];
    by: MetricColumn;
    choose: (row: number) => void;
    toggle: (row: Row, wanted: boolean) => void;
    match: ((name: string) => boolean) | null;
}) {
    const { report, state, go, link } = usePage();
    return (
        <>
            <LongList
                className="rows"
                label={`${titles[state.table]} table: arrow keys move and open, Enter shows the call graph`}
                rows={shown.length + 1}
                height={rowHeight}
                focusRow={cursor + 1}
                render={(index) => {
                    if (index === 0) {
                        return (
                            <div class="row head" key="head">
                                <span class="cell name">function</span>
                                {columns.map((column) => (
                                    <button
                                        type="button" key={columnName(column)} class="cell n"
                                        title={titleOf(column)}
                                        aria-label={`Sort by ${titleOf(column)}`}
                                        onClick={() => go({ sort: columnName(column), up: column === by && !state.up })}
                                    >
                                        {column === by ? (state.up ? "▲ " : "▼ ") : ""}
                                        {column.metric.heading} <small>{column.kind}</small>
                                    </button>
                                ))}
                                <span class="cell calls n">calls</span>
                            </div>
                        );
                    }
                    const { row, depth, open } = shown[index - 1]!;
                    return (
                        <div
                            key={row.key}
                            class={`row${index - 1 === cursor ? " cursor" : ""}${
                                row.fn !== null && row.fn === state.fn ? " chosen" : ""}`}
                            data-function={row.fn === null ? row.label : report.fullName(row.fn)}
                            onClick={() => choose(index - 1)}
                        >
                            <span class="cell name">
                                <span style={{ "--depth": Math.min(depth, 40) }} class="indent" />
                                {row.hasChildren ? (
                                    <button
                                        type="button" class="twist" tabIndex={-1}
                                        aria-label={open ? `Close ${row.label}` : `Open ${row.label}`}
                                        onClick={(event) => { event.stopPropagation(); toggle(row, !open); }}
                                    >
                                        {open ? "▾" : "▸"}
                                    </button>
                                ) : <span class="twist" />}
                                {row.fn === null ? <b>{row.label}</b> : (
                                    <a
                                        class={`fn${match && matches(report, match, row) ? " match" : ""}`}
                                        title={report.fullName(row.fn)} tabIndex={-1}
                                        href={row.node !== null
                                            ? link({ view: "icicle", node: row.node, fn: row.fn, focus: false })
                                            : link({ view: "graph", fn: row.fn })}
                                    >
                                        {row.label}
                                    </a>
                                )}
                                <small>{row.where}</small>
                            </span>
                            {columns.map((column) => (
                                <span class="cell n" key={columnName(column)}>
                                    <Value column={column} costs={row.costs} />
                                    <TotalShare column={column} row={row} />
                                </span>
                            ))}
                            <span class="cell calls n">{row.calls === null ? "" : count(row.calls)}</span>
                        </div>
                    );
                }}
            />
            <p class="note">
                {shown.length.toLocaleString("en")} rows · arrow keys move and open, h follows the hot path, Enter shows
                the call graph
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

function ColumnPicker({ columns }: { columns: MetricColumn[] }) {
    const { report, go } = usePage();
    const chosen = new Set(columns.map(columnName));
    const toggle = (name: string): void => {
        const next = chosen.has(name) ? [...chosen].filter((known) => known !== name) : [...chosen, name];
        if (next.length) go({ cols: next.join(",") });
    };
    return (
        <details class="columns">
            <summary>Columns</summary>
            <div class="popup">
                <table>
                    <thead>
                        <tr><th scope="col">self</th><th scope="col">incl</th><th scope="col">what</th></tr>
                    </thead>
                    <tbody>
                        {report.facts.metrics.map((metric) => (
                            <tr key={metric.name}>
                                {(["self", "incl"] as const).map((kind) => (
                                    <td key={kind}>
                                        <input
                                            type="checkbox" aria-label={`${metric.title}, ${kind}`}
                                            checked={chosen.has(`${metric.name}:${kind}`)}
                                            onChange={() => toggle(`${metric.name}:${kind}`)}
                                        />
                                    </td>
                                ))}
                                <td>{metric.title} <small>{metric.name}</small></td>
                            </tr>
                        ))}
                    </tbody>
                </table>
                <button type="button" onClick={() => go({ cols: "" })}>As at first</button>
            </div>
        </details>
    );
}
