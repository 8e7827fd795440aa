// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rows of the three tables: contexts top-down, functions with their callers, and functions alone.

import { NestedCosts, RestCosts, SumCosts, change, metricValue, type Costs } from "./costs";
import { Calls } from "./calls";
import type { Arc, MetricColumn, Report } from "./report";
import type { Match } from "./find";
import { baseName } from "./format";
import { Items } from "./items";
import { scopeOf } from "./scope";
import type { Grouping, TableKind } from "./state";
import { Group, type ContextTree } from "./tree";

export interface Row {
    key: string;
    label: string;
    where: string;
    fn: number | null;
    node: number | null; // its context, if it is a single one, by its number in links
    nodes?: readonly number[]; // all contexts of a row of the tree, by their numbers in the shaped tree
    ofCycle?: readonly number[]; // the functions of a cycle
    inner?: number; // the row of a loop or inlined function in the table of frames
    calls: number | null;
    costs: Costs;
    hasChildren: boolean;
    children: () => Row[];
}

// Whether the functions that only start the program share one row: on paths of the tree, and among the top rows.
export interface Folding {
    start: boolean;
    startRows: boolean;
}

// How functions are grouped: by file, object file or class (flat table only), and whether cycles are joined.
export interface Arranged {
    grouping: Grouping;
    areCyclesJoined: boolean;
}

// tree: the shaped tree; null if the profile has none.
export function topRows(
    report: Report, tree: ContextTree | null, kind: TableKind, { grouping, areCyclesJoined }: Arranged, fold: Folding,
): Row[] {
    const folded = (rows: Row[]): Row[] => (fold.startRows ? aboveFolded(report, rows) : rows);
    if (areCyclesJoined && kind !== "top-down") return folded(itemRows(report, kind === "callers"));
    if (kind === "flat") return grouping === "none" ? folded(flatRows(report, grouping)) : flatRows(report, grouping);
    if (kind === "callers") {
        const functions = report.facts.functions.map((_, fn) => fn);
        const left = tree && tree !== report.tree ? functions.filter((fn) => tree.nodesOf(fn).length > 0) : functions;
        return folded(left.map((fn) => callersRow(report, tree, fn, fold.start)));
    }
    if (tree) {
        return Array.from(tree.roots, (node) => groupRow(report, Group.ofNode(tree, node, fold.start), ""));
    }
    return entryFunctions(report).map((fn) => calleesRow(report, fn));
}

function aboveFolded(report: Report, rows: Row[]): Row[] {
    const isAbove = (row: Row): boolean => row.fn !== null && report.above.has(row.fn);
    const members = rows.filter(isAbove);
    if (members.length < 2) return rows;
    const above: Row = {
        key: "above",
        label: `(above main: ${members.length} functions)`,
        where: "",
        fn: null,
        node: null,
        calls: null,
        costs: new NestedCosts(members.map((member) => member.costs)),
        hasChildren: true,
        children: () => members,
    };
    return [above, ...rows.filter((row) => !isAbove(row))];
}

// The keys of the rows that are open at first in the top-down table: from the roots, which alone say little, down to
// the program's own code.
export function openedFirst(report: Report, roots: Row[]): string[] {
    const found: string[] = [];
    const waiting = [...roots];
    for (let row = waiting.pop(); row && found.length < 50; row = waiting.pop()) {
        if (row.fn !== null && !report.above.has(row.fn) && !roots.includes(row)) continue;
        found.push(row.key);
        if (row.hasChildren) waiting.push(...row.children());
    }
    return found;
}

// Functions that are entered without a call.
function entryFunctions(report: Report): number[] {
    const arcs = report.arcs();
    if (!arcs) return [];
    const cycle = report.functions.column("cycle");
    const entered = report.table("cycles")?.column("calls");
    return report.facts.functions.flatMap((_, fn) => {
        if (arcs.callers[fn]!.some((arc) => !arc.recursive)) return [];
        return cycle[fn]! > 0 && entered?.[cycle[fn]! - 1]! > 0 ? [] : [fn];
    });
}

function functionRow(report: Report, fn: number, key: string): Row {
    return {
        key,
        label: report.name(fn),
        where: report.where(fn),
        fn,
        node: null,
        calls: report.calls(fn),
        costs: report.functionCosts(fn),
        hasChildren: false,
        children: () => [],
    };
}

