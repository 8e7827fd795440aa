// SPDX-License-Identifier: GPL-2.0-or-later
//
// Small parts that several views share.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { gradient } from "./colours";
import { usePage } from "./context";
import { change, halfWidth, metricValue, type Costs, type Kind } from "./costs";
import type { Metric } from "./data";
import { matcher } from "./find";
import type { Items } from "./items";
import {
    baseName, cssPercent, exactText, grouped, inSentence, metricText, percent, plusMinus, signed,
} from "./format";
import { columnName, type MetricColumn, type Report } from "./report";
import { isShaped } from "./shaped";
import type { TableName } from "./schema";
import type { State } from "./state";

const shortEnough = 18; // characters
const keptEnd = 10;

export function FunctionLink({ fn, view }: { fn: number; view?: "graph" | "source" | "icicle" }) {
    const { report, link } = usePage();
    return (
        <a
            class="fn" href={link({ fn, ...(view ? { view } : {}), ...(view === "icicle" ? { focus: true } : {}) })}
            title={report.fullName(fn)}
        >
            {report.name(fn)}
        </a>
    );
}

// A function, or a cycle, by one of its functions.
export function ItemLink({ item, items }: { item: number; items: Items }) {
    const { link } = usePage();
    if (!items.isCycle(item)) return <FunctionLink fn={item} />;
    return <a class="fn" href={link({ fn: items.fn(item) })} title={items.where(item)}>{items.name(item)}</a>;
}

// A name that is cut in the middle if there is not enough room, as names differ at their ends.
export function Shortened({ text }: { text: string }) {
    if (text.length <= shortEnough) return <span class="shortened">{text}</span>;
    // Copying takes the whole name: the style sheet draws the end behind the start.
    return (
        <span class="shortened" data-end={text.slice(-keptEnd)}>
            <span class="start">{text.slice(0, -keptEnd)}<span class="copied">{text.slice(-keptEnd)}</span></span>
        </span>
    );
}

export function PlaceLink({ fn, file, line }: { fn: number; file: number; line: number }) {
    const { report, link } = usePage();
    if (!line) return null;
    return (
        <a href={link({ view: "source", fn, file, line })}>{baseName(report.facts.files[file] ?? "")}:{line}</a>
    );
}

// A line, with its text if the report has it.
export function SourceLine({ fn, file, line, share }: { fn: number; file: number; line: number; share?: number }) {
    const { report } = usePage();
    const text = report.sourceLine(file, line);
    if (text === null) return null;
    return (
        <p class="source-line" data-source-line={line}>
            <PlaceLink fn={fn} file={file} line={line} /> <code>{text.trim()}</code>
            {share !== undefined && <small> {percent(share)}</small>}
        </p>
    );
}

// The error of a metric of a sampled run.
export function Interval({ metric, costs, kind = "self" }: { metric: Metric; costs: Costs; kind?: Kind }) {
    const [value, width] = [metricValue(metric, costs, kind), halfWidth(metric, costs, kind)];
    return <IntervalOf metric={metric} value={value} width={width} />;
}

export function IntervalOf({ metric, value, width }: {
    metric?: Metric;
    value: number | null;
    width: number | null | undefined;
}) {
    const text = plusMinus(value, width);
    if (!text) return null;
    const exact = (number: number): string => (metric ? exactText(metric, number) : grouped(number));
    const title = width == null ? "How far this may be off is unknown, or more than the number itself"
        : `${exact(value!)} ± ${exact(width)}, with 95% certainty`;
    return <>{" "}<small class="interval" title={title} data-width={width ?? ""}>{text}</small></>;
}

// The value of a metric; if two profiles are compared, with its change, unless the value before is unknown.
export function Value({ column, costs, alone = false }: { column: MetricColumn; costs: Costs; alone?: boolean }) {
    const { report } = usePage();
    const { metric, kind } = column;
    const value = metricValue(metric, costs, kind);
    return (
        <span class="value" title={exactText(metric, value)} data-exact={value ?? ""} data-column={columnName(column)}>
            {metricText(metric, value)}
            {report.comparing && !alone && <Change metric={metric} kind={kind} costs={costs} />}
            <Interval metric={metric} costs={costs} kind={kind} />
        </span>
    );
}

export function Change({ metric, kind, costs }: { metric: Metric; kind: Kind; costs: Costs }) {
    const value = change(metric, costs, kind);
    if (!value || !/[1-9]/.test(metricText(metric, value))) return <span class="change none">±0</span>;
    const better = value > 0 === metric.moreIsBetter;
    return (
        <span class={`change ${better ? "better" : "worse"}`} title={exactText(metric, value)}>
            {signed(metricText(metric, value), value)}
        </span>
    );
}

