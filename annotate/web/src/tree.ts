// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calling context tree. A parent has a smaller number than its children, so that one pass from the last node to the
// first computes inclusive costs. Nodes are grouped when a view needs it, for example all callees or callers of a
// function. Functions that only start the program, between a root and main, can form one group.

import type { Column, ColumnName, Facts, Table } from "./data";
import type { Costs, Kind, SideName } from "./costs";

const startFrame = -1;
const unknownFrame = -2; // of a function that is on no path of the tree

export class ContextTree {
    readonly size: number;
    readonly parent: Column; // the number of the parent, from 1; 0 for none
    readonly frame: Column;
    readonly place: Column;
    private readonly first: Uint32Array; // children of node n: child[first[n]] to child[first[n + 1]]
    private readonly child: Uint32Array;
    private readonly inclusive = new Map<string, Float64Array>();
    private nodesByFrame: Uint32Array[] | null = null;
    private framesByFunction: Map<number, number[]> | null = null;
    private outermostNodes: Uint8Array | null = null;
    private startNodes: Uint8Array | null = null;

    // frames: the names of nodes; those after the frames of the facts are loops and inlined functions.
    constructor(
        readonly facts: Facts,
        private readonly table: Table<"tree">,
        readonly frames: Facts["frames"] = facts.frames,
    ) {
        this.size = table.rows;
        this.parent = table.column("parent");
        this.frame = table.column("frame");
        this.place = table.column("place");
        this.first = new Uint32Array(this.size + 2);
        this.child = new Uint32Array(this.size);
        const { parent, first, child } = this;
        for (let node = 0; node < this.size; ++node) ++first[parent[node]! + 1]!;
        for (let at = 1; at < first.length; ++at) first[at]! += first[at - 1]!;
        const next = first.slice();
        for (let node = 0; node < this.size; ++node) child[next[parent[node]!]!++] = node;
    }

    get roots(): Uint32Array {
        return this.child.subarray(0, this.first[1]!);
    }

    children(node: number): Uint32Array {
        return this.child.subarray(this.first[node + 1]!, this.first[node + 2]!);
    }

    // The number of a node in links. Back: shaped(); null if this shape of the tree does not have the node.
    original(node: number): number {
        return node;
    }

    shaped(node: number): number | null {
        return this.size ? node % this.size : null;
    }

    // The row of a loop or inlined function, by its frame; null for a function or a root.
    innerFrame(frame: number): number | null {
        const row = frame - this.facts.frames.length;
        return row < 0 ? null : row;
    }

    // Whether the node of a loop or inlined function has its self costs, and not only its calls.
    hasOwn(_node: number): boolean {
        return true;
    }

    // For each node, the row of the loop or inlined function that calls it, from 1; 0 for none. null: unknown, or not
    // unpacked yet.
    get within(): Column | null {
        return this.table.columns.get("within") ?? null;
    }

    column(name: ColumnName<"tree">): Column {
        return this.table.column(name);
    }

    // The parent; null for a root.
    above(node: number): number | null {
        const parent = this.parent[node]!;
        return parent ? parent - 1 : null;
    }

    path(node: number): number[] {
        const found = [node];
        for (let at = this.above(node); at !== null; at = this.above(at)) found.push(at);
        return found.reverse();
    }

    functionOf(node: number): number | null {
        const frame = this.frames[this.frame[node]!];
        return typeof frame === "number" ? frame : null;
    }

    selfColumn(event: number, side: SideName): Column {
        return this.table.column(`${side}self:${this.facts.events[event]}`);
    }

    calls(node: number, side: SideName = ""): number {
        return this.table.column(`${side}calls`)[node]!;
    }

    inclusiveColumn(event: number, side: SideName): Float64Array {
        const key = `${side}${event}`;
        const known = this.inclusive.get(key);
        if (known) return known;
        const total = this.summedUp(this.selfColumn(event, side));
        this.inclusive.set(key, total);
        return total;
    }

    // The sum over each node and all nodes below it.
    summedUp(own: Column | Float64Array): Float64Array {
        const total = Float64Array.from(own);
        const { parent } = this;
        for (let node = this.size - 1; node >= 0; --node) {
            const above = parent[node]!;
            if (above) total[above - 1]! += total[node]!;
        }
        return total;
    }

    // The weighted sum of events for each node.
    selfSum(weights: readonly number[], side: SideName): Float64Array {
        const total = new Float64Array(this.size);
        weights.forEach((weight, event) => {
            if (!weight) return;
            const column = this.selfColumn(event, side);
            for (let node = 0; node < this.size; ++node) total[node]! += weight * column[node]!;
        });
        return total;
    }

