// SPDX-License-Identifier: GPL-2.0-or-later
//
// Anything that has costs answers with a count per event, self or inclusive, now or before (where two profiles are
// compared). Metrics are made of such counts.

import type { Facts, Metric, Table } from "./data";

export type Kind = "self" | "incl";

export interface MetricColumn {
    metric: Metric;
    kind: Kind;
}

export const sides = ["", "before:"] as const;
export type SideName = (typeof sides)[number];

export interface Costs {
    // null: it has no such costs, as a call has no self cost.
    cost(kind: Kind, event: number, side: SideName): number | null;
    // Of a sampled run: by how much the cost may be off, with 95 % certainty; null: nothing is known. Not there where
    // costs are exact, or nothing is ever known of them, as of paths.
    width?(kind: Kind, event: number): number | null;
}

export function sum(weights: readonly number[], costs: Costs, kind: Kind, side: SideName): number | null {
    let total = 0;
    for (let event = 0; event < weights.length; ++event) {
        const weight = weights[event]!;
        if (!weight) continue;
        const cost = costs.cost(kind, event, side);
        if (cost === null) return null;
        total += weight * cost;
    }
    return total;
}

export function metricValue(metric: Metric, costs: Costs, kind: Kind, side: SideName = ""): number | null {
    const over = sum(metric.numerator, costs, kind, side);
    if (over === null || !metric.denominator) return over;
    const under = sum(metric.denominator, costs, kind, side);
    return under ? over / under : null;
}

export function change(metric: Metric, costs: Costs, kind: Kind): number | null {
    const after = metricValue(metric, costs, kind);
    const before = metricValue(metric, costs, kind, "before:");
    return after === null || before === null ? null : after - before;
}

// By how much a metric may be off; a weighted sum of events by the sum of what these may. null: that is not known, or
// more than the metric itself. Undefined of what is exact, of ratios, and of nothing.
export function halfWidth(metric: Metric, costs: Costs, kind: Kind): number | null | undefined {
    const value = metricValue(metric, costs, kind);
    if (!costs.width || metric.denominator || !value) return undefined;
    let total = 0;
    for (let event = 0; event < metric.numerator.length; ++event) {
        const weight = metric.numerator[event]!;
        if (!weight) continue;
        const width = costs.width(kind, event);
        if (width === null) return null;
        total += Math.abs(weight) * width;
    }
    return total <= Math.abs(value) ? total : null;
}

// The widths of a table's rows, in one of the same rows; null: nothing is known of them.
export type Widths = Table | null;

// A row of a table whose columns are named by kind and event.
export class RowCosts implements Costs {
    constructor(
        private readonly facts: Facts,
        private readonly table: Table,
        readonly row: number,
        widths?: Widths, // of a sampled run
    ) {
        if (widths === undefined) return;
        this.width = (kind, event) => {
            const known = widths?.columns.get(`${kind}:${facts.events[event]}`)?.[row];
            return known ? known - 1 : null;
        };
    }

    readonly width?: (kind: Kind, event: number) => number | null;

    cost(kind: Kind, event: number, side: SideName): number | null {
        const column = this.table.columns.get(`${side}${kind}:${this.facts.events[event]}`);
        return column ? column[this.row]! : null;
    }
}

export class TotalCosts implements Costs {
    constructor(
        private readonly totals: readonly (readonly number[])[],
        widths?: readonly number[] | null, // of a sampled run
    ) {
        if (widths !== undefined) this.width = (_kind, event) => widths?.[event] ?? null;
    }

    readonly width?: (kind: Kind, event: number) => number | null;

    cost(_kind: Kind, event: number, side: SideName): number | null {
        return this.totals[side ? 1 : 0]?.[event] ?? null;
    }
}

// Functions of which each calls the next: the first has all that they cost.
export class NestedCosts implements Costs {
    private readonly together: SumCosts;

    constructor(private readonly members: readonly Costs[]) {
        this.together = new SumCosts(members);
    }

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "self") return this.together.cost(kind, event, side);
        return Math.max(...this.members.map((member) => member.cost(kind, event, side) ?? 0));
    }
}

// What one has and others do not, inclusive; as much of it as there is where parts overlap.
export class RestCosts implements Costs {
    constructor(
        private readonly whole: Costs,
        private readonly parts: readonly Costs[],
    ) {}

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "self") return null;
        const whole = this.whole.cost(kind, event, side);
        const known = this.parts.reduce((total, part) => total + (part.cost(kind, event, side) ?? 0), 0);
        return whole === null ? null : Math.max(whole - known, 0);
    }
}

// Calls together of which none is within another.
export class CallCosts implements Costs {
    constructor(private readonly calls: readonly Costs[]) {}

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "self") return null;
        return this.calls.reduce((total, call) => total + (call.cost(kind, event, side) ?? 0), 0);
    }
}

// The self costs of many together.
export class SumCosts implements Costs {
    constructor(private readonly members: readonly Costs[]) {}

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "incl") return null; // those of callers and callees overlap
        return this.members.reduce((total, member) => total + (member.cost(kind, event, side) ?? 0), 0);
    }
}
