// SPDX-License-Identifier: GPL-2.0-or-later
//
// Colours that show where code is: the costliest object files, or source files, have one each.

import { metricValue } from "./costs";
import type { Metric } from "./data";
import { baseName } from "./format";
import type { Report } from "./report";

export type Rgb = readonly [number, number, number];

// Eight colours that the colour-blind can distinguish (after Okabe and Ito); all other files are grey.
const colours: readonly Rgb[] = [
    [230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167],
    [140, 140, 220],
];
const others: Rgb = [170, 174, 178];

export class Palette {
    readonly entries: { name: string; colour: Rgb }[] = [];
    private readonly byFunction: Rgb[];

    constructor(report: Report, metric: Metric, by: "object" | "file") {
        const of = (fn: number): string => (by === "object" ? report.object(fn) : report.file(fn));
        const costs = new Map<string, number>();
        for (let fn = 0; fn < report.facts.functions.length; ++fn) {
            const cost = Math.abs(metricValue(metric, report.functionCosts(fn), "self") ?? 0);
            costs.set(of(fn), (costs.get(of(fn)) ?? 0) + cost);
        }
        const ranked = [...costs].filter(([name, cost]) => cost > 0 && name && name !== "???")
            .sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
        const known = new Map<string, Rgb>();
        for (const [name] of ranked.slice(0, colours.length)) {
            const colour = colours[known.size]!;
            known.set(name, colour);
            this.entries.push({ name: baseName(name), colour });
        }
        if (costs.size > known.size) this.entries.push({ name: "others", colour: others });
        this.byFunction = report.facts.functions.map((_, fn) => known.get(of(fn)) ?? others);
    }

    // The colour of a function; that of others for a root, or for paths that the tree had no room for.
    colour(name: number | string): Rgb {
        return (typeof name === "number" ? this.byFunction[name] : undefined) ?? others;
    }
}