    nodesOf(functionNumber: number): Uint32Array {
        if (!this.framesByFunction) {
            this.framesByFunction = new Map();
            this.frames.forEach((frame, number) => {
                if (typeof frame !== "number") return;
                this.framesByFunction!.set(frame, [...(this.framesByFunction!.get(frame) ?? []), number]);
            });
        }
        const frames = this.framesByFunction.get(functionNumber) ?? [];
        if (frames.length === 1) return this.nodesOfFrame(frames[0]!);
        return Uint32Array.from(frames.flatMap((frame) => Array.from(this.nodesOfFrame(frame)))).sort();
    }

    nodesOfFrame(frame: number): Uint32Array {
        if (!this.nodesByFrame) {
            const counts = new Uint32Array(this.frames.length);
            for (let node = 0; node < this.size; ++node) ++counts[this.frame[node]!]!;
            const found = Array.from(counts, (count) => new Uint32Array(count));
            counts.fill(0);
            for (let node = 0; node < this.size; ++node) {
                const at = this.frame[node]!;
                found[at]![counts[at]!++] = node;
            }
            this.nodesByFrame = found;
        }
        return this.nodesByFrame[frame] ?? new Uint32Array(0);
    }

    get otherFrame(): number | null {
        return this.facts.tree?.other ?? null;
    }

    // The cost of the paths that the tree had no room for.
    otherCost(own: Column | Float64Array): number {
        const { otherFrame } = this;
        let total = 0;
        if (otherFrame === null) return total;
        for (let node = 0; node < this.size; ++node) if (this.frame[node] === otherFrame) total += own[node]!;
        return total;
    }

    // Whether a node only starts the program, as do all nodes between it and its root, and is one of several such
    // nodes.
    isStart(node: number): boolean {
        if (!this.startNodes) {
            this.startNodes = new Uint8Array(this.size);
            const above = new Set(this.facts.above);
            const starts = (nodes: Uint32Array): Uint32Array =>
                nodes.filter((node) => above.has(this.functionOf(node) ?? -1));
            for (const root of this.roots) {
                for (const first of starts(this.children(root))) {
                    const found = [first];
                    for (let next = 0; next < found.length; ++next) found.push(...starts(this.children(found[next]!)));
                    if (found.length > 1) for (const node of found) this.startNodes[node] = 1;
                }
            }
        }
        return this.startNodes[node] === 1;
    }

    // For a node that only starts the program, the outermost such node on its path.
    outermostStart(node: number): number {
        let at = node;
        for (let above = this.above(at); above !== null && this.isStart(above); above = this.above(above)) at = above;
        return at;
    }

    // Whether no other node on its path has its frame: only such nodes count in the inclusive cost of a function.
    isOutermost(node: number): boolean {
        if (this.facts.tree?.folded) return true;
        const known = (this.outermostNodes ??= new Uint8Array(this.size));
        if (!known[node]) {
            let above = this.above(node);
            while (above !== null && this.frame[above] !== this.frame[node]) above = this.above(above);
            known[node] = above === null ? 1 : 2;
        }
        return known[node] === 1;
    }
}


// A group of nodes of the tree under one name, with the groups below it; upwards, those of its callers.
export class Group implements Costs {
    private known: Group[] | null = null;

    private constructor(
        readonly tree: ContextTree,
        readonly frame: number,
        readonly place: number, // 0 if there are several, or if it does not matter
        readonly at: readonly number[], // its nodes
        private readonly origin: readonly number[], // the nodes whose costs it shows; upwards, those of its callee
        private readonly upwards: boolean,
        private readonly fold: boolean, // functions that only start the program form one group
        private readonly fn: number | null = null, // its function, if it may have no node
    ) {}

    static ofNode(tree: ContextTree, node: number, fold: boolean): Group {
        return Group.of(tree, [node], tree.place[node]!, false, fold);
    }

    static calleesOf(tree: ContextTree, functionNumber: number, fold: boolean): Group {
        // Nodes below another node of the function are part of that one.
        const nodes = Array.from(tree.nodesOf(functionNumber)).filter((node) => tree.isOutermost(node));
        return Group.of(tree, nodes, 0, false, fold, functionNumber);
    }

    static callersOf(tree: ContextTree, functionNumber: number, fold: boolean): Group {
        return Group.of(tree, Array.from(tree.nodesOf(functionNumber)), 0, true, fold, functionNumber);
    }

    // Like callersOf(), but also for roots and for paths that the tree had no room for.
    static callersOfFrame(tree: ContextTree, frame: number, fold: boolean): Group {
        return Group.of(tree, Array.from(tree.nodesOfFrame(frame)), 0, true, fold);
    }

