// SPDX-License-Identifier: GPL-2.0-or-later
//
// The report as views see it: the facts, the columns unpacked so far, and answers that several views need.

import { Table, readColumn, readFacts, readSources, type Column } from "./data";
import { RowCosts, TotalCosts, metricValue, type Costs, type Kind, type MetricColumn, type Widths } from "./costs";
import { formula } from "./formula";
import { baseName } from "./format";
import { Frames } from "./frames";
import { Links } from "./links";
import { allWholeTables, needs, treeStructure, type Need } from "./needs";
import { ofMembers, type Facts, type Metric, type SourceText, type TableName } from "./schema";
import type { State } from "./state";
import { ContextTree } from "./tree";

export type { MetricColumn } from "./costs";

// A range of members, by their numbers on the page, both ends included.
export interface Range {
    from: number;
    to: number;
}

// The range that a state chooses; null: all members.
export function rangeOf({ members }: Facts, { from, to }: State): Range | null {
    const last = members.length - 1;
    const [one, other] = [from ?? 0, to ?? last];
    const found = { from: Math.min(one, other), to: Math.max(one, other) };
    return last < 1 || (found.from === 0 && found.to === last) ? null : found;
}

export interface Arc {
    row: number;
    caller: number;
    callee: number;
    recursive: boolean;
}

export class Report {
    readonly comparing: boolean;
    readonly isEstimate: boolean; // of a sampled run; not where two are compared, as errors are unknown then
    readonly above: ReadonlySet<number>; // functions above main, which only start the program
    readonly totals: Costs;
    readonly links: Links;
    readonly range: Range | null; // of the profiles whose costs this report has; null: all
    tree: ContextTree | null = null;
    sources: Map<number, SourceText> | null = null;
    loading = true;
    private readonly tables: Map<TableName, Table>;
    private readonly sourceLines = new Map<number, string[]>();
    private readonly reading = new Map<string, Promise<Column>>();
    private readonly damaged = new Set<string>(); // columns that cannot be unpacked or are missing
    private readonly metricsByName: Map<string, Metric>;
    private readonly knownEvents = new Map<TableName, ReadonlySet<string>>();
    private readonly formulas = new Map<string, Metric>();
    private knownFrames: Frames | null = null;
    private arcsByFunction: { callers: Arc[][]; callees: Arc[][] } | null = null;

    // whole: the report of all profiles, if this is one of a range.
    private constructor(
        readonly facts: Facts, private readonly whole: Report | null = null, range: Range | null = null,
    ) {
        this.comparing = facts.sides.length > 1;
        this.above = new Set(facts.above);
        this.links = new Links(facts);
        this.range = range;
        this.isEstimate = facts.estimates !== null && !this.comparing;
        const widths = this.isEstimate ? (range ? null : facts.estimates!.totals) : undefined;
        this.totals = new TotalCosts(range ? [totalsOf(facts, range)] : facts.totals, widths);
        this.metricsByName = new Map(facts.metrics.map((metric) => [metric.name, metric]));
        this.tables = new Map(
            (Object.keys(facts.tables) as TableName[]).map(
                (name) => [name, new Table(facts.tables[name]!.rows, new Map())],
            ),
        );
    }

    static async open(): Promise<Report> {
        const report = new Report(await readFacts());
        await report.unpack(ofFunctions(report.facts));
        return report;
    }

    // Whether the page has the costs of each profile for the rows of this table.
    canWeigh(table: TableName): boolean {
        const of = ofMembers[table as keyof typeof ofMembers];
        return of !== undefined && this.facts.tables[of] !== undefined;
    }

    // The report of some of the profiles only.
    of(range: Range): Report {
        return new Report(this.facts, this, range);
    }

    isReady(state: State): boolean {
        return this.needed(state).every(({ table, columns }) =>
            columns.every((column) => this.tables.get(table)!.columns.has(column)));
    }

    // Whether a column that this state needs cannot be read.
    isDamaged(state: State): boolean {
        return this.needed(state).some(({ table, columns }) =>
            columns.some((column) => this.damaged.has(key(table, column))));
    }

