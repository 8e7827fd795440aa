// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the icicle draws: cells, as wide as their cost, children below their parents. Only cells that are wide enough
// to be seen are ever made, so that a million nodes cost no more than what is on the screen.

import type { Metric } from "./data";
import { Group, type ContextTree } from "./tree";

export interface Widths {
    after: Float64Array;
    before: Float64Array | null;
}

// Inclusive costs of all nodes, without what is hidden.
export function widths(tree: ContextTree, metric: Metric, comparing: boolean, hidden: ReadonlySet<number>): Widths {
    const column = (side: "" | "before:"): Float64Array =>
        tree.summedUp(tree.selfSum(metric.numerator, side), hidden.size ? hidden : null);
    return { after: column(""), before: comparing ? column("before:") : null };
}

export class Cell {
    readonly after: number;
    readonly before: number;
    private known: Cell[] | null = null;

    constructor(
        readonly group: Group,
        private readonly values: Widths,
        readonly parent: Cell | null,
    ) {
        this.after = group.valueIn(values.after, "incl");
        this.before = values.before ? group.valueIn(values.before, "incl") : 0;
    }

    // Where two profiles are compared, both together: nothing that was or is disappears, and children fit their parent.
    get size(): number {
        return this.after + this.before;
    }

    get name(): number | string {
        return this.group.name;
    }

    children(): Cell[] {
        this.known ??= this.group
            .children()
            .map((group) => new Cell(group, this.values, this))
            .filter((cell) => cell.size > 0)
            .sort((one, other) => other.size - one.size);
        return this.known;
    }
}

export interface Rect {
    cell: Cell;
    x: number;
    width: number;
    depth: number;
}

// Levels of cells below `top`, each from left to right. Narrower than `least` is not worth a pixel.
export function layout(top: readonly Cell[], width: number, least: number): Rect[][] {
    const whole = top.reduce((total, cell) => total + cell.size, 0);
    if (!whole) return [];
    const levels: Rect[][] = [];
    let level: Rect[] = [];
    let x = 0;
    for (const cell of top) {
        const mine = (cell.size / whole) * width;
        if (mine >= least) level.push({ cell, x, width: mine, depth: 0 });
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
                if (mine < least) break; // they are sorted
                next.push({ cell: child, x: left, width: mine, depth: rect.depth + 1 });
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
    above: Cell[]; // from the root to what the picture begins with
    levels: Rect[][];
    upwards: Rect[][]; // callers, in a sandwich
}

export function picture(tree: ContextTree, values: Widths, options: {
    node: number | null;
    sandwich: number | null;
    width: number;
    fold: boolean; // what only starts the program is one row
}): Picture {
    const { node, sandwich, width, fold } = options;
    if (sandwich !== null) {
        const down = new Cell(Group.calleesOf(tree, sandwich, fold), values, null);
        const up = new Cell(Group.callersOf(tree, sandwich, fold), values, null);
        return { above: [], levels: layout([down], width, 0.6), upwards: layout([up], width, 0.6).slice(1) };
    }
    const start = node !== null && node < tree.size ? node : null;
    if (start === null) {
        const roots = Array.from(tree.roots, (root) => new Cell(Group.ofNode(tree, root, fold), values, null));
        roots.sort((one, other) => other.size - one.size);
        return { above: [], levels: layout(roots, width, 0.6), upwards: [] };
    }
    const above = tree.path(start).slice(0, -1).flatMap((at): Group[] => {
        if (!fold || tree.isStart(start) || !tree.isStart(at)) return [Group.ofNode(tree, at, fold)];
        return tree.outermostStart(at) === at ? [Group.start(tree, [at])] : [];
    });
    return {
        above: above.map((group) => new Cell(group, values, null)),
        levels: layout([new Cell(Group.ofNode(tree, start, fold), values, null)], width, 0.6),
        upwards: [],
    };
}