    // A group with nodes that only start the program does not fold them.
    private static of(
        tree: ContextTree, nodes: readonly number[], place: number, upwards: boolean, fold: boolean,
        fn: number | null = null,
    ): Group {
        const isStart = nodes.some((node) => tree.isStart(node));
        const frame = nodes.length ? tree.frame[nodes[0]!]! : unknownFrame;
        return new Group(tree, frame, place, nodes, nodes, upwards, fold && !isStart, fn);
    }

    // A function that is on no path of the tree.
    static ofFunction(tree: ContextTree, functionNumber: number): Group {
        return new Group(tree, unknownFrame, 0, [], [], false, false, functionNumber);
    }

    // The paths that the tree had no room for.
    static other(tree: ContextTree): Group {
        return new Group(tree, tree.otherFrame ?? 0, 0, [], [], false, false);
    }

    // All nodes that only start the program, from these on downwards.
    static start(tree: ContextTree, outermost: readonly number[]): Group {
        const nodes = [...outermost];
        for (let next = 0; next < nodes.length; ++next) {
            for (const child of tree.children(nodes[next]!)) if (tree.isStart(child)) nodes.push(child);
        }
        return new Group(tree, startFrame, 0, nodes, nodes, false, true);
    }

    get isStart(): boolean {
        return this.frame === startFrame;
    }

    get name(): number | string {
        return this.isStart ? "(above main)" : this.fn ?? this.tree.frames[this.frame]!;
    }

    // The row of its loop or inlined function; null for functions and roots.
    get inner(): number | null {
        return this.tree.innerFrame(this.frame);
    }

    // Whether a group of a loop or inlined function includes its self costs.
    get hasOwn(): boolean {
        return this.origin.every((node) => this.tree.hasOwn(node));
    }

    calls(side: SideName = ""): number {
        return this.origin.reduce((total, node) => total + this.tree.calls(node, side), 0);
    }

    cost(kind: Kind, event: number, side: SideName): number {
        const column = kind === "self" ? this.tree.selfColumn(event, side) : this.tree.inclusiveColumn(event, side);
        return this.valueIn(column, kind);
    }

    // The value of the group in a column with a value for each node.
    valueIn(column: Column | Float64Array, kind: Kind): number {
        let total = 0;
        for (const node of this.origin) if (kind === "self" || this.hasAllBelow(node)) total += column[node]!;
        return total;
    }

    // Whether the inclusive costs of no other node of the group include those of this one.
    private hasAllBelow(node: number): boolean {
        if (this.upwards) return this.tree.isOutermost(node);
        return !this.isStart || this.tree.outermostStart(node) === node;
    }

    children(): Group[] {
        this.known ??= this.upwards ? this.callers() : this.callees();
        return this.known;
    }

    get hasChildren(): boolean {
        if (this.upwards) return this.at.some((node) => this.tree.above(node) !== null);
        return this.at.some((node) => this.tree.children(node).length > 0);
    }

    private callees(): Group[] {
        const found = new Map<string | number, number[]>();
        const start: number[] = [];
        for (const node of this.at) {
            for (const child of this.tree.children(node)) {
                if (this.fold && this.tree.isStart(child)) {
                    if (!this.isStart) start.push(child);
                    continue;
                }
                const key = this.at.length === 1 ? child : this.tree.frame[child]!;
                const known = found.get(key);
                if (known) known.push(child);
                else found.set(key, [child]);
            }
        }
        const groups = Array.from(found.values(), (nodes) => {
            const place = nodes.length === 1 ? this.tree.place[nodes[0]!]! : 0;
            return new Group(this.tree, this.tree.frame[nodes[0]!]!, place, nodes, nodes, false, this.fold);
        });
        return start.length ? [Group.start(this.tree, start), ...groups] : groups;
    }

    private callers(): Group[] {
        const found = new Map<number, { at: number[]; origin: number[] }>();
        this.at.forEach((node, index) => {
            const caller = this.tree.above(node);
            if (caller === null) return;
            const folded = this.fold && this.tree.isStart(caller);
            const above = folded ? this.tree.outermostStart(caller) : caller;
            const frame = folded ? startFrame : this.tree.frame[caller]!;
            let known = found.get(frame);
            if (!known) found.set(frame, (known = { at: [], origin: [] }));
            known.at.push(above);
            known.origin.push(this.origin[index]!);
        });
        return Array.from(
            found,
            ([frame, { at, origin }]) => new Group(this.tree, frame, 0, at, origin, true, this.fold),
        );
    }
}