    get areSourcesDamaged(): boolean {
        return this.damaged.has("sources");
    }

    // Unpacks the columns that a state needs.
    async load(state: State): Promise<void> {
        if (this.whole && !this.whole.isReady(state)) await this.whole.load(state);
        await this.unpack(this.needed(state));
        if (!this.whole) return;
        this.sources = this.whole.sources;
        this.loading = false;
    }

    private needed(state: State): Need[] {
        const found = needs(this, state);
        if (this.whole) found.push(...ofFunctions(this.facts));
        return found;
    }

    // Unpacks all columns that it can before it fails.
    private async unpack(wanted: readonly Need[]): Promise<void> {
        const done = await Promise.allSettled(
            wanted.flatMap(({ table, columns }) => columns.map((column) => this.unpackColumn(table, column))),
        );
        const tree = this.tables.get("tree");
        if (tree && !this.tree && treeStructure.every((column) => tree.columns.has(column))) {
            this.tree = new ContextTree(this.facts, tree);
        }
        for (const one of done) if (one.status === "rejected") throw one.reason;
    }

    private async unpackColumn(table: TableName, column: string): Promise<void> {
        this.tables.get(table)!.columns.set(column, await this.noting(key(table, column), this.read(table, column)));
    }

    // Reads each column once, even if the reports of several ranges need it.
    private read(table: TableName, column: string): Promise<Column> {
        if (this.whole && this.range) return this.whole.readRange(this.range, table, column);
        const name = key(table, column);
        const known = this.reading.get(name)
            ?? readColumn(this.facts, table, column, (of, other) => this.read(of as TableName, other));
        this.reading.set(name, known);
        return known;
    }

    // The sum of a column over a range. Columns other than counts, and tables without counts by profile, stay whole.
    private async readRange({ from, to }: Range, table: TableName, column: string): Promise<Column> {
        const of = ofMembers[table as keyof typeof ofMembers];
        const isCount = column === "calls" || column.includes(":");
        if (!of || !isCount || !this.canWeigh(table)) return this.read(table, column);
        const members = await Promise.all(
            Array.from({ length: to - from + 1 }, (_, at) => this.read(of, `${from + at}:${column}`)),
        );
        const total = new Float64Array(this.facts.tables[table]!.rows);
        for (const member of members) for (let row = 0; row < total.length; ++row) total[row]! += member[row]!;
        return total;
    }

    private async noting<T>(name: string, read: Promise<T>): Promise<T> {
        try {
            return await read;
        } catch (error) {
            this.damaged.add(name);
            throw error;
        }
    }

    // Unpacks what the first view does not need: all tables but the tree, the columns of the tree that the icicle would
    // show in this state, and the sources. Calls `changed` after each step, and `fail` if a step fails.
    async loadRest(state: State, changed: () => void, fail: (error: unknown) => void): Promise<void> {
        for (const need of allWholeTables(this)) {
            await this.unpack([need]).catch(fail);
            changed();
        }
        await this.load({ ...state, view: "icicle" }).catch(fail);
        if (this.facts.hasSources) await this.loadSources().catch(fail);
        this.loading = false;
        changed();
    }

    private async loadSources(): Promise<void> {
        const found = await this.noting("sources", readSources());
        this.sources = new Map(found.map((source) => [source.file, source]));
    }

    // The text of a line; null: the report does not have it, or not yet.
    sourceLine(file: number, line: number): string | null {
        let known = this.sourceLines.get(file);
        if (!known) {
            known = this.sources?.get(file)?.text.split("\n");
            if (!known) return null;
            this.sourceLines.set(file, known);
        }
        return known[line - 1] ?? null;
    }

    get functions(): Table<"functions"> {
        return this.tables.get("functions")!;
    }

    // null: the page has no such table, or has not unpacked all of its columns yet.
    table<N extends TableName>(name: N): Table<N> | null {
        const table = this.tables.get(name);
        return table && table.columns.size === this.facts.tables[name]!.columns.length ? table : null;
    }

    metric(name: string): Metric | undefined {
        return this.metricsByName.get(name);
    }

