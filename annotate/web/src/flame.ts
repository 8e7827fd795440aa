// SPDX-License-Identifier: GPL-2.0-or-later
//
// The cells of the icicle: as wide as their cost, children below their parents. Only cells that are wide enough to be
// seen are made, so that a tree of a million nodes takes no more time than what is on the screen.

import { RestCosts, metricValue, type Costs, type Kind, type SideName } from "./costs";
import type { Metric } from "./data";
import type { Report } from "./report";
import { Group, type ContextTree } from "./tree";

const leastCell = 0.6; // pixels

export interface Widths {
    kind: Kind;
    after: Float64Array;
    before: Float64Array | null;
    change: Float64Array | null; // if two profiles are compared: the sum of all changes, without their signs
}

// The inclusive costs of all nodes, or for the bottom-up picture, their self costs.
export function widths(tree: ContextTree, metric: Metric, comparing: boolean, kind: Kind = "incl"): Widths {
    const column = (own: Float64Array): Float64Array => (kind === "self" ? own : tree.summedUp(own));
    const after = tree.selfSum(metric.numerator, "");
    if (!comparing) return { kind, after: column(after), before: null, change: null };
    const before = tree.selfSum(metric.numerator, "before:");
    // Changes of a node and of all nodes below it are added without their signs, so that children fit their parents.
    const changed = after.map((value, node) => Math.abs(value - before[node]!));
    return { kind, after: column(after), before: column(before), change: column(changed) };
}

export class Cell {
    readonly after: number;
    readonly before: number;
    readonly size: number; // the cost that its width shows
    readonly costs: Costs;
    private known: Cell[] | null = null;

    // exact: its costs and its children, if the tree has not all of them.
    constructor(
        readonly group: Group,
        private readonly values: Widths,
        readonly parent: Cell | null,
        private readonly exact: { costs: Costs; metric: Metric; children: (parent: Cell) => Cell[] } | null = null,
    ) {
        const value = (side: SideName, column: Float64Array | null): number => {
            if (!column) return 0;
            if (exact) return metricValue(exact.metric, exact.costs, "incl", side) ?? 0;
            return group.valueIn(column, values.kind);
        };
        this.after = value("", values.after);
        this.before = value("before:", values.before);
        this.costs = exact?.costs ?? group;
        if (!values.change) this.size = this.after;
        else this.size = exact ? Math.abs(this.after - this.before) : group.valueIn(values.change, values.kind);
    }

    get name(): number | string {
        return this.group.name;
    }

    children(): Cell[] {
        this.known ??= (this.exact?.children(this) ?? this.fromTree())
            .filter((cell) => cell.size > 0)
            .sort((one, other) => other.size - one.size);
        return this.known;
    }

    fromTree(): Cell[] {
        return this.group.children().map((group) => new Cell(group, this.values, this));
    }
}

// A function with its callees or callers, if the tree had no room for all paths: the costs of its calls are exact; of
// functions farther away, only what the tree has is shown.
export function exactCell(
    report: Report, fn: number, values: Widths, metric: Metric, up: boolean, fold: boolean,
): Cell {
    const tree = report.tree!;
    const group = up ? Group.callersOf(tree, fn, fold) : Group.calleesOf(tree, fn, fold);
    const arcs = (up ? report.arcs()?.callers[fn] : report.arcs()?.callees[fn]) ?? [];
    const rest = (whole: Costs, parts: readonly Cell[], parent: Cell): Cell =>
        new Cell(Group.other(tree), values, parent, {
            costs: new RestCosts(whole, parts.map(({ costs }) => costs)), metric, children: () => [],
        });
    const neighbours = (parent: Cell): Cell[] => {
        const known = new Map(group.children().map((one) => [one.name, one]));
        return arcs.filter((arc) => !arc.recursive).map((arc) => {
            const other = up ? arc.caller : arc.callee;
            const costs = report.costs("arcs", arc.row);
            const inTree = known.get(other) ?? Group.ofFunction(tree, other);
            return new Cell(inTree, values, parent, {
                costs, metric, children: (cell) => {
                    const parts = cell.fromTree();
                    return up ? [...parts, rest(costs, parts, cell)] : parts;
                },
            });
        });
    };
    const costs = report.functionCosts(fn);
    return new Cell(group, values, null, { costs, metric, children: neighbours });
}

export interface Rect {
    cell: Cell;
    x: number;
    width: number;
    depth: number;
}

// The visible part of the whole width, from 0 to 1.
export interface Window {
    from: number;
    to: number;
}

export const wholeWindow: Window = { from: 0, to: 1 };

