// SPDX-License-Identifier: GPL-2.0-or-later
//
// The items of a list or picture: functions, and if cycles are joined, cycles (functions that call each other in
// circles) in place of their members. An item's number is that of its function; numbers of cycles follow.

import { SumCosts, type Costs, type Kind, type SideName } from "./costs";
import type { Match } from "./find";
import { grouped } from "./format";
import type { Report } from "./report";

export class Items {
    private readonly ofCycles = new Map<number, CycleCosts>();

    constructor(private readonly report: Report, readonly areJoined: boolean) {}

    get all(): number[] {
        const { functions, cycles } = this.report.facts;
        if (!this.areJoined) return functions.map((_, fn) => fn);
        const free = functions.flatMap((_, fn) => (this.of(fn) === fn ? [fn] : []));
        return [...free, ...cycles.map((_, cycle) => functions.length + cycle)];
    }

    of(fn: number): number {
        const cycle = this.areJoined ? this.report.functions.column("cycle")[fn]! : 0;
        return cycle ? this.report.facts.functions.length + cycle - 1 : fn;
    }

    isCycle(item: number): boolean {
        return item >= this.report.facts.functions.length;
    }

    isOfCycle(fn: number): boolean {
        return this.isCycle(this.of(fn));
    }

    // The functions of an item. In a cycle, the one that costs most comes first.
    members(item: number): readonly number[] {
        return this.isCycle(item) ? this.report.facts.cycles[item - this.report.facts.functions.length]! : [item];
    }

    // The function that is chosen when the item is.
    fn(item: number): number {
        return this.members(item)[0]!;
    }

    name(item: number): string {
        return this.isCycle(item) ? `${this.shortName(item)} of ${grouped(this.members(item).length)}`
            : this.report.name(item);
    }

    // The name without the number of functions of a cycle.
    shortName(item: number): string {
        return this.isCycle(item) ? `<cycle ${item - this.report.facts.functions.length + 1}>`
            : this.report.name(item);
    }

    fullName(item: number): string {
        return this.isCycle(item) ? this.name(item) : this.report.fullName(item);
    }

    where(item: number, most = 3): string {
        if (!this.isCycle(item)) return this.report.where(item);
        const members = this.members(item);
        const more = members.length > most ? ` and ${grouped(members.length - most)} more` : "";
        return members.slice(0, most).map((fn) => this.report.name(fn)).join(", ") + more;
    }

    matches(match: Match, item: number): boolean {
        return this.members(item).some((fn) => this.report.matches(match, fn));
    }

    costs(item: number): Costs {
        if (!this.isCycle(item)) return this.report.functionCosts(item);
        let known = this.ofCycles.get(item);
        if (!known) this.ofCycles.set(item, (known = new CycleCosts(this.report, this.members(item))));
        return known;
    }

    // The calls from outside.
    calls(item: number): number {
        if (!this.isCycle(item)) return this.report.calls(item);
        const calls = this.report.table("arcs")?.column("calls");
        const { callers } = this.report.arcs() ?? {};
        return this.members(item).reduce((sum, fn) => sum + (callers?.[fn] ?? []).reduce((all, { row, recursive }) =>
            all + (recursive ? 0 : calls![row]!), 0), 0);
    }
}

// The self costs of a cycle's functions, and inclusively those of the calls that leave it. As no chain of calls enters
// a cycle twice, each cost is counted once, and callers outside have the same sum.
class CycleCosts implements Costs {
    readonly width?: () => null; // for a sampled run: errors are unknown
    private readonly own: SumCosts;
    private readonly known = new Map<string, number | null>();

    constructor(private readonly report: Report, private readonly members: readonly number[]) {
        this.own = new SumCosts(members.map((fn) => report.functionCosts(fn)));
        if (report.isEstimate) this.width = () => null;
    }

    cost(kind: Kind, event: number, side: SideName): number | null {
        const key = `${side}${kind} ${event}`;
        let found = this.known.get(key);
        if (found === undefined) this.known.set(key, (found = this.sum(kind, event, side)));
        return found;
    }

    private sum(kind: Kind, event: number, side: SideName): number | null {
        const own = this.own.cost("self", event, side);
        if (kind === "self" || own === null) return own;
        const arcs = this.report.arcs();
        if (!arcs) return null;
        return this.members.reduce((sum, fn) => arcs.callees[fn]!.reduce((all, { row, recursive }) =>
            all + (recursive ? 0 : this.report.costs("arcs", row).cost("incl", event, side) ?? 0), sum), own);
    }
}
