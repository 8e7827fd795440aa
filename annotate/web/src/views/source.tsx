// SPDX-License-Identifier: GPL-2.0-or-later
//
// Source files with the costs and calls of each line, and its instructions beside it.

import { useMemo } from "preact/hooks";
import { usePage } from "../context";
import { metricValue } from "../costs";
import { SearchBox, useMatch } from "../find";
import { baseName, metricText } from "../format";
import { LongList } from "../list";
import { Empty, SizePicker, Unread } from "../parts";
import type { Report } from "../report";
import { fileCosts, lineOf, type FileCosts } from "./file_costs";
import { Instructions } from "./instructions";
import { LoadedData } from "./loaders";
import { Line, rowHeight } from "./source_line";

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
    // The maximum of the whole program, so that heat means the same in each file.
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
                                {metricText(metric, item.value)} · {report.facts.files[item.file]}
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

// Says why a file has no text, if its note does not.
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
        // Costs without a line, or of lines that the file does not have, come last.
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
                            {report.isEstimate && <span class="n interval" role="columnheader">±</span>}
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
