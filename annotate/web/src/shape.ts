// SPDX-License-Identifier: GPL-2.0-or-later
//
// The context tree in another shape: functions hidden with all that they call, merged into their callers, or joined in
// one frame; recursion collapsed; and calls placed in the loops and inlined functions that make them. The costs of
// nodes that become one are added up, so that views treat the result like any other tree.

import { Table, type Column, type ColumnName } from "./data";
import { ContextTree } from "./tree";

export interface Shape {
    hide: readonly number[]; // functions that are left out, with all that they call
    merge: readonly number[]; // functions whose self costs go to their callers
    collapse: boolean; // recursive calls go to the node of the function that is on the path already
    join?: readonly Joined[]; // groups of functions that share one frame
}

export interface Joined {
    name: string;
    functions: readonly number[];
}

// Loops and inlined functions, by their rows in the table of frames.
export interface Inner {
    names: readonly string[];
    parents: Column; // the row of the frame around it, from 1; 0 if it is directly in its function
    functions: Column;
    // Their self costs, by the name of a column of the tree; null: they are unknown for a range of profiles.
    own: ((name: string) => Column | undefined) | null;
}

const gone = -1;

export class ShapedTree extends ContextTree {
    private constructor(
        from: ContextTree, private readonly summed: SummedTable, frames: ContextTree["frames"],
        private readonly targets: Int32Array, private readonly origins: Float64Array,
        private readonly loops: number,
    ) {
        super(from.facts, summed, frames);
    }

    // Returns the same tree if there is nothing to change. ofLoops: frames to place between functions and calls.
    static of(from: ContextTree, shape: Shape, ofLoops: Inner | null = null): ContextTree {
        const { within } = from;
        const loops = ofLoops && within ? ofLoops : null;
        const join = shape.join ?? [];
        if (!shape.hide.length && !shape.merge.length && !shape.collapse && !join.length && !loops) return from;
        const { facts, size } = from;
        const [hidden, merged] = [shape.hide, shape.merge].map((functions) => {
            const chosen = new Set(functions);
            return facts.frames.map((frame) => typeof frame === "number" && chosen.has(frame));
        });
        const inner = facts.frames.length + (loops?.names.length ?? 0);
        const allFrames = loops || join.length
            ? [...facts.frames, ...loops?.names ?? [], ...join.map(({ name }) => name)] : facts.frames;
        const joined = joinedFrames(facts.frames, join, inner);
        const chains = loops ? chainsOf(loops.parents) : [];
        const targets = new Int32Array(size).fill(gone);
        const isWithin = new Uint8Array(size); // whether it becomes part of another node, but its calls do not
        const origins: number[] = [];
        const parents: number[] = []; // numbered from 1, as in the table; 0 for none
        const frames: number[] = [];
        const placesOf: number[] = [];
        const known = new Map<number, number>();
        // Without these, no two paths become one, and only loops have to be looked up.
        const canMeet = shape.merge.length > 0 || join.length > 0 || shape.collapse;
        // Keys include the place of a call as long as they stay exact numbers.
        const most = chains.reduce((all, chain) => Math.max(all, chain.length), 0);
        const places = size * (1 + most) * allFrames.length * facts.places.length < Number.MAX_SAFE_INTEGER
            ? Math.max(1, facts.places.length) : 1;

        // The node with this frame and place below another one, made if it does not exist yet.
        function made(under: number | null, frame: number, place: number, origin: number): number {
            const parent = under === null ? 0 : under + 1;
            const key = (parent * allFrames.length + frame) * places + (places > 1 ? place : 0);
            if (canMeet || frame >= facts.frames.length) {
                const same = known.get(key);
                if (same !== undefined) return same;
                known.set(key, origins.length);
            }
            origins.push(origin);
            parents.push(parent);
            frames.push(frame);
            placesOf.push(place);
            return origins.length - 1;
        }

        // The node of a frame, by its row, below the node of its function; all frames around it are made as well.
        function inside(under: number | null, row: number, node: number): number | null {
            const chain = chains[row] ?? [];
            return chain.reduce<number | null>(
                (at, one, index) => made(at, facts.frames.length + one, 0, node + size * (chain.length - index)), under,
            );
        }

        for (let node = 0; node < size; ++node) {
            const frame = joined[from.frame[node]!]!;
            const above = from.above(node);
            const around = above === null ? null : targets[above]!;
            if (around === gone || hidden![frame]) continue;
            const isPart = frame >= inner && around !== null && frames[around] === frame;
            const outer = isPart ? around : shape.collapse && !merged![frame] ? onPath(frame, around) : null;
            if (outer !== null) {
                targets[node] = outer;
                isWithin[node] = isPart ? 1 : 0;
                continue;
            }
            // Functions that are merged or joined lose their loops.
            const caller = above === null ? 0 : from.frame[above]!;
            const isCalledInside = loops && within && within[node] && !merged![caller] && joined[caller] === caller;
            const under = isCalledInside ? inside(around, within[node]! - 1, node) : around;
            // Calls from several places stay separate nodes.
            isWithin[node] = under !== null && merged![frame] ? 1 : 0;
            targets[node] = isWithin[node] ? under! : made(under, frame, from.place[node]!, node);
        }
        const alone = loops?.own ? soleNodes(from, loops, targets, frames) : [];
        const ownRows = alone.map(({ node, target, rows }) => ({
            node: target, rows, inside: rows.map((row) => inside(target, row, node)!),
        }));
        const table = new SummedTable(from, targets, isWithin, origins.length, {
            parent: Uint32Array.from(parents), frame: Uint32Array.from(frames), place: Uint32Array.from(placesOf),
        }, loops?.own ?? null, ownRows);
        return new ShapedTree(from, table, allFrames, targets, Float64Array.from(origins), inner - facts.frames.length);

        // The nearest node with this frame, from one node upwards.
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
        const size = this.targets.length;
        const found = this.targets[node % size] ?? gone;
        if (found === gone) return null;
        // A merged function belongs to the innermost loop that calls it, so that one step less leads up.
        let at = found;
        let steps = Math.floor(node / size) - (this.isInner(found) ? 1 : 0);
        for (let above = this.above(at); steps > 0 && above !== null && this.isInner(above); --steps) {
            at = above;
            above = this.above(at);
        }
        return at;
    }

