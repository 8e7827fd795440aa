// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the lines of each file cost, and what they call.

import { type Costs, type Kind, type SideName } from "../costs";
import type { Report } from "../report";

class Sum implements Costs {
    private readonly members: Costs[] = [];
    width?: (kind: Kind, event: number) => number | null;

    add(costs: Costs): void {
        this.members.push(costs);
        if (costs.width) this.width = this.sumOfWidths;
    }

    // What nothing is known of may be off by all of it.
    private sumOfWidths(kind: Kind, event: number): number | null {
        const known = this.members.map((member) => member.width?.(kind, event) ?? null);
        if (known.every((width) => width === null)) return null;
        return this.members.reduce((total, member, at) => total + (known[at] ?? member.cost(kind, event, "") ?? 0), 0);
    }

    cost(kind: Kind, event: number, side: SideName): number | null {
        let total: number | null = null;
        for (const member of this.members) {
            const value = member.cost(kind, event, side);
            if (value !== null) total = (total ?? 0) + value;
        }
        return total;
    }
}

interface CallFrom {
    callee: number;
    costs: Costs;
    recursive: boolean;
}

export interface FileCosts {
    lines: Map<number, Sum>;
    calls: Map<number, CallFrom[]>;
    total: Sum;
}

export function fileCosts(report: Report): Map<number, FileCosts> {
    const found = new Map<number, FileCosts>();
    const of = (file: number): FileCosts => {
        let known = found.get(file);
        if (!known) found.set(file, (known = { lines: new Map(), calls: new Map(), total: new Sum() }));
        return known;
    };
    const lines = report.table("lines");
    for (let row = 0; lines && row < lines.rows; ++row) {
        const file = of(lines.column("file")[row]!);
        const line = lines.column("line")[row]!;
        const costs = report.costs("lines", row);
        let known = file.lines.get(line);
        if (!known) file.lines.set(line, (known = new Sum()));
        known.add(costs);
        file.total.add(costs);
    }
    const sites = report.table("sites");
    const cycles = report.functions.column("cycle");
    for (let row = 0; sites && row < sites.rows; ++row) {
        const line = sites.column("line")[row]!;
        const [caller, callee] = [sites.column("caller")[row]!, sites.column("callee")[row]!];
        const file = of(sites.column("file")[row]!);
        const calls = file.calls.get(line) ?? [];
        calls.push({
            callee,
            costs: report.costs("sites", row),
            recursive: caller === callee || (cycles[caller]! > 0 && cycles[caller] === cycles[callee]),
        });
        file.calls.set(line, calls);
    }
    return found;
}

// The line that a function's costs begin with.
export function lineOf(report: Report, fn: number, file: number): number | null {
    const known = report.facts.functions[fn]?.[3];
    if (known && report.facts.functions[fn]?.[2] === file) return known;
    const lines = report.table("lines")!;
    let first: number | null = null;
    for (let row = 0; row < lines.rows; ++row) {
        const line = lines.column("line")[row]!;
        const isOwn = lines.column("function")[row] === fn && lines.column("file")[row] === file;
        if (isOwn && line && (first === null || line < first)) first = line;
    }
    return first;
}
