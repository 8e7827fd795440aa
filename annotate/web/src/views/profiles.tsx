// SPDX-License-Identifier: GPL-2.0-or-later
//
// Many profiles, or the parts of one: who has how much, of everything and of each function.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { css, shareColour } from "../colours";
import { usePage } from "../context";
import { RowCosts, TotalCosts, metricValue, type Kind } from "../costs";
import { count, exactText, metricText, percent } from "../format";
import { Empty, FunctionLink, SizePicker } from "../parts";

const mostFunctions = 60;

export function Profiles() {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const members = report.facts.members;
    const table = report.table("members");
    const totals = members.map((member) => metricValue(metric, new TotalCosts([member.totals]), "self") ?? 0);
    const kind: Kind = "incl";
    const rows = useMemo(() => {
        if (!table) return [];
        const found: { fn: number; values: number[]; mean: number }[] = [];
        for (let row = 0; row < table.rows; row += members.length) {
            const values = members.map((_, member) =>
                metricValue(metric, new RowCosts(report.facts, table, row + member), kind) ?? 0);
            const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
            if (mean > 0) found.push({ fn: table.column("function")[row]!, values, mean });
        }
        return found.sort((one, other) => other.mean - one.mean).slice(0, mostFunctions);
    }, [table, metric]);
    if (!members.length) {
        return (
            <Empty>
                This report is about one profile in one part. Give bd_annotate the profiles of several ranks, threads
                or runs, or a profile with several parts, to compare them here.
            </Empty>
        );
    }
    const most = Math.max(...totals);
    return (
        <div class="profiles">
            <div class="bar"><SizePicker /></div>
            <h2>
                {metric.title}{" "}
                <small>
                    {members.length}{" "}
                    {report.table("members") || report.facts.tables["members"]
                        ? "profiles" : "parts, in the order of time"}
                </small>
            </h2>
            <div
                class="columns-chart" role="img"
                aria-label={`From ${metricText(metric, Math.min(...totals))} to ${metricText(metric, most)}`}
            >
                {totals.map((value, member) => (
                    <span key={member} title={`${members[member]!.label}: ${exactText(metric, value)}`}>
                        <span style={{ height: `${most ? (100 * value) / most : 0}%` }} />
                    </span>
                ))}
            </div>
            <Strips
                rows={[
                    { name: "everything", fn: null, values: totals },
                    ...rows.filter((row) => !report.above.has(row.fn))
                        .map((row) => ({ name: report.fullName(row.fn), fn: row.fn, values: row.values })),
                ]}
            />
            <p class="note">
                A strip has a cell per {rows.length ? "profile" : "part"}, pale to dark from nothing to the row's
                largest. Spread: (largest − smallest) / mean; 0% is perfect balance.
                {rows.length > 0 && " Functions inclusive."}
            </p>
        </div>
    );
}

interface StripRow {
    name: string;
    fn: number | null;
    values: number[];
}

function Strips({ rows }: { rows: StripRow[] }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const members = report.facts.members;
    return (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Strips">
            <table class="strips">
                <thead>
                    <tr>
                        <th scope="col">function</th><th scope="col">each</th><th scope="col" class="n">smallest</th>
                        <th scope="col" class="n">mean</th><th scope="col" class="n">largest</th>
                        <th scope="col">in</th><th scope="col" class="n">spread</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row) => {
                        const [low, high] = [Math.min(...row.values), Math.max(...row.values)];
                        const mean = row.values.reduce((sum, value) => sum + value, 0) / row.values.length;
                        return (
                            <tr key={row.fn ?? -1} data-function={row.name}>
                                <td>
                                    {row.fn === null ? <b>{row.name}</b> : <FunctionLink fn={row.fn} view="graph" />}
                                </td>
                                <td><Strip values={row.values} labels={members.map((member) => member.label)} /></td>
                                <td class="n" data-exact={low}>{metricText(metric, low)}</td>
                                <td class="n">{count(mean)}</td>
                                <td class="n" data-exact={high}>{metricText(metric, high)}</td>
                                <td><small>{members[row.values.indexOf(high)]?.label}</small></td>
                                <td class="n">{percent(mean ? (high - low) / mean : 0)}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

function Strip({ values, labels }: { values: number[]; labels: string[] }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = Math.min(Math.max(values.length * 14, 60), 420);
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context) return;
        const most = Math.max(...values);
        values.forEach((value, index) => {
            const from = Math.floor((index * width) / values.length);
            const to = Math.floor(((index + 1) * width) / values.length);
            context.fillStyle = css(shareColour(most ? value / most : 0));
            context.fillRect(from, 0, Math.max(1, to - from - (to - from > 4 ? 1 : 0)), 18);
        });
    }, [values, width]);
    const listed = values.slice(0, 20).map((value, index) => `${labels[index]}: ${count(value)}`).join("\n");
    return (
        <canvas
            ref={canvas} width={width} height={18} title={listed} role="img"
            aria-label={listed.replaceAll("\n", ", ")}
        />
    );
}
