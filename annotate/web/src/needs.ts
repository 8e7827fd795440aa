// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which tables, and which columns of the context tree, a state needs.

import { sides, type MetricColumn } from "./costs";
import { ofMembers, tables, views, type Facts, type Metric, type TableName } from "./schema";
import type { State } from "./state";

export interface Need {
    table: TableName;
    columns: readonly string[];
}

// The part of a report that is used here.
export interface Shown {
    readonly facts: Facts;
    readonly comparing: boolean;
    sizeMetricOf(table: TableName, name: string): Metric;
    shareFor(metric: Metric): Metric | null;
    columnsOf(text: string, isOfPaths: boolean): MetricColumn[];
}

// The tables that are read only when a range of profiles is chosen.
const tablesOfMembers: ReadonlySet<TableName> = new Set(Object.values(ofMembers));

export const treeStructure = tables.tree.own;

// Whether the page knows from which loop or inlined function each context is called.
export const knowsLoops = (facts: Facts): boolean => facts.tables["tree"]?.columns.includes("within") ?? false;

// A tree can have a million nodes, so that only the events shown are unpacked. Other tables are small and are unpacked
// whole.
export function needs(report: Shown, state: State): Need[] {
    // If the tree had no room for all paths, arcs have the exact costs of calls.
    const more: TableName[] = [];
    if (state.view === "icicle" && typeof report.facts.tree?.other === "number") more.push("arcs");
    const loops = state.loops && knowsLoops(report.facts);
    if (state.view === "icicle" && loops) more.push("frames");
    const found = [...views[state.view], ...more].flatMap((table) => wholeTable(report, table));
    const metrics = treeMetrics(report, state);
    if (report.facts.tree && metrics) {
        found.unshift({ table: "tree", columns: [
            ...treeStructure, ...(loops ? ["within"] : []), ...selfColumns(report, metrics), "calls",
        ] });
    }
    return found;
}

export function allWholeTables(report: Shown): Need[] {
    return (Object.keys(report.facts.tables) as TableName[])
        .filter((table) => table !== "tree" && !tablesOfMembers.has(table))
        .flatMap((table) => wholeTable(report, table));
}

function wholeTable(report: Shown, table: TableName): Need[] {
    const shape = report.facts.tables[table];
    return shape ? [{ table, columns: shape.columns }] : [];
}

// null: the state does not show the tree.
function treeMetrics(report: Shown, state: State): Metric[] | null {
    if (state.view === "icicle") {
        const metric = report.sizeMetricOf("tree", state.metric);
        const share = report.shareFor(metric);
        return share ? [metric, share] : [metric];
    }
    if (state.view === "tables" && state.table !== "flat") {
        const columns = report.columnsOf(state.cols, true);
        const by = columns.find(({ metric, kind }) => `${metric.name}:${kind}` === state.sort) ?? columns[0]!;
        return [...columns.map(({ metric }) => metric), report.sizeMetricOf("tree", by.metric.name)];
    }
    return null;
}

function selfColumns(report: Shown, metrics: readonly Metric[]): string[] {
    const { facts, comparing } = report;
    const events = facts.events.filter((_, event) =>
        metrics.some((metric) => metric.numerator[event] || metric.denominator?.[event]));
    return sides.slice(0, comparing ? 2 : 1).flatMap((side) => events.map((event) => `${side}self:${event}`));
}
