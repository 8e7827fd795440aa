// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls between functions, and what they cost by a metric: exact counts, for all calls of a pair.

import { CallCosts, change, metricValue, type Costs } from "./costs";
import type { Metric } from "./data";
import { Items } from "./items";
import type { Arc, Report } from "./report";

export type Side = "callers" | "callees";

export interface Call {
    row: number; // the first of its rows in the table of arcs
    caller: number;
    callee: number;
    calls: number;
    costs: Costs | null; // null: recursion, whose cost is part of other calls
    value: number | null; // its cost, or the change of its cost
    weight: number; // the larger of its costs now and before; for recursion, the smaller of the two functions' weights
}

// The graph that a neighbourhood is cut from.
export interface Net {
    // The calls on one side, the heaviest first.
    of(item: number, side: Side): readonly Call[];
    weight(item: number): number;
}

export const otherEnd = (call: Pick<Call, "caller" | "callee">, side: Side): number =>
    (side === "callers" ? call.caller : call.callee);

export class Calls implements Net {
    private readonly known: Record<Side, Map<number, readonly Call[]>> = { callers: new Map(), callees: new Map() };

    private constructor(
        private readonly report: Report, private readonly metric: Metric, readonly items: Items,
        private readonly arcs: { callers: Arc[][]; callees: Arc[][] },
    ) {}

    // null: the table of arcs is not unpacked yet.
    static of(report: Report, metric: Metric, areCyclesJoined = false): Calls | null {
        const arcs = report.arcs();
        return arcs && new Calls(report, metric, new Items(report, areCyclesJoined), arcs);
    }

    of(item: number, side: Side): readonly Call[] {
        let found = this.known[side].get(item);
        if (!found) this.known[side].set(item, (found = this.find(item, side)));
        return found;
    }

    private find(item: number, side: Side): Call[] {
        const { items } = this;
        const pairs = new Map<number, Arc[]>(); // by the other end
        for (const fn of items.members(item)) {
            for (const arc of this.arcs[side][fn]!) {
                const other = items.of(otherEnd(arc, side));
                const known = pairs.get(other);
                if (known) known.push(arc);
                else pairs.set(other, [arc]);
            }
        }
        return Array.from(pairs.values(), (arcs) => this.made(arcs))
            .sort((one, other) => other.weight - one.weight || one.row - other.row);
    }

    // Sums all calls of a pair. Calls within a cycle are recursion; no others are.
    private made(arcs: readonly Arc[]): Call {
        const { caller, callee, recursive } = arcs[0]!;
        const { items, report } = this;
        const ends = { caller: items.of(caller), callee: items.of(callee) };
        const calls = report.table("arcs")!.column("calls");
        const each = arcs.map((arc) => report.costs("arcs", arc.row));
        const costs = recursive ? null : each.length === 1 ? each[0]! : new CallCosts(each);
        return {
            ...ends, costs, row: arcs.reduce((first, { row }) => Math.min(first, row), Infinity),
            calls: arcs.reduce((sum, { row }) => sum + calls[row]!, 0),
            value: costs && this.value(costs),
            weight: costs ? this.weigh(costs) : Math.min(this.weight(ends.caller), this.weight(ends.callee)),
        };
    }

    weight(item: number): number {
        return this.weigh(this.items.costs(item));
    }

    private value(costs: Costs): number | null {
        return this.report.comparing ? change(this.metric, costs, "incl") : metricValue(this.metric, costs, "incl");
    }

    private weigh(costs: Costs): number {
        const now = metricValue(this.metric, costs, "incl") ?? 0;
        const before = this.report.comparing ? metricValue(this.metric, costs, "incl", "before:") ?? 0 : 0;
        return Math.max(now, before, 0);
    }
}
