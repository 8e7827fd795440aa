// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which tables, and of the context tree which columns, what is looked at is made of.

import { sides } from "./costs";
import type { Metric } from "./data";
import type { Report } from "./report";
import type { State, View } from "./state";

export interface Need {
    table: string;
    columns: readonly string[];
}

export const treeStructure = ["parent", "frame", "place"] as const;

// A tree can have a million nodes, so only the events that are shown are unpacked. Other tables are small, and taken
// whole.
const wholeTables: Partial<Record<View, readonly string[]>> = {
    tables: ["arcs", "cycles", "frames"],
    graph: ["arcs", "frames"],
    source: ["lines", "sites", "code", "dataRows", "frames"],
    data: ["data", "dataRows", "dataBytes"],
    profiles: ["members"],
};

export function needs(report: Report, state: State): Need[] {
    // What a full tree leaves out.
    const exact = state.view === "icicle" && typeof report.facts.tree?.other === "number" ? ["arcs"] : [];
    const found = [...(wholeTables[state.view] ?? []), ...exact].flatMap((table) => wholeTable(report, table));
    const metrics = treeMetrics(report, state);
    if (report.facts.tree && metrics) {
        found.unshift({ table: "tree", columns: [...treeStructure, ...selfColumns(report, metrics), "calls"] });
    }
    return found;
}

export function allWholeTables(report: Report): Need[] {
    return Object.keys(report.facts.tables)
        .filter((table) => table !== "tree")
        .flatMap((table) => wholeTable(report, table));
}

function wholeTable(report: Report, table: string): Need[] {
    const shape = report.facts.tables[table];
    return shape ? [{ table, columns: shape.columns }] : [];
}

// null: the tree is not looked at.
function treeMetrics(report: Report, state: State): Metric[] | null {
    if (state.view === "icicle") {
        const metric = report.sizeMetric(state.metric);
        const share = report.shareFor(metric);
        return share ? [metric, share] : [metric];
    }
    if (state.view === "tables" && state.table !== "flat") {
        const columns = report.columns(state.cols);
        const by = columns.find(({ metric, kind }) => `${metric.name}:${kind}` === state.sort) ?? columns[0]!;
        return [...columns.map(({ metric }) => metric), report.sizeMetric(by.metric.name)];
    }
    return null;
}

function selfColumns(report: Report, metrics: readonly Metric[]): string[] {
    const { facts, comparing } = report;
    const events = facts.events.filter((_, event) =>
        metrics.some((metric) => metric.numerator[event] || metric.denominator?.[event]));
    return sides.slice(0, comparing ? 2 : 1).flatMap((side) => events.map((event) => `${side}self:${event}`));
}
