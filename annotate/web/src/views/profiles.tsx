// SPDX-License-Identifier: GPL-2.0-or-later
//
// Several profiles, or the parts of one: the cost of each, in total and by function.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css, shareColour } from "../colours";
import { usePage } from "../context";
import { RowCosts, TotalCosts, metricValue, type Kind } from "../costs";
import type { Metric } from "../data";
import { SearchBox, useMatch } from "../find";
import { exactText, metricText, percent } from "../format";
import { Empty, FunctionLink, Shortened, SizePicker } from "../parts";

const mostFunctions = 60;
const mostLabels = 8;
const orders = ["mean", "largest", "spread"] as const;
type Order = (typeof orders)[number];

interface StripRow {
    name: string;
    fn: number | null;
    values: number[];
}

const smallest = (values: readonly number[]): number => values.reduce((all, value) => Math.min(all, value), Infinity);
const largest = (values: readonly number[]): number => values.reduce((all, value) => Math.max(all, value), -Infinity);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const spread = (values: readonly number[]): number =>
    (mean(values) ? (largest(values) - smallest(values)) / mean(values) : 0);
const by: Record<Order, (values: readonly number[]) => number> = { mean, largest, spread };

export function Profiles() {
    const { report, state, go } = usePage();
    const [order, setOrder] = useState<Order>("mean");
    const metric = report.sizeMetric(state.metric);
    const members = report.facts.members;
    const table = report.table("members");
    const match = useMatch();
    const totals = members.map((member) => metricValue(metric, new TotalCosts([member.totals]), "self") ?? 0);
    const kind: Kind = "incl";
    const last = members.length - 1;
    const [from, to] = [Math.min(state.from ?? 0, state.to ?? last), Math.max(state.from ?? 0, state.to ?? last)];
    const rows = useMemo((): StripRow[] => {
        if (!table) return [];
        const found: StripRow[] = [];
        for (let row = 0; row < table.rows; row += members.length) {
            const values = members.slice(from, to + 1).map((_, member) =>
                metricValue(metric, new RowCosts(report.facts, table, row + from + member), kind) ?? 0);
            const fn = table.column("function")[row]!;
            if (mean(values) > 0) found.push({ fn, name: report.fullName(fn), values });
        }
        return found.sort((one, other) => by[order](other.values) - by[order](one.values));
    }, [table, metric, from, to, order]);
    const matching = useMemo(
        () => (match ? rows.flatMap(({ fn }) => (report.matches(match, fn!) ? [fn!] : [])) : []),
        [rows, match],
    );
    if (!members.length) {
        return (
            <Empty>
                This report is about one profile in one part. Give bd_annotate the profiles of several ranks, threads
                or runs, or a profile with several parts, to compare them here.
            </Empty>
        );
    }
    const chosen = totals.slice(from, to + 1);
    const whole = totals.reduce((sum, value) => sum + value, 0);
    const part = chosen.reduce((sum, value) => sum + value, 0);
    const shown = rows.filter(({ fn }) => (match ? matching.includes(fn!) : !report.above.has(fn!)))
        .slice(0, mostFunctions);
    return (
        <div class="profiles">
            <div class="bar">
                <SizePicker />
                <Range label="From" value={from} pick={(member) => go({ from: member || null })} />
                <Range label="to" value={to} pick={(member) => go({ to: member < last ? member : null })} />
                <label class="picker">
                    <span>Sort by</span>
                    <select
                        value={order}
                        onChange={(event) => setOrder((event.target as HTMLSelectElement).value as Order)}
                    >
                        {orders.map((name) => <option key={name} value={name}>{name}</option>)}
                    </select>
                </label>
                <SearchBox
                    placeholder="Search functions"
                    found={{
                        count: matching.length, at: matching.indexOf(state.fn ?? -1),
                        choose: (number) => go({ fn: matching[number]! }, true),
                    }}
                />
            </div>
            <h2>
                {metric.title}{" "}
                <small>
                    {members.length}{" "}
                    {table || report.facts.tables["members"] ? "profiles" : "parts, in the order of time"}
                    {from > 0 || to < last
                        ? `; ${members[from]!.label} to ${members[to]!.label} have ${metricText(metric, part)}, `
                            + `${percent(whole ? part / whole : 0)} of all` : ""}
                </small>
            </h2>
            <Chart values={totals} from={from} to={to} />
            <Strips
                labels={members.slice(from, to + 1).map(({ label }) => label)}
                rows={[{ name: "everything", fn: null, values: chosen }, ...shown]}
            />
            <p class="note">
                A strip has a cell per {rows.length ? "profile" : "part"}, pale to dark from nothing to the row's
                largest. Spread: (largest − smallest) / mean; 0% is perfect balance.
                {rows.length > 0 && " Functions inclusive."}{" "}
                {report.canWeigh("functions") ? "A range weighs all views." : "A range weighs this view alone."}
            </p>
        </div>
    );
}