// Zooms around a place of the window, given as a share of its width. A factor below 1 zooms in.
export function zoomed({ from, to }: Window, at: number, factor: number): Window {
    const size = Math.min(1, Math.max((to - from) * factor, 1e-7));
    return placed(from + at * (to - from) - at * size, size);
}

export const panned = ({ from, to }: Window, by: number): Window => placed(from + by * (to - from), to - from);

function placed(from: number, size: number): Window {
    const start = Math.min(Math.max(from, 0), 1 - size);
    return { from: start, to: start + size };
}

// The levels of cells from `top` downwards, each from left to right, in pixels. Cells narrower than `least` and cells
// outside of the window are left out; a cell that reaches into the window stays whole.
export function layout(top: readonly Cell[], width: number, least: number, window = wholeWindow): Rect[][] {
    const whole = top.reduce((total, cell) => total + cell.size, 0);
    if (!whole) return [];
    const all = width / (window.to - window.from);
    const isSeen = (x: number, mine: number): boolean => x < width && x + mine > 0;
    const levels: Rect[][] = [];
    let level: Rect[] = [];
    let x = 0 - window.from * all;
    for (const cell of top) {
        const mine = (cell.size / whole) * all;
        if (mine >= least && isSeen(x, mine)) level.push({ cell, x, width: mine, depth: 0 });
        x += mine;
    }
    while (level.length) {
        levels.push(level);
        const next: Rect[] = [];
        for (const rect of level) {
            let left = rect.x;
            const scale = rect.width / rect.cell.size;
            for (const child of rect.cell.children()) {
                const mine = child.size * scale;
                if (mine < least || left >= width) break; // they are sorted
                if (isSeen(left, mine)) next.push({ cell: child, x: left, width: mine, depth: rect.depth + 1 });
                left += mine;
            }
        }
        level = next;
    }
    return levels;
}

export function rectAt(levels: readonly Rect[][], depth: number, x: number): Rect | null {
    const level = levels[depth];
    if (!level) return null;
    let low = 0;
    let high = level.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (level[middle]!.x <= x) low = middle + 1;
        else high = middle;
    }
    const found = level[low - 1];
    return found && x < found.x + found.width ? found : null;
}

export interface Picture {
    above: Cell[]; // the path from the root to the first cell of the picture
    levels: Rect[][];
    upwards: Rect[][]; // callers, in a sandwich
}

export interface Looked {
    exact?: { report: Report; metric: Metric } | null; // if the tree had no room for all paths
    node: number | null;
    sandwich: number | null;
    upside: boolean; // bottom-up: functions by their self costs, with their callers below them
    fold: boolean; // the functions that only start the program share one row
}

// The cells that a picture begins with.
export interface Tops {
    above: Cell[]; // the path from the root to the first cell of the picture
    down: Cell[];
    up: Cell[]; // the other way: callers, in a sandwich
}

export function tops(tree: ContextTree, values: Widths, { exact, node, sandwich, upside, fold }: Looked): Tops {
    if (sandwich !== null) {
        const cell = (upwards: boolean): Cell => {
            if (exact) return exactCell(exact.report, sandwich, values, exact.metric, upwards, fold);
            const group = upwards ? Group.callersOf(tree, sandwich, fold) : Group.calleesOf(tree, sandwich, fold);
            return new Cell(group, values, null);
        };
        return { above: [], down: [cell(false)], up: [cell(true)] };
    }
    const widest = (groups: readonly Group[]): Cell[] =>
        groups.map((group) => new Cell(group, values, null)).filter(({ size }) => size > 0)
            .sort((one, other) => other.size - one.size);
    if (upside) {
        const frames = tree.frames.map((_, frame) => frame).filter((frame) => tree.nodesOfFrame(frame).length);
        return { above: [], down: widest(frames.map((frame) => Group.callersOfFrame(tree, frame, fold))), up: [] };
    }
    const start = node !== null && node < tree.size ? node : null;
    if (start === null) {
        return { above: [], down: widest(Array.from(tree.roots, (root) => Group.ofNode(tree, root, fold))), up: [] };
    }
    const above = tree.path(start).slice(0, -1).flatMap((at): Group[] => {
        if (!fold || tree.isStart(start) || !tree.isStart(at)) return [Group.ofNode(tree, at, fold)];
        return tree.outermostStart(at) === at ? [Group.start(tree, [at])] : [];
    });
    return {
        above: above.map((group) => new Cell(group, values, null)),
        down: [new Cell(Group.ofNode(tree, start, fold), values, null)], up: [],
    };
}

export function picture({ above, down, up }: Tops, width: number, window = wholeWindow): Picture {
    return {
        above, levels: layout(down, width, leastCell, window),
        upwards: up.length ? layout(up, width, leastCell, window).slice(1) : [],
    };
}