    // The metric of a column: one of the report, or a formula.
    columnMetric(name: string): Metric | undefined {
        const known = this.metric(name) ?? this.formulas.get(name);
        if (known) return known;
        try {
            const made = formula(name, this.facts.events, (one) => this.metric(one));
            this.formulas.set(name, made);
            return made;
        } catch {
            return undefined;
        }
    }

    // The metric that widths and heat show: a plain sum, no ratio.
    sizeMetric(name: string): Metric {
        const chosen = this.metric(name);
        if (chosen && !chosen.denominator) return chosen;
        return this.defaultMetric;
    }

    // Whether this table has the events of a metric: paths, instructions and data have no cost of misses.
    has(table: TableName, metric: Metric): boolean {
        const columns = this.facts.tables[table]?.columns ?? [];
        let known = this.knownEvents.get(table);
        if (!known) {
            const costs = columns.filter((name) => name.includes(":"));
            known = new Set(costs.map((name) => name.slice(name.lastIndexOf(":") + 1)));
            this.knownEvents.set(table, known);
        }
        return this.facts.events.every((event, at) =>
            known!.has(event) || !(metric.numerator[at] || metric.denominator?.[at]));
    }

    // The size metric, if this table has its events; else misses, the main part of a cost of misses, or the first
    // metric whose events it has.
    sizeMetricOf(table: TableName, name: string): Metric {
        const chosen = this.sizeMetric(name);
        if (!this.facts.tables[table] || this.has(table, chosen)) return chosen;
        const listed = ["D1m", ...this.facts.columns.map(([name]) => name)].flatMap((name) => this.metric(name) ?? []);
        return [...listed, ...this.sizeMetrics].find((one) => !one.denominator && this.has(table, one)) ?? chosen;
    }

    // The columns of a table of functions; for one of paths, only those that the tree has, with misses first if others
    // are missing.
    columnsOf(text: string, isOfPaths: boolean): MetricColumn[] {
        const all = this.columns(text);
        if (!isOfPaths || !this.facts.tree) return all;
        const known = all.filter(({ metric }) => this.has("tree", metric));
        if (known.length === all.length) return all;
        const first = this.sizeMetricOf("tree", "");
        const [misses, others] = [true, false].map((is) => known.filter(({ metric }) => (metric === first) === is));
        return misses!.length ? [...misses!, ...others!] : [{ metric: first, kind: "incl" }, ...others!];
    }

    get defaultMetric(): Metric {
        const first = this.facts.columns.map(([name]) => this.metric(name)).find((m) => m && !m.denominator);
        return first ?? this.facts.metrics[0]!;
    }

    get sizeMetrics(): Metric[] {
        return this.facts.metrics.filter((metric) => !metric.denominator);
    }

    // The share that colours show beside this metric.
    shareFor(metric: Metric): Metric | null {
        return (metric.share === null ? null : this.metric(metric.share)) ?? null;
    }

    // The metrics of used bytes at a level of the caches, from 0.
    use(level: number): Record<"loaded" | "lost" | "share" | "perLine" | "misses", Metric | undefined> {
        const { loaded, lost, share, perLine, misses } = this.facts.use.levels[level]!;
        return {
            loaded: this.metric(loaded), lost: this.metric(lost), share: this.metric(share),
            perLine: this.metric(perLine), misses: this.metric(misses),
        };
    }

    // The short name of a function, as views show it.
    name(fn: number): string {
        return this.facts.functions[fn]?.[4] || this.fullName(fn);
    }

    // The name of a function in the profile.
    fullName(fn: number): string {
        return this.facts.functions[fn]?.[0] ?? "?";
    }

    matches(match: (name: string) => boolean, fn: number): boolean {
        return match(this.name(fn)) || match(this.fullName(fn));
    }

    file(fn: number): string {
        return this.facts.files[this.facts.functions[fn]?.[2] ?? -1] ?? "";
    }

    object(fn: number): string {
        return this.facts.objects[this.facts.functions[fn]?.[1] ?? -1] ?? "";
    }