function groupRow(report: Report, group: Group, above: string): Row {
    const name = group.name;
    const fn = typeof name === "number" ? name : null;
    const key = `${above}/${group.frame}.${group.place}.${group.at.length === 1 ? group.at[0] : ""}`;
    const [file, line] = report.facts.places[group.place] ?? [-1, 0];
    const from = group.place && line ? `from ${baseName(report.facts.files[file] ?? "")}:${line} ` : "";
    const { inner } = group;
    return {
        key,
        label: report.label(name),
        where: inner === null ? from + (fn === null ? "" : report.where(fn))
            : report.frames?.onPath(inner, group.hasOwn) ?? "",
        fn,
        ...(inner === null ? {} : { inner }),
        node: group.at.length === 1 ? group.tree.original(group.at[0]!) : null,
        nodes: group.at,
        calls: fn === null ? null : group.calls(),
        costs: group,
        hasChildren: group.hasChildren,
        children: () => group.children().map((child) => groupRow(report, child, key)),
    };
}

function callersRow(report: Report, tree: ContextTree | null, fn: number, fold: boolean): Row {
    const row = functionRow(report, fn, `c${fn}`);
    const isWhole = tree === report.tree;
    if (tree && isWhole && tree.otherFrame !== null) return exactCallersRow(report, tree, row, fn, fold);
    if (tree) {
        const group = (): Group => Group.callersOf(tree, fn, fold);
        const hasChildren = tree.nodesOf(fn).length > 0;
        const children = (): Row[] => group().children().map((child) => groupRow(report, child, row.key));
        // Hiding and merging changes the costs of a function.
        return isWhole ? { ...row, hasChildren, children }
            : { ...row, costs: group(), calls: group().calls(), hasChildren, children };
    }
    const arcs = report.arcs()?.callers[fn] ?? [];
    const children = (): Row[] => arcs.map((arc) => arcRow(report, arc, arc.caller, row.key));
    return { ...row, hasChildren: arcs.length > 0, children };
}

// If the tree had no room for all paths: the costs of calls are exact; of functions farther away, only what the tree
// has is shown.
function exactCallersRow(report: Report, tree: ContextTree, row: Row, fn: number, fold: boolean): Row {
    const arcs = report.arcs()?.callers[fn] ?? [];
    const children = (): Row[] => {
        const known = new Map(Group.callersOf(tree, fn, fold).children().map((group) => [group.name, group]));
        return arcs.map((arc): Row => {
            const caller = arcRow(report, arc, arc.caller, row.key);
            const group = known.get(arc.caller);
            const above = (): Row[] => (group?.children() ?? []).map((one) => groupRow(report, one, caller.key));
            const others = (): Row => {
                const parts = above();
                return {
                    key: `${caller.key}/other`, label: "(other paths)", where: "for which the tree has no room",
                    fn: null, node: null, calls: null, hasChildren: false, children: () => [],
                    costs: new RestCosts(caller.costs, parts.map(({ costs }) => costs)),
                };
            };
            return { ...caller, hasChildren: !arc.recursive, children: () => [...above(), others()] };
        });
    };
    return { ...row, hasChildren: arcs.length > 0, children };
}

function calleesRow(report: Report, fn: number): Row {
    const row = functionRow(report, fn, `t${fn}`);
    const arcs = report.arcs()?.callees[fn] ?? [];
    const children = (): Row[] => arcs.map((arc) => arcRow(report, arc, arc.callee, row.key));
    return { ...row, hasChildren: arcs.length > 0, children };
}

const nothing: Costs = { cost: () => null };

function arcRow(report: Report, arc: Arc, fn: number, above: string): Row {
    const table = report.table("arcs")!;
    return {
        key: `${above}/${arc.row}`,
        label: report.name(fn),
        where: report.where(fn),
        fn,
        node: null,
        calls: table.column("calls")[arc.row]!,
        costs: arc.recursive ? nothing : report.costs("arcs", arc.row),
        hasChildren: false,
        children: () => [],
    };
}

// A loop or inlined function, with the frames in it.
function frameRow(report: Report, frame: number): Row {
    const frames = report.frames!;
    const inside = frames.inside(frame);
    return {
        key: `l${frame}`, label: frames.name(frame), where: frames.told(frame), fn: null, node: null,
        calls: frames.get("entries", frame), costs: report.costs("frames", frame),
        hasChildren: inside.length > 0, children: () => inside.map((inner) => frameRow(report, inner)),
    };
}

function groupOf(report: Report, grouping: Exclude<Grouping, "none">, fn: number): string {
    if (grouping === "class") return scopeOf(report.fullName(fn));
    return grouping === "file" ? report.file(fn) : report.object(fn);
}

