// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who calls whom, and what a metric has of it: exact, of all calls of a pair.

import { change, metricValue, type Costs } from "./costs";
import type { Metric } from "./data";
import type { Report } from "./report";

export type Side = "callers" | "callees";

export interface Call {
    row: number; // among all that are known
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
}

export const otherEnd = (call: Call, side: Side): number => (side === "callers" ? call.caller : call.callee);

export class Calls implements Net {
    private readonly known: Record<Side, Map<number, readonly Call[]>> = { callers: new Map(), callees: new Map() };

    private constructor(private readonly report: Report, private readonly metric: Metric) {}

    // null: they are not unpacked.
    static of(report: Report, metric: Metric): Calls | null {
        return report.arcs() && new Calls(report, metric);
    }

    of(item: number, side: Side): readonly Call[] {
        let found = this.known[side].get(item);
        if (!found) {
            const calls = this.report.table("arcs")!.column("calls");
            found = this.report.arcs()![side][item]!.map(({ row, caller, callee, recursive }): Call => {
                const costs = recursive ? null : this.report.costs("arcs", row);
                return {
                    row, caller, callee, calls: calls[row]!, costs, value: costs && this.value(costs),
                    weight: costs ? this.weigh(costs) : Math.min(this.weight(caller), this.weight(callee)),
                };
            }).sort((one, other) => other.weight - one.weight || one.row - other.row);
            this.known[side].set(item, found);
        }
        return found;
    }

    costs(item: number): Costs {
        return this.report.functionCosts(item);
    }

    weight(item: number): number {
        return this.weigh(this.costs(item));
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
