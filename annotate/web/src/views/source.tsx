// SPDX-License-Identifier: GPL-2.0-or-later
//
// Source files with what each line cost, what it called, and the instructions beside it.

import { useMemo } from "preact/hooks";
import { css, shareColour, textOn } from "../colours";
import { usePage } from "../context";
import { RowCosts, metricValue, type Costs, type Kind, type SideName } from "../costs";
import { baseName, count, exactText, metricText, percent } from "../format";
import { SearchBox, useMatch } from "../find";
import { LongList } from "../list";
import { Empty, FunctionLink, SizePicker, Unread } from "../parts";
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
    // Of the whole program: heat is the same in each file.
    const most = useMemo(() => {
        let found = 0;
        for (const { lines } of files.values()) {
            for (const sum of lines.values()) found = Math.max(found, metricValue(metric, sum, "self") ?? 0);
        }
        return found;
    }, [files, metric]);
    if (!ready) return <Unread what="the lines" />;
    const own = state.fn === null ? null : (report.facts.functions[state.fn]?.[2] ?? null);
    const file = state.file ?? (own !== null && files.has(own) ? own : listed[0]?.file ?? null);
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
            {file === null ? <Empty>The profile has no lines.</Empty> : (
                <Text file={file} costs={files.get(file)} most={most} />
            )}
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

function Text({ file, costs, most }: { file: number; costs: FileCosts | undefined; most: number }) {
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
              + (file in report.facts.sourceNotes
                  ? " It was looked for under this path, and by its end in the folders given by -I." : "")
          : "The report was made without sources.";
    const match = useMatch();
    const found = useMemo(
        () => (match ? rows.flatMap(([line, text]) => (match(text) ? [line] : [])) : []),
        [rows, match],
    );
    return (
        <>
            <div class="bar">
                <h2 class="path">{report.facts.files[file] || "(unknown file)"}</h2>
                <SearchBox
                    placeholder="Search lines"
                    found={{
                        count: found.length, at: found.indexOf(wanted ?? -1),
                        choose: (number) => go({ file, line: found[number]! }, true),
                    }}
                />
            </div>
            {note && <p class="note">{note}</p>}
            {wanted !== null && <LoadedData file={file} line={wanted} />}
            <div class={code ? "beside" : ""}>
                <LongList
                    className="code"
                    label={`Lines of ${baseName(report.facts.files[file] ?? "")}`}
                    rows={rows.length}
                    height={rowHeight}
                    focusRow={focus === null || focus < 0 ? null : focus}
                    head={
                        <div class="line head" role="row" aria-rowindex={1}>
                            <span class="number" role="columnheader">line</span>
                            <span class="n" role="columnheader">{metric.heading}</span>
                            <span class="n in-calls" role="columnheader">in calls</span>
                            <span class="text" role="columnheader">{metric.title}</span>
                        </div>
                    }
                    render={(index) => {
                        const [line, text] = rows[index]!;
                        return (
                            <Line
                                key={line} file={file} line={line} text={text} costs={costs} most={most} total={total}
                                row={index + 2} chosen={line === wanted} found={match !== null && match(text)}
                                pick={() => go({ file, line }, true)}
                            />
                        );
                    }}
                />
                {code && <Instructions file={file} line={wanted} most={most} />}
            </div>
        </>
    );
}

function Line({ file, line, text, costs, most, total, row, chosen, found, pick }: {
    file: number;
    line: number;
    text: string;
    costs: FileCosts | undefined;
    most: number; // that a line of the program costs
    total: number;
    row: number;
    chosen: boolean;
    found: boolean;
    pick: () => void;
}) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const sum = costs?.lines.get(line);
    const calls = costs?.calls.get(line) ?? [];
    const frames = report.frames?.atLine(file, line) ?? [];
    const own = sum ? metricValue(metric, sum, "self") : null;
    const inCalls = calls.length
        ? calls.reduce((all, call) => all + (call.recursive ? 0 : (metricValue(metric, call.costs, "incl") ?? 0)), 0)
        : null;
    const heat = heatOf(own, most);
    const colour = shareColour(heat);
    return (
        <div
            class={`line${chosen ? " chosen" : ""}${found ? " found-line" : ""}`} data-line={line} onClick={pick}
            role="row" aria-rowindex={row} aria-selected={chosen}
        >
            <span class="number" role="rowheader">{line || "?"}</span>
            <span
                class="n heat" role="gridcell" data-heat={heat}
                style={heat ? { background: css(colour), color: textOn(colour) } : {}}
                data-exact={own ?? ""}
                title={own === null ? "" : `${exactText(metric, own)}, ${percent(total ? own / total : 0)} of all`}
            >
                {own === null ? "" : own === 0 ? "·" : count(own)}
            </span>
            <span class="n in-calls" role="gridcell" title={inCalls === null ? "" : exactText(metric, inCalls)}>
                {inCalls ? count(inCalls) : ""}
            </span>
            <span class="text" role="gridcell">
                {text}
                {frames.slice(0, 2).map((frame) => (
                    <span class="calls-to" key={`f${frame}`} data-frame={report.frames!.name(frame)}>
                        {report.frames!.kind(frame) === "inlined" ? `inlines ${report.frames!.name(frame)}`
                            : report.frames!.kind(frame)}, {report.frames!.told(frame).replace(/^inlined at .*?, /, "")}
                    </span>
                ))}
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

// Of the costliest line of the program: a small cost is pale wherever it is.
const heatOf = (cost: number | null, most: number): number => (cost && most ? 0.02 + 0.98 * (cost / most) : 0);

// The instructions of the chosen line's function, or of the chosen function.
function Instructions({ file, line, most }: { file: number; line: number | null; most: number }) {
    const { report, state, go } = usePage();
    const metric = report.sizeMetric(state.metric);
    const code = report.table("code")!;
    const rows = useMemo(() => {
        const [functions, files, lines] = (["function", "file", "line"] as const).map((name) => code.column(name));
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
    const first = rows.findIndex(chosen);
    if (!rows.length) return <p class="note code-note">Choose a line with costs to see its instructions.</p>;
    return (
        <LongList
            className="code assembly"
            label={`Instructions of ${report.name(code.column("function")[rows[0]!]!)}`}
            rows={rows.length}
            height={rowHeight}
            focusRow={first < 0 ? null : first}
            head={
                <div class="line head" role="row" aria-rowindex={1}>
                    <span class="n" role="columnheader">{metric.heading}</span>
                    <span class="address" role="columnheader">address</span>
                    <span class="text" role="columnheader">{report.name(code.column("function")[rows[0]!]!)}</span>
                </div>
            }
            render={(index) => {
                const row = rows[index]!;
                const value = metricValue(metric, report.costs("code", row), "self") ?? 0;
                const colour = shareColour(heatOf(value, most));
                return (
                    <div class={`line${chosen(row) ? " chosen" : ""}`} key={row} role="row" aria-rowindex={index + 2}
                        onClick={() => go({ file: code.column("file")[row]!, line: code.column("line")[row]! }, true)}>
                        <span
                            class="n heat" role="gridcell"
                            style={value ? { background: css(colour), color: textOn(colour) } : {}}
                            title={exactText(metric, value)}
                        >
                            {value ? metricText(metric, value) : "·"}
                        </span>
                        <span class="address" role="gridcell">{code.column("address")[row]!.toString(16)}</span>
                        <span class="text" role="gridcell">
                            {report.facts.codeTexts[code.column("text")[row]!] || `line ${code.column("line")[row]}`}
                        </span>
                    </div>
                );
            }}
        />
    );
}