export function MetricPicker({ metrics, value, onPick, label }: {
    metrics: Metric[];
    value: string;
    onPick: (name: string) => void;
    label: string;
}) {
    return (
        <label class="picker">
            <span>{label}</span>
            <select value={value} onChange={(event) => onPick((event.target as HTMLSelectElement).value)}>
                {metrics.map((metric) => (
                    <option key={metric.name} value={metric.name}>
                        {metric.title === metric.name ? metric.name : `${metric.title} (${metric.name})`}
                    </option>
                ))}
            </select>
        </label>
    );
}

// of: the table that must have the events of each metric that can be picked.
export function SizePicker({ of }: { of?: TableName }) {
    const { report, state, go } = usePage();
    return (
        <MetricPicker
            label="Show"
            metrics={report.sizeMetrics.filter((metric) => !of || report.has(of, metric))}
            value={(of ? report.sizeMetricOf(of, state.metric) : report.sizeMetric(state.metric)).name}
            onPick={(metric) => go({ metric })}
        />
    );
}

// Functions that only start the program share one row, unless the reader shows all of them, or searches for or hides
// one of them.
export function foldsStart(report: Report, state: State): boolean {
    const match = matcher(state);
    return !state.above && !report.facts.above.some((fn) =>
        state.hide.includes(fn) || (match && report.matches(match, fn)));
}

export function AboveButton() {
    const { report, state, go } = usePage();
    if (report.above.size < 2) return null;
    return (
        <button
            type="button" aria-pressed={state.above} title="Show the functions above main, too: they start the program"
            onClick={() => go({ above: !state.above })}
        >
            Above main
        </button>
    );
}

export function CyclesButton() {
    const { report, state, go } = usePage();
    if (!report.facts.cycles.length) return null;
    return (
        <button
            type="button" aria-pressed={state.cycles}
            title="Functions that call each other in circles are one, with what callers from outside pay for it"
            onClick={() => go({ cycles: !state.cycles })}
        >
            Cycles
        </button>
    );
}

// A note where paths are shown that the tree had no room for all of them.
export function FullTree({ metric }: { metric: Metric }) {
    const { report, state } = usePage();
    const { tree } = report;
    const share = useMemo(() => {
        if (!tree || tree.otherFrame === null) return null;
        const own = tree.selfSum(metric.numerator, "");
        const total = metricValue(metric, report.totals, "self") ?? 0;
        return total ? tree.otherCost(own) / total : 0;
    }, [tree, metric]);
    if (share === null) return null;
    return (
        <p class="warning" role="note" data-other={share}>
            <b>The context tree was full: {percent(share)} of {inSentence(metric.title)} was on other paths</b>, for
            which it had no room.{" "}
            {isShaped(state, report)
                ? "With functions hidden or merged, or with loops, callers and callees cover only the known paths."
                : "A function's own callers and callees are exact. Those farther away cover only the paths that are "
                    + "known; (other paths) is the rest."}{" "}
            A run with a larger --context-tree-nodes has more paths.
        </p>
    );
}

// share: the metric that colours show; null: none.
export function Legend({ kind, share = null }: { kind: "share" | "change"; share?: Metric | null }) {
    const bar = useRef<HTMLSpanElement>(null);
    useEffect(() => {
        if (bar.current) bar.current.style.background = gradient(kind);
    }, [kind]);
    if (kind === "share" && !share) return null;
    return (
        <span class="legend" title={kind === "share" ? share!.title : ""}>
            {kind === "share" ? "all used" : "less"}
            <span class="legend-bar" ref={bar} aria-hidden="true" />
            {kind === "share" ? "never used" : "more"}
        </span>
    );
}

export function ShareBar({ share, label }: { share: number; label: string }) {
    return (
        <span class="share-bar" role="img" aria-label={label}>
            <span style={{ width: cssPercent(share) }} />
        </span>
    );
}

// Replaces a view whose data is not unpacked yet, or never will be, as the page was cut off or damaged on its way.
export function Unread({ what }: { what: string }) {
    const { report, state } = usePage();
    if (report.isDamaged(state)) return <Empty>The report is incomplete or damaged: {what} cannot be shown.</Empty>;
    return <Empty>Reading {what}…</Empty>;
}

export function Empty({ children }: { children: ComponentChildren }) {
    return <p class="empty">{children}</p>;
}