    where(fn: number): string {
        const line = this.facts.functions[fn]?.[3];
        const file = this.file(fn) === "???" ? "" : baseName(this.file(fn)) + (line ? `:${line}` : "");
        const object = baseName(this.object(fn));
        return [file, object && object !== "???" ? `[${object}]` : ""].filter(Boolean).join(" ");
    }

    label(name: number | string): string {
        return typeof name === "number" ? this.name(name) : name;
    }

    functionCosts(fn: number): Costs {
        return this.costs("functions", fn);
    }

    costs(table: TableName, row: number): Costs {
        return new RowCosts(this.facts, this.tables.get(table)!, row, this.widths(table));
    }

    // The errors of a table's rows. Undefined: the counts are exact. null: the errors are unknown, as for a range.
    private widths(table: TableName): Widths | undefined {
        const known = widthsOf[table];
        if (!known || !this.isEstimate) return undefined;
        return this.range ? null : this.tables.get(known) ?? null;
    }

    calls(fn: number): number {
        return this.functions.column("calls")[fn]!;
    }

    // null: the page has no frames, or has not unpacked them yet.
    get frames(): Frames | null {
        const table = this.table("frames");
        if (table && !this.knownFrames) this.knownFrames = new Frames(this, table);
        return this.knownFrames;
    }

    arcs(): { callers: Arc[][]; callees: Arc[][] } | null {
        const table = this.table("arcs");
        if (!table || this.arcsByFunction) return this.arcsByFunction;
        const found = {
            callers: this.facts.functions.map((): Arc[] => []),
            callees: this.facts.functions.map((): Arc[] => []),
        };
        const [caller, callee, recursive] = (["caller", "callee", "recursive"] as const).map(
            (name) => table.column(name),
        );
        for (let row = 0; row < table.rows; ++row) {
            const arc = {
                row,
                caller: caller![row]!,
                callee: callee![row]!,
                recursive: recursive![row] === 1,
            };
            found.callees[arc.caller]!.push(arc);
            found.callers[arc.callee]!.push(arc);
        }
        return (this.arcsByFunction = found);
    }

    // The costliest functions; if two profiles are compared, those that changed most.
    ranked(metric: Metric, kind: Kind): { fn: number; value: number }[] {
        const found: { fn: number; value: number }[] = [];
        for (let fn = 0; fn < this.functions.rows; ++fn) {
            const costs = this.functionCosts(fn);
            const value = metricValue(metric, costs, kind) ?? 0;
            const before = this.comparing ? (metricValue(metric, costs, kind, "before:") ?? 0) : 0;
            if (value !== before) found.push({ fn, value: value - before });
        }
        return found.sort((one, other) => Math.abs(other.value) - Math.abs(one.value) || one.fn - other.fn);
    }

    columns(text: string): MetricColumn[] {
        const chosen = text.split(",").map((word): [string, boolean] => [word.split(":")[0]!, !word.endsWith(":self")]);
        const known = (names: [string, boolean][]): MetricColumn[] =>
            names.flatMap(([name, inclusive]): MetricColumn[] => {
                const metric = this.columnMetric(name);
                return metric ? [{ metric, kind: inclusive ? "incl" : "self" }] : [];
            });
        const found = known(chosen);
        return found.length ? found : known(this.facts.columns);
    }
}

const widthsOf: Partial<Record<TableName, TableName>> = {
    functions: "functionWidths", lines: "lineWidths", hotLines: "hotLineWidths",
};

function ofFunctions(facts: Facts): Need[] {
    const names: TableName[] = ["functions", "functionWidths"];
    return names.flatMap((table) => {
        const shape = facts.tables[table];
        return shape ? [{ table, columns: shape.columns }] : [];
    });
}

function totalsOf({ members, events }: Facts, { from, to }: Range): number[] {
    const chosen = members.slice(from, to + 1);
    return events.map((_, event) => chosen.reduce((sum, { totals }) => sum + (totals[event] ?? 0), 0));
}

const key = (table: string, column: string): string => `${table} ${column}`;

export const columnName = (column: MetricColumn): string => `${column.metric.name}:${column.kind}`;
