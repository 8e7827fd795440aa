// SPDX-License-Identifier: GPL-2.0-or-later
//
// The context tree in another shape: without some functions and all that they call, with others merged into their
// callers, and with recursion collapsed. Costs are summed; what is shown of them is the same as of the tree itself.

import { Table, type Column, type ColumnName } from "./data";
import { ContextTree } from "./tree";

export interface Shape {
    hide: readonly number[]; // functions that are left out, with all that they call
    merge: readonly number[]; // functions whose own cost is their callers'
    collapse: boolean; // a function that is on the path already is that one
}

const gone = -1;

export class ShapedTree extends ContextTree {
    private constructor(
        from: ContextTree, table: Table, private readonly targets: Int32Array, private readonly origins: Uint32Array,
    ) {
        super(from.facts, table);
    }

    // The same tree, if nothing is to be changed.
    static of(from: ContextTree, shape: Shape): ContextTree {
        if (!shape.hide.length && !shape.merge.length && !shape.collapse) return from;
        const { facts, size } = from;
        const [hidden, merged] = [shape.hide, shape.merge].map((functions) => {
            const chosen = new Set(functions);
            return facts.frames.map((frame) => typeof frame === "number" && chosen.has(frame));
        });
        const targets = new Int32Array(size).fill(gone);
        const origins: number[] = [];
        const parents: number[] = []; // as in the table: 0 is none
        const frames: number[] = [];
        const placesOf: number[] = [];
        const known = new Map<number, number>();
        // As long as the keys are exact numbers.
        const places = size * facts.frames.length * facts.places.length < Number.MAX_SAFE_INTEGER
            ? Math.max(1, facts.places.length) : 1;
        for (let node = 0; node < size; ++node) {
            const frame = from.frame[node]!;
            const above = from.above(node);
            const under = above === null ? null : targets[above]!;
            if (under === gone || hidden![frame]) continue;
            if (under !== null && merged![frame]) {
                targets[node] = under;
                continue;
            }
            const outer = shape.collapse ? onPath(frame, under) : null;
            if (outer !== null) {
                targets[node] = outer;
                continue;
            }
            // What is called from several places stays apart.
            const parent = under === null ? 0 : under + 1;
            const key = (parent * facts.frames.length + frame) * places + (places > 1 ? from.place[node]! : 0);
            const same = known.get(key);
            if (same !== undefined) {
                targets[node] = same;
                continue;
            }
            targets[node] = origins.length;
            known.set(key, origins.length);
            origins.push(node);
            parents.push(parent);
            frames.push(frame);
            placesOf.push(from.place[node]!);
        }
        const table = new SummedTable(from, targets, origins.length, {
            parent: Uint32Array.from(parents), frame: Uint32Array.from(frames), place: Uint32Array.from(placesOf),
        });
        return new ShapedTree(from, table, targets, Uint32Array.from(origins));

        // The nearest node from there upwards that has this frame.
        function onPath(frame: number, from: number | null): number | null {
            for (let at = from; at !== null; at = parents[at]! ? parents[at]! - 1 : null) {
                if (frames[at] === frame) return at;
            }
            return null;
        }
    }

    override original(node: number): number {
        return this.origins[node]!;
    }

    override shaped(node: number): number | null {
        const found = this.targets[node] ?? gone;
        return found === gone ? null : found;
    }
}

// Each column is summed when it is first asked for.
class SummedTable extends Table<"tree"> {
    constructor(
        private readonly from: ContextTree, private readonly targets: Int32Array, rows: number,
        structure: Record<string, Column>,
    ) {
        super(rows, new Map(Object.entries(structure)));
    }

    override column(name: ColumnName<"tree">): Column {
        const known = this.columns.get(name);
        if (known) return known;
        const from = this.from.column(name);
        const total = new Float64Array(this.rows);
        this.targets.forEach((target, node) => { if (target !== gone) total[target]! += from[node]!; });
        this.columns.set(name, total);
        return total;
    }
}
