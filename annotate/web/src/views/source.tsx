// SPDX-License-Identifier: GPL-2.0-or-later
//
// Source files with what each line cost, what it called, and the instructions beside it.

import { useMemo } from "preact/hooks";
import { css, shareColour, textOn } from "../colours";
import { usePage } from "../context";
import { RowCosts, metricValue, type Costs, type Kind, type SideName } from "../costs";
import { baseName, count, exactText, metricText, percent } from "../format";
import { Empty, FunctionLink, LongList, SizePicker, Unread } from "../parts";
import type { Report } from "../report";
import { LoadedData } from "./data";

const rowHeight = 20;

class Sum implements Costs {
    private readonly members: Costs[] = [];
    add(costs: Costs): void {
        this.members.push(costs);
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

interface FileCosts {
    lines: Map<number, Sum>;
    calls: Map<number, CallFrom[]>;
    total: Sum;
}

function fileCosts(report: Report): Map<number, FileCosts> {
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
        const costs = new RowCosts(report.facts, lines, row);
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
            costs: new RowCosts(report.facts, sites, row),
            recursive: caller === callee || (cycles[caller]! > 0 && cycles[caller] === cycles[callee]),
        });
        file.calls.set(line, calls);
    }
    return found;
}

export function Source() {
    const { report, state, go } = usePage();
    const ready = report.table("lines") !== null && report.table("sites") !== null;
    const files = useMemo(() => (ready ? fileCosts(report) : new Map<number, FileCosts>()), [ready]);
    const metric = report.sizeMetric(state.metric);
    const listed = useMemo(
        () =>
            Array.from(files, ([file, costs]) => ({ file, value: metricValue(metric, costs.total, "self") ?? 0 }))
                .sort((one, other) => other.value - one.value || one.file - other.file),
        [files, metric],
    );
    if (!ready) return <Unread what="the lines" />;
    const own = state.fn === null ? null : (report.facts.functions[state.fn]?.[2] ?? null);
    const hottest = listed.find(({ file }) => report.sources?.has(file))?.file ?? listed[0]?.file ?? null;
    const file = state.file ?? (own !== null && files.has(own) ? own : hottest);
    return (
        <div class="source">
            <div class="bar">
                <SizePicker />
                <label class="picker grow">
                    <span>File</span>
                    <select
                        value={file ?? ""}
                        onChange={(event) =>
                            go({ file: Number((event.target as HTMLSelectElement).value), line: null })}
                    >
                        {listed.slice(0, 2000).map((item) => (
                            <option key={item.file} value={item.file}>
                                {count(item.value)} · {report.facts.files[item.file]}
                            </option>
                        ))}
                    </select>
                </label>
            </div>
            {file === null ? <Empty>The profile has no lines.</Empty> : <Text file={file} costs={files.get(file)} />}
        </div>
    );
}