    override innerFrame(frame: number): number | null {
        const row = super.innerFrame(frame);
        return row === null || row >= this.loops ? null : row;
    }

    override hasOwn(node: number): boolean {
        return !this.isInner(node) || this.summed.withOwn.has(node);
    }

    private isInner(node: number): boolean {
        return this.innerFrame(this.frame[node]!) !== null;
    }
}

// For each frame itself or, if it is joined, the frame of its group. behind: the first frame of a group.
function joinedFrames(frames: ContextTree["frames"], join: readonly Joined[], behind: number): Uint32Array {
    const of = new Map(join.flatMap(({ functions }, at) => functions.map((fn): [number, number] => [fn, behind + at])));
    return Uint32Array.from(frames, (frame, at) => (typeof frame === "number" ? of.get(frame) ?? at : at));
}

// For each row, the rows around it, the outermost first, and itself.
function chainsOf(parents: Column): number[][] {
    const found: number[][] = [];
    parents.forEach((parent: number, row: number) => found.push([...(parent ? found[parent - 1]! : []), row]));
    return found;
}

interface OwnRows {
    node: number; // of the function
    rows: readonly number[];
    inside: readonly number[]; // the nodes of these rows
}

// The functions with a single path: the self costs of their loops belong to it.
function soleNodes(
    from: ContextTree, { functions }: Inner, targets: Int32Array, frames: readonly number[],
): { node: number; target: number; rows: number[] }[] {
    const byFunction = new Map<number, number[]>();
    functions.forEach((fn: number, row: number) => {
        const known = byFunction.get(fn);
        if (known) known.push(row);
        else byFunction.set(fn, [row]);
    });
    return Array.from(byFunction).flatMap(([fn, rows]) => {
        const nodes = from.nodesOf(fn);
        const [node, target] = [nodes[0]!, targets[nodes[0]!] ?? gone];
        return nodes.length === 1 && target !== gone && frames[target] === from.frame[node]
            ? [{ node, target, rows }] : [];
    });
}

// Adds up each column when it is first read.
class SummedTable extends Table<"tree"> {
    readonly withOwn: ReadonlySet<number>; // the nodes of loops that have the self costs of these

    constructor(
        private readonly from: ContextTree, private readonly targets: Int32Array,
        private readonly isWithin: Uint8Array, rows: number, structure: Record<string, Column>,
        private readonly own: Inner["own"], private readonly ownRows: OwnRows[],
    ) {
        super(rows, new Map(Object.entries(structure)));
        this.withOwn = new Set(ownRows.flatMap(({ inside }) => inside));
    }

    override column(name: ColumnName<"tree">): Column {
        const known = this.columns.get(name);
        if (known) return known;
        const from = this.from.column(name);
        const total = new Float64Array(this.rows);
        const areCalls = name === "calls" || name === "before:calls";
        this.targets.forEach((target, node) => {
            if (target !== gone && !(areCalls && this.isWithin[node])) total[target]! += from[node]!;
        });
        const own = this.own?.(name);
        if (own) {
            for (const { node, rows, inside } of this.ownRows) {
                rows.forEach((row, at) => {
                    total[inside[at]!]! += own[row]!;
                    total[node]! -= own[row]!;
                });
            }
        }
        this.columns.set(name, total);
        return total;
    }
}
