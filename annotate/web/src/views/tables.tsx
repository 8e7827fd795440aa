// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tables top-down, callers and flat: the same columns and costs, arranged in three ways.

import { useEffect, useMemo, useState } from "preact/hooks";
import { usePage } from "../context";
import { halfWidth, metricValue } from "../costs";
import { SearchBox, useMatch, type Match } from "../find";
import { inSentence, percent } from "../format";
import { AboveButton, CyclesButton, Empty, FullTree, Unread, foldsStart } from "../parts";
import { Paths } from "../paths";
import { Popup } from "../popup";
import { columnName, type MetricColumn } from "../report";
import { hotPath, openedFirst, rowMatches, sorted, topRows, visibleRows, type Row, type Shown } from "../rows";
import { copy, csv, save } from "../save";
import { useTree } from "../shaped";
import { groupings, tableKinds, tableTitles, type Grouping } from "../state";
import { textOf } from "../whole";
import { ColumnPicker } from "./columns";
import { PathButtons, PathChanges } from "./paths";
import { TableOfRows } from "./table_rows";

const mostSaved = 100_000; // rows

const explained = {
    "top-down": "Each path of calls from the program's start, with what happened on it.",
    callers: "Each function; below it who called it, and what these calls cost.",
    flat: "Each function once; with --structure=yes, its loops and inlined functions in it.",
} as const;

const explainedJoined = {
    callers: "Each function, and each cycle of functions as one; below it who called it, one level, exactly.",
    flat: "Each function that is in no cycle once, and each cycle as one, with its functions in it.",
} as const;

const groupingTitles = { none: "function", file: "file", object: "object", class: "class or module" } as const;

export function Tables() {
    const { report, state, go, memory } = usePage();
    const columns = report.columnsOf(state.cols, state.table !== "flat");
    const by = columns.find((column) => columnName(column) === state.sort) ?? columns[0]!;
    const ready = report.isReady(state);
    const start = foldsStart(report, state);
    const match = useMatch();
    const tree = useTree();
    const canJoin = state.table === "callers" || (state.table === "flat" && state.group === "none");
    const areCyclesJoined = state.cycles && canJoin && report.facts.cycles.length > 0;
    const hasPaths = tree !== null && state.table !== "flat" && !areCyclesJoined;
    const arranged = { grouping: state.group, areCyclesJoined };
    const all = useMemo(
        () => (ready ? topRows(report, tree, state.table, arranged, { start, startRows: start && !state.q }) : []),
        [ready, tree, state.table, state.group, areCyclesJoined, start, !state.q],
    );
    const order = (rows: Row[]): Row[] => sorted(rows, by, report.comparing, state.up);
    const paths = useMemo(
        () => (match && ready && tree && state.table === "top-down" ? new Paths(report, tree, match) : null),
        [match, ready, tree, state.table],
    );
    // The open rows are remembered for each content of the table, so that "back" shows them again.
    const shape = [state.collapse, state.loops, areCyclesJoined, state.hide.join(), state.merge.join(),
        state.whole.map(textOf).join()];
    const key = [state.table, state.group, start, state.q, state.re, all.length, ...shape].join(" ");
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
        // A filter keeps the rows that match; in the tree, also the paths to them and all rows below them.
        const wanted = (row: Row): boolean =>
            !match || rowMatches(report, match, row) || (row.fn === null && row.hasChildren && !row.ofCycle)
                || state.table === "top-down";
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
        () => (match ? shown.flatMap(({ row }, index) => (rowMatches(report, match, row) ? [index] : [])) : []),
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
                            {tableTitles[kind]}
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
                                    {groupingTitles[grouping]}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
                <button
                    type="button" onClick={followHotPath}
                    title="Open the costliest callee repeatedly, while it has most of the cost (h)"
                >
                    Hot path
                </button>
                {hasPaths && <PathButtons />}
                <AboveButton />
                {canJoin && <CyclesButton />}
                <ColumnPicker columns={columns} />
                <SaveTable shown={shown} columns={columns} name={state.table} />
                <SearchBox
                    placeholder="Filter functions"
                    found={{ count: found.length, at: found.indexOf(at), choose: (number) => choose(found[number]!) }}
                />
            </div>
            <p class="note">
                {areCyclesJoined ? explainedJoined[state.table as "flat" | "callers"] : explained[state.table]}
                {state.table !== "flat" && !report.facts.tree &&
                    " One level of calls is exact in this profile; whole paths need a run with --context-tree=yes."}
                {columns.length < report.columns(state.cols).length
                    && " The cost of misses is known for functions and their calls, not for paths: see Flat."}
            </p>
            <div class="crumbs">
                {hasPaths && <PathChanges />}
                {match && ready && <Matched match={match} by={by} />}
            </div>
            {ready && hasPaths && <FullTree metric={report.sizeMetricOf("tree", by.metric.name)} />}
            {!ready ? <Unread what="the calls" /> : shown.length === 0 ? <Empty>No function matches.</Empty> : (
                <div class={`grid${report.isEstimate ? " estimates" : ""}`} onKeyDown={onKeyDown}>
                    <TableOfRows
                        shown={shown} cursor={at} columns={columns} by={by} choose={choose} toggle={toggle}
                        match={match}
                    />
                </div>
            )}
        </div>
    );
}

function parentOf(shown: Shown[], at: number): number {
    for (let row = at - 1; row >= 0; --row) if (shown[row]!.depth < shown[at]!.depth) return row;
    return at;
}

// The share of the program that is the self cost of the matching functions.
function Matched({ match, by }: { match: Match; by: MetricColumn }) {
    const { report } = usePage();
    const metric = report.sizeMetric(by.metric.name);
    const share = useMemo(() => {
        const total = metricValue(metric, report.totals, "self") ?? 0;
        let found = 0;
        for (let fn = 0; fn < report.functions.rows; ++fn) {
            if (report.matches(match, fn)) found += metricValue(metric, report.functionCosts(fn), "self") ?? 0;
        }
        return total ? found / total : 0;
    }, [match, metric]);
    return (
        <span class="tag" data-matched={share}>
            {percent(share)} of {inSentence(metric.title)} in the functions that match, themselves
        </span>
    );
}

function SaveTable({ shown, columns, name }: { shown: Shown[]; columns: MetricColumn[]; name: string }) {
    const { report } = usePage();
    const sides = report.comparing ? (["", "before:"] as const) : ([""] as const);
    const isEstimate = ({ metric }: MetricColumn): boolean => report.isEstimate && !metric.denominator;
    const text = (): string => csv([
        ["depth", "function", "where", ...columns.flatMap((column) =>
            [...sides.map((side) => `${side}${columnName(column)}`),
                ...(isEstimate(column) ? [`${columnName(column)} interval`] : [])]), "calls"],
        ...shown.slice(0, mostSaved).map(({ row, depth }) => [
            depth, row.fn === null ? row.label : report.fullName(row.fn), row.where,
            ...columns.flatMap((column) => {
                const { metric, kind } = column;
                const values = sides.map((side) => metricValue(metric, row.costs, kind, side));
                return isEstimate(column) ? [...values, halfWidth(metric, row.costs, kind) ?? null] : values;
            }),
            row.calls,
        ]),
    ]);
    return (
        <Popup title="Save">
            <p>
                <button type="button" onClick={() => save(`${name}.csv`, "text/csv", text())}>Rows as CSV</button>{" "}
                <button type="button" onClick={() => void copy(text())}>Copy as CSV</button>
            </p>
            <p class="note">The rows that are shown, with {report.isEstimate ? "all digits" : "exact numbers"}.</p>
        </Popup>
    );
}