function flatRows(report: Report, grouping: Grouping): Row[] {
    const rows = report.facts.functions.map((_, fn): Row => {
        const row = functionRow(report, fn, `f${fn}`);
        const frames = report.frames?.of(fn) ?? [];
        if (!frames.length) return row;
        return { ...row, hasChildren: true, children: () => frames.map((frame) => frameRow(report, frame)) };
    });
    if (grouping === "none") return rows;
    const groups = new Map<string, Row[]>();
    for (const row of rows) {
        const name = groupOf(report, grouping, row.fn!);
        const known = groups.get(name);
        if (known) known.push(row);
        else groups.set(name, [row]);
    }
    return Array.from(groups, ([name, members]) => ({
        key: `g${name}`,
        label: name && name !== "???" ? name : grouping === "class" ? "(in no class or module)" : "(unknown)",
        where: `${members.length} functions`,
        fn: null,
        node: null,
        calls: null,
        costs: new SumCosts(members.map((member) => member.costs)),
        hasChildren: true,
        children: () => members,
    }));
}

// Functions and cycles; below them the functions of a cycle, or the callers, with the exact costs of calls.
function itemRows(report: Report, haveCallers: boolean): Row[] {
    const calls = Calls.of(report, report.defaultMetric, true);
    const items = calls?.items ?? new Items(report, true);
    const rows = (item: number): Row[] => {
        if (haveCallers) {
            return (calls?.of(item, "callers") ?? []).map((call): Row => ({
                ...itemRow(report, items, call.caller, `i${item}/${call.row}`), calls: call.calls,
                costs: call.costs ?? nothing,
            }));
        }
        return items.isCycle(item) ? items.members(item).map((fn) => functionRow(report, fn, `i${item}/${fn}`)) : [];
    };
    return items.all.map((item): Row => {
        const hasChildren = haveCallers ? (calls?.of(item, "callers") ?? []).length > 0 : items.isCycle(item);
        return { ...itemRow(report, items, item, `i${item}`), hasChildren, children: () => rows(item) };
    });
}

function itemRow(report: Report, items: Items, item: number, key: string): Row {
    if (!items.isCycle(item)) return functionRow(report, item, key);
    return {
        key, label: items.name(item), where: items.where(item), fn: null, ofCycle: items.members(item), node: null,
        calls: items.calls(item), costs: items.costs(item), hasChildren: false, children: () => [],
    };
}

export function rowMatches(report: Report, match: Match, row: Row): boolean {
    if (row.ofCycle?.some((fn) => report.matches(match, fn))) return true;
    return row.fn === null ? match(row.label) : report.matches(match, row.fn);
}

export function sortKey(row: Row, column: MetricColumn, comparing: boolean): number {
    const { metric, kind } = column;
    const value = comparing ? change(metric, row.costs, kind) : metricValue(metric, row.costs, kind);
    return value ?? -Infinity;
}

export function sorted(rows: Row[], column: MetricColumn, comparing: boolean, up: boolean): Row[] {
    const keyed = rows.map((row) => ({ row, key: sortKey(row, column, comparing) }));
    keyed.sort((one, other) =>
        (up ? one.key - other.key : other.key - one.key) || (one.row.label < other.row.label ? -1 : 1));
    return keyed.map(({ row }) => row);
}

export interface Shown {
    row: Row;
    depth: number;
    open: boolean;
}

// The rows that can be seen, given which are open.
export function visibleRows(rows: Row[], open: ReadonlySet<string>, order: (rows: Row[]) => Row[]): Shown[] {
    const found: Shown[] = [];
    const stack = order(rows).reverse().map((row) => ({ row, depth: 0 }));
    for (let next = stack.pop(); next; next = stack.pop()) {
        const { row, depth } = next;
        const isOpen = row.hasChildren && open.has(row.key);
        found.push({ row, depth, open: isOpen });
        if (isOpen) for (const child of order(row.children()).reverse()) stack.push({ row: child, depth: depth + 1 });
    }
    return found;
}

// Follows the costliest child as long as it has at least half of the cost, to where the path forks or ends.
export function hotPath(row: Row, column: MetricColumn, comparing: boolean): { open: string[]; end: Row } {
    const open: string[] = [];
    let at = row;
    while (at.hasChildren) {
        const here = Math.abs(sortKey(at, { ...column, kind: "incl" }, comparing));
        open.push(at.key);
        let best: Row | null = null;
        let most = -Infinity;
        for (const child of at.children()) {
            const key = sortKey(child, { ...column, kind: "incl" }, comparing);
            const value = key === -Infinity ? key : Math.abs(key);
            if (value > most) [best, most] = [child, value];
        }
        if (!best || most < here / 2 || most <= 0) break;
        at = best;
    }
    return { open, end: at };
}