function Range({ label, value, pick }: { label: string; value: number; pick: (member: number) => void }) {
    const { members } = usePage().report.facts;
    return (
        <label class="picker">
            <span>{label}</span>
            <select value={value} onChange={(event) => pick(Number((event.target as HTMLSelectElement).value))}>
                {members.map((member, number) => <option key={number} value={number}>{member.label}</option>)}
            </select>
        </label>
    );
}

// A bar for each member, with axes of values and names.
function Chart({ values, from, to }: { values: number[]; from: number; to: number }) {
    const { report, state, go } = usePage();
    const metric = report.sizeMetric(state.metric);
    const members = report.facts.members;
    const most = Math.max(largest(values), 0);
    const step = Math.ceil(values.length / mostLabels);
    return (
        <div class="chart">
            <div class="axis" aria-hidden="true">
                {[1, 0.5, 0].map((share) => <span key={share}>{metricText(metric, share * most)}</span>)}
            </div>
            <div
                class="columns-chart" role="img"
                aria-label={`From ${metricText(metric, smallest(values))} to ${metricText(metric, most)}`}
            >
                {values.map((value, member) => (
                    <span
                        key={member} title={`${members[member]!.label}: ${exactText(metric, value)}`}
                        class={member < from || member > to ? "outside" : ""} data-member={members[member]!.label}
                        onClick={(event) => go(event.shiftKey ? { to: member } : { from: member, to: member })}
                    >
                        <span style={{ height: `${most ? (100 * value) / most : 0}%` }} />
                    </span>
                ))}
            </div>
            <div class="names" aria-hidden="true">
                {values.map((_, member) => (
                    <span key={member}>
                        {member % step === 0 && (
                            <span style={{ width: `${100 * Math.min(step, values.length - member)}%` }}>
                                <Shortened text={members[member]!.label} />
                            </span>
                        )}
                    </span>
                ))}
            </div>
        </div>
    );
}

function Strips({ rows, labels }: { rows: StripRow[]; labels: string[] }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
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
                        const [low, high] = [smallest(row.values), largest(row.values)];
                        return (
                            <tr
                                key={row.fn ?? -1} data-function={row.name}
                                class={row.fn !== null && row.fn === state.fn ? "chosen" : ""}
                            >
                                <td>
                                    {row.fn === null ? <b>{row.name}</b> : <FunctionLink fn={row.fn} view="graph" />}
                                </td>
                                <td><Strip metric={metric} values={row.values} labels={labels} /></td>
                                <td class="n" data-exact={low}>{metricText(metric, low)}</td>
                                <td class="n">{metricText(metric, mean(row.values))}</td>
                                <td class="n" data-exact={high}>{metricText(metric, high)}</td>
                                <td><small>{labels[row.values.indexOf(high)]}</small></td>
                                <td class="n">{percent(spread(row.values))}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

function Strip({ metric, values, labels }: { metric: Metric; values: number[]; labels: string[] }) {
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
    const listed = values.slice(0, 20)
        .map((value, index) => `${labels[index]}: ${metricText(metric, value)}`).join("\n");
    return (
        <canvas
            ref={canvas} width={width} height={18} title={listed} role="img"
            aria-label={listed.replaceAll("\n", ", ")}
        />
    );
}
