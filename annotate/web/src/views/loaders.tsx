// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which code loads a group of data, and which data a line of code loads.

import { usePage } from "../context";
import { metricValue, SumCosts, type Costs } from "../costs";
import { baseName, count, grouped, inSentence } from "../format";
import { FunctionLink, Value } from "../parts";
import { columnName, type MetricColumn } from "../report";
import { ranksBy } from "./data_columns";

export const shownLoaders = 20;

const shownHere = 3;

export function Where({ fn, file, line }: { fn: number; file: number; line: number }) {
    const { report, link } = usePage();
    return (
        <>
            {line > 0 && (
                <a href={link({ view: "source", fn, file, line })}>{baseName(report.facts.files[file] ?? "")}:{line}</a>
            )}{" "}
            <FunctionLink fn={fn} view="graph" />
        </>
    );
}

// The lines of code that loaded a group.
export function Loaders({ number, columns }: { number: number; columns: MetricColumn[] }) {
    const { report } = usePage();
    const table = report.table("dataRows")!;
    const [groups, functions, files, lines] = (["group", "function", "file", "line"] as const).map(
        (name) => table.column(name),
    );
    const first = ranksBy(columns);
    const found: { row: number; costs: Costs; value: number }[] = [];
    for (let row = 0; row < table.rows; ++row) {
        if (groups![row] !== number) continue;
        const costs = report.costs("dataRows", row);
        found.push({ row, costs, value: first ? (metricValue(first.metric, costs, "self") ?? 0) : 0 });
    }
    found.sort((one, other) => other.value - one.value || one.row - other.row);
    return (
        <>
            <h3>Loaded by</h3>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Who loaded it">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">code</th>
                            {columns.map((column) => (
                                <th scope="col" class="n" key={columnName(column)} title={column.metric.title}>
                                    {column.metric.heading}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {found.slice(0, shownLoaders).map(({ row, costs }) => (
                            <tr key={row} data-loader={row}>
                                <td><Where fn={functions![row]!} file={files![row]!} line={lines![row]!} /></td>
                                {columns.map((column) => (
                                    <td class="n" key={columnName(column)}>
                                        <Value column={column} costs={costs} alone />
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {found.length > shownLoaders && <p class="note">and {grouped(found.length - shownLoaders)} more places</p>}
        </>
    );
}

// The data that a line of code loads, beside its text.
export function LoadedData({ file, line }: { file: number; line: number }) {
    const { report, state, link } = usePage();
    const table = report.table("dataRows");
    const data = report.facts.data;
    if (!table || !data) return null;
    const metric = report.sizeMetricOf("dataRows", state.metric);
    const [groups, files, lines] = (["group", "file", "line"] as const).map((name) => table.column(name));
    const found = new Map<number, Costs[]>();
    for (let row = 0; row < table.rows; ++row) {
        if (files![row] !== file || lines![row] !== line) continue;
        found.set(groups![row]!, [...(found.get(groups![row]!) ?? []), report.costs("dataRows", row)]);
    }
    const listed = Array.from(found, ([group, costs]) =>
        ({ group, value: metricValue(metric, new SumCosts(costs), "self") ?? 0 }))
        .filter(({ value }) => value > 0)
        .sort((one, other) => other.value - one.value || one.group - other.group);
    if (!listed.length) return null;
    return (
        <p class="note loaded-data">
            Line {line}, {inSentence(metric.title)}:{" "}
            {listed.slice(0, shownHere).map(({ group, value }, index) => (
                <span key={group} data-group={group} data-exact={value}>
                    {index > 0 && ", "}
                    {count(value)} for <a href={link({ view: "data", object: group })}>{data.groups[group]!.label}</a>
                </span>
            ))}
            {listed.length > shownHere && ` and ${listed.length - shownHere} more`}
        </p>
    );
}
