// SPDX-License-Identifier: GPL-2.0-or-later
//
// Costs give a count for each event, self or inclusive, now or (if two profiles are compared) before. Metrics are
// computed from such counts.

import type { Facts, Metric, Table } from "./data";

export type Kind = "self" | "incl";

export interface MetricColumn {
    metric: Metric;
    kind: Kind;
}

export const sides = ["", "before:"] as const;
export type SideName = (typeof sides)[number];

export interface Costs {
    // null: there are no such costs; a call, for example, has no self cost.
    cost(kind: Kind, event: number, side: SideName): number | null;
    // The error of a cost of a sampled run: half the width of its 95 % interval; null if it is unknown. Undefined if
    // costs are exact, or if errors are never known, as for paths.
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

// The error of a metric, computed as the weighted sum of the errors of its events. null: unknown, or more than the
// metric itself. Undefined for exact costs, ratios and 0.
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

// A table with the widths for the rows of another one; null: they are unknown.
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

// A chain of functions, each of which calls the next: the inclusive cost of the first covers all of them.
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

// The inclusive costs of a whole without its parts; 0 if the parts overlap and add up to more.
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

// The sum of calls of which none is within another.
export class CallCosts implements Costs {
    constructor(private readonly calls: readonly Costs[]) {}

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "self") return null;
        return this.calls.reduce((total, call) => total + (call.cost(kind, event, side) ?? 0), 0);
    }
}

// The sum of the self costs of many.
export class SumCosts implements Costs {
    constructor(private readonly members: readonly Costs[]) {}

    cost(kind: Kind, event: number, side: SideName): number | null {
        if (kind === "incl") return null; // those of callers and callees overlap
        return this.members.reduce((total, member) => total + (member.cost(kind, event, side) ?? 0), 0);
    }
}
