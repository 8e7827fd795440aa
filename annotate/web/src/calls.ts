// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who calls whom, and what a metric has of it: exact, of all calls of a pair.

import { CallCosts, change, metricValue, type Costs } from "./costs";
import type { Metric } from "./data";
import { Items } from "./items";
import type { Arc, Report } from "./report";

export type Side = "callers" | "callees";

export interface Call {
    row: number; // the first of theirs among all that are known
    caller: number;
    callee: number;
    calls: number;
    costs: Costs | null; // null: recursion, whose cost is in that of other calls already
    value: number | null; // what it costs, or by how much that changed
    weight: number; // what it costs, now or before, whichever is more; of recursion, no more than either function does
}

// What a neighbourhood is made of.
export interface Net {
    // The heaviest first.
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

    // null: they are not unpacked.
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

    // Of all calls of a pair; those within a cycle are recursion, and all others are not.
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