// The line that a function's costs begin with.
function lineOf(report: Report, fn: number, file: number): number | null {
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

// Why there is no text, where nothing else says it.
function unread(report: Report): string {
    if (report.areSourcesDamaged) return "the report is incomplete or damaged";
    return report.loading ? "reading the sources…" : "the file is not known";
}

function Text({ file, costs }: { file: number; costs: FileCosts | undefined }) {
    const { report, state, go } = usePage();
    const metric = report.sizeMetric(state.metric);
    const total = metricValue(metric, report.totals, "self") ?? 0;
    const source = report.sources?.get(file);
    const rows = useMemo((): [number, string][] => {
        const text = source?.text.split("\n") ?? [];
        const lines = new Set([...(costs?.lines.keys() ?? []), ...(costs?.calls.keys() ?? [])]);
        // Costs of no line, and of lines that the file does not have, stand behind.
        const others = [...lines].filter((line) => line < 1 || line > text.length).sort((one, other) => one - other);
        const note = (line: number): string =>
            (line < 1 ? "(line unknown)" : text.length ? "(past the end of the file)" : "");
        return [
            ...text.map((content, index): [number, string] => [index + 1, content]),
            ...others.map((line): [number, string] => [line, note(line)]),
        ];
    }, [source, costs]);
    const most = useMemo(() => {
        let found = 0;
        for (const sum of costs?.lines.values() ?? []) found = Math.max(found, metricValue(metric, sum, "self") ?? 0);
        return found;
    }, [costs, metric]);
    const hottest = useMemo(() => {
        const lines = [...(costs?.lines ?? [])]
            .map(([line, sum]): [number, number] => [line, metricValue(metric, sum, "self") ?? 0]);
        return lines.reduce<[number, number] | null>(
            (best, at) => (at[0] && at[1] > (best?.[1] ?? 0) ? at : best), null,
        )?.[0] ?? null;
    }, [costs, metric]);
    const wanted = state.line ?? (state.fn === null ? null : lineOf(report, state.fn, file)) ?? hottest;
    const focus = wanted === null ? null : rows.findIndex(([line]) => line === wanted);
    const code = report.table("code");
    const note = source
        ? source.newer ? "The file is newer than the profile: costs may stand beside the wrong lines." : null
        : report.facts.hasSources
          ? `No text: ${report.facts.sourceNotes[file] ?? unread(report)}.`
          : "The report was made without sources.";
    return (
        <>
            <h2 class="path">{report.facts.files[file] || "(unknown file)"}</h2>
            {note && <p class="note">{note}</p>}
            {wanted !== null && <LoadedData file={file} line={wanted} />}
            <div class={code ? "beside" : ""}>
                <LongList
                    className="code"
                    label={`Lines of ${baseName(report.facts.files[file] ?? "")}`}
                    rows={rows.length + 1}
                    height={rowHeight}
                    focusRow={focus === null || focus < 0 ? null : focus + 1}
                    render={(index) => {
                        if (index === 0) {
                            return (
                                <div class="line head" key="head">
                                    <span class="number">line</span>
                                    <span class="n">{metric.heading}</span>
                                    <span class="n in-calls">in calls</span>
                                    <span class="text">{metric.title}</span>
                                </div>
                            );
                        }
                        const [line, text] = rows[index - 1]!;
                        return (
                            <Line
                                key={line} line={line} text={text} costs={costs} most={most} total={total}
                                chosen={line === wanted} pick={() => go({ file, line }, true)}
                            />
                        );
                    }}
                />
                {code && <Instructions file={file} line={wanted} />}
            </div>
        </>
    );
}

function Line({ line, text, costs, most, total, chosen, pick }: {
    line: number;
    text: string;
    costs: FileCosts | undefined;
    most: number;
    total: number;
    chosen: boolean;
    pick: () => void;
}) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const sum = costs?.lines.get(line);
    const calls = costs?.calls.get(line) ?? [];
    const own = sum ? metricValue(metric, sum, "self") : null;
    const inCalls = calls.length
        ? calls.reduce((all, call) => all + (call.recursive ? 0 : (metricValue(metric, call.costs, "incl") ?? 0)), 0)
        : null;
    const heat = own && most ? 0.15 + 0.85 * (own / most) : 0;
    const colour = shareColour(heat);
    return (
        <div class={`line${chosen ? " chosen" : ""}`} data-line={line} onClick={pick}>
            <span class="number">{line || "?"}</span>
            <span
                class="n heat" style={heat ? { background: css(colour), color: textOn(colour) } : {}}
                data-exact={own ?? ""}
                title={own === null ? "" : `${exactText(metric, own)}, ${percent(total ? own / total : 0)} of all`}
            >
                {own === null ? "" : own === 0 ? "·" : count(own)}
            </span>
            <span class="n in-calls" title={inCalls === null ? "" : exactText(metric, inCalls)}>
                {inCalls ? count(inCalls) : ""}
            </span>
            <span class="text">
                {text}
                {calls.slice(0, 3).map((call) => (
                    <span class="calls-to" key={call.callee}>
                        → <FunctionLink fn={call.callee} view="graph" />
                    </span>
                ))}
                {calls.length > 3 && <span class="calls-to">and {calls.length - 3} more</span>}
            </span>
        </div>
    );
}

// The instructions of the chosen line's function, or of the chosen function.
function Instructions({ file, line }: { file: number; line: number | null }) {
    const { report, state, go } = usePage();
    const metric = report.sizeMetric(state.metric);
    const code = report.table("code")!;
    const rows = useMemo(() => {
        const [functions, files, lines] = ["function", "file", "line"].map((name) => code.column(name));
        let fn = state.fn;
        const inLine: number[] = [];
        for (let row = 0; row < code.rows; ++row) {
            if (files![row] === file && lines![row] === line) inLine.push(functions![row]!);
        }
        if (inLine.length && !inLine.includes(fn ?? -1)) fn = inLine[0]!;
        const found: number[] = [];
        for (let row = 0; row < code.rows; ++row) if (functions![row] === fn) found.push(row);
        return found;
    }, [state.fn, file, line]);
    const chosen = (row: number): boolean => code.column("line")[row] === line && code.column("file")[row] === file;
    const most = rows.reduce(
        (all, row) => Math.max(all, metricValue(metric, report.costs("code", row), "self") ?? 0), 0,
    );
    const first = rows.findIndex(chosen);
    if (!rows.length) return <p class="note code-note">Choose a line with costs to see its instructions.</p>;
    return (
        <LongList
            className="code assembly"
            label={`Instructions of ${report.name(code.column("function")[rows[0]!]!)}`}
            rows={rows.length + 1}
            height={rowHeight}
            focusRow={first < 0 ? null : first + 1}
            render={(index) => {
                if (index === 0) {
                    return (
                        <div class="line head" key="head">
                            <span class="n">{metric.heading}</span>
                            <span class="address">address</span>
                            <span class="text">{report.name(code.column("function")[rows[0]!]!)}</span>
                        </div>
                    );
                }
                const row = rows[index - 1]!;
                const value = metricValue(metric, report.costs("code", row), "self") ?? 0;
                const colour = shareColour(value && most ? 0.15 + 0.85 * (value / most) : 0);
                return (
                    <div class={`line${chosen(row) ? " chosen" : ""}`} key={row}
                        onClick={() => go({ file: code.column("file")[row]!, line: code.column("line")[row]! }, true)}>
                        <span
                            class="n heat" style={value ? { background: css(colour), color: textOn(colour) } : {}}
                            title={exactText(metric, value)}
                        >
                            {value ? metricText(metric, value) : "·"}
                        </span>
                        <span class="address">{code.column("address")[row]!.toString(16)}</span>
                        <span class="text">
                            {report.facts.codeTexts[code.column("text")[row]!] || `line ${code.column("line")[row]}`}
                        </span>
                    </div>
                );
            }}
        />
    );
}
