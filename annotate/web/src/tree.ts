// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calling context tree. A parent has a smaller number than its children, so that one walk from the last node to
// the first makes inclusive costs. Nodes are grouped when a view asks: callees of all places where a function is on
// the path, or its callers.

import type { Column, Facts, Table } from "./data";
import type { Costs, Kind, SideName } from "./costs";

export class ContextTree {
    readonly size: number;
    readonly parent: Column; // 0: none, else one more than the number
    readonly frame: Column;
    readonly place: Column;
    private readonly first: Uint32Array; // children of node n: child[first[n]] to child[first[n + 1]]
    private readonly child: Uint32Array;
    private readonly inclusive = new Map<string, Float64Array>();
    private nodesOfFrames: Uint32Array[] | null = null;
    private outermostNodes: Uint8Array | null = null;

    constructor(
        readonly facts: Facts,
        private readonly table: Table,
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

    // 0 for a root.
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
        const frame = this.facts.frames[this.frame[node]!];
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

    // Per node its own and all below it. What is hidden counts for nobody.
    summedUp(own: Column | Float64Array, hidden: ReadonlySet<number> | null = null): Float64Array {
        const total = Float64Array.from(own);
        const { parent, frame } = this;
        const isHidden = hidden ? this.facts.frames.map((f) => typeof f === "number" && hidden.has(f)) : null;
        for (let node = this.size - 1; node >= 0; --node) {
            if (isHidden?.[frame[node]!]) total[node] = 0;
            const above = parent[node]!;
            if (above) total[above - 1]! += total[node]!;
        }
        return total;
    }

    // A weighted sum of events.
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
        if (!this.nodesOfFrames) {
            const counts = new Uint32Array(this.facts.functions.length);
            for (let node = 0; node < this.size; ++node) {
                const f = this.functionOf(node);
                if (f !== null) ++counts[f]!;
            }
            const found = Array.from(counts, (count) => new Uint32Array(count));
            counts.fill(0);
            for (let node = 0; node < this.size; ++node) {
                const f = this.functionOf(node);
                if (f !== null) found[f]![counts[f]!++] = node;
            }
            this.nodesOfFrames = found;
        }
        return this.nodesOfFrames[functionNumber] ?? new Uint32Array(0);
    }

    // Whether its function is not on the path to it already: only such nodes count in the function's inclusive cost.
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

// Some nodes of the tree under one name, with what is below them, or above.
export class Group implements Costs {
    private known: Group[] | null = null;

    private constructor(
        readonly tree: ContextTree,
        readonly frame: number,
        readonly place: number, // 0 where it does not matter
        readonly at: readonly number[], // the nodes that it stands for
        private readonly origin: readonly number[], // the nodes whose costs it has
        private readonly upwards: boolean,
    ) {}

    static ofNode(tree: ContextTree, node: number): Group {
        return new Group(tree, tree.frame[node]!, tree.place[node]!, [node], [node], false);
    }

    static calleesOf(tree: ContextTree, functionNumber: number): Group {
        // What is below another of its nodes is part of that one.
        const nodes = Array.from(tree.nodesOf(functionNumber)).filter((node) => tree.isOutermost(node));
        return new Group(tree, nodes.length ? tree.frame[nodes[0]!]! : 0, 0, nodes, nodes, false);
    }

    static callersOf(tree: ContextTree, functionNumber: number): Group {
        const nodes = Array.from(tree.nodesOf(functionNumber));
        return new Group(tree, nodes.length ? tree.frame[nodes[0]!]! : 0, 0, nodes, nodes, true);
    }

    get name(): number | string {
        return this.tree.facts.frames[this.frame]!;
    }

    calls(side: SideName = ""): number {
        return this.origin.reduce((total, node) => total + this.tree.calls(node, side), 0);
    }

    cost(kind: Kind, event: number, side: SideName): number {
        const column = kind === "self" ? this.tree.selfColumn(event, side) : this.tree.inclusiveColumn(event, side);
        return this.valueIn(column, kind);
    }

    // Of a column with a value per node.
    valueIn(column: Column | Float64Array, kind: Kind): number {
        const once = this.upwards && kind === "incl";
        let total = 0;
        for (const node of this.origin) if (!once || this.tree.isOutermost(node)) total += column[node]!;
        return total;
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
        for (const node of this.at) {
            for (const child of this.tree.children(node)) {
                const key = this.at.length === 1 ? child : this.tree.frame[child]!;
                const known = found.get(key);
                if (known) known.push(child);
                else found.set(key, [child]);
            }
        }
        return Array.from(found.values(), (nodes) => {
            const place = nodes.length === 1 ? this.tree.place[nodes[0]!]! : 0;
            return new Group(this.tree, this.tree.frame[nodes[0]!]!, place, nodes, nodes, false);
        });
    }

    private callers(): Group[] {
        const found = new Map<number, { at: number[]; origin: number[] }>();
        this.at.forEach((node, index) => {
            const above = this.tree.above(node);
            if (above === null) return;
            const frame = this.tree.frame[above]!;
            let known = found.get(frame);
            if (!known) found.set(frame, (known = { at: [], origin: [] }));
            known.at.push(above);
            known.origin.push(this.origin[index]!);
        });
        return Array.from(
            found,
            ([frame, { at, origin }]) => new Group(this.tree, frame, 0, at, origin, true),
        );
    }
}
