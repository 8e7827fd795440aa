// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ranks of a merged profile: the cost of each, by metric and by function, compared with the mean of all.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changeColour, css } from "../colours";
import { usePage } from "../context";
import type { Metric, Ranks } from "../data";
import { SearchBox, useMatch } from "../find";
import { exactText, grouped, metricText, percent, signed } from "../format";
import { Empty, FunctionLink, Legend, MetricPicker, Shortened, Unread } from "../parts";
import {
    aboveMean, colourReach, colourSteps, farthest, ordered, orders, placesOf, strip, type Order, type Strip,
} from "../ranks";
import type { Report } from "../report";

const widest = 640; // pixels of a strip
const widestCell = 14;
const listed = 200; // ranks in the table of numbers
const sorts = ["most − mean", "mean", "deviation"] as const;
type Sort = (typeof sorts)[number];
const by: Record<Sort, (strip: Strip) => number> = {
    "most − mean": ({ most, mean }) => most - mean,
    mean: ({ mean }) => mean,
    deviation: ({ deviation }) => deviation,
};

// A note on the summary if ranks differ.
export function RanksNote() {
    const { report, link } = usePage();
    const says = report.facts.ranks?.says;
    if (!says) return null;
    return (
        <section class="repairs" data-ranks>
            <h2>Ranks</h2>
            <p>{says} <a href={link({ view: "ranks" })}>where ranks differ</a></p>
        </section>
    );
}

export function RanksView() {
    const { report } = usePage();
    const { ranks } = report.facts;
    if (!ranks) return <Empty>Ranks are in a profile that bd_annotate --merge has written of those of a job.</Empty>;
    if (!report.table("ranks") || !report.table("strips")) return <Unread what="what ranks cost" />;
    return <Strips ranks={ranks} />;
}

// Strips of the whole program, by metric.
function programStrips(report: Report, metrics: readonly Metric[]): Strip[] {
    const table = report.table("ranks")!;
    const { events } = report.facts;
    return metrics.map((metric) => {
        const values = new Float64Array(table.rows);
        metric.numerator.forEach((weight, event) => {
            if (!weight) return;
            const column = table.column(`self:${events[event]!}`);
            for (let rank = 0; rank < values.length; ++rank) values[rank]! += weight * column[rank]!;
        });
        return strip(metric.heading, null, values);
    });
}

function functionStrips(report: Report, ranks: Ranks, count: number): Strip[] {
    const costs = report.table("strips")!.column("cost");
    const number = ranks.names.length;
    return ranks.functions.map((fn, at) => {
        const from = (count * ranks.functions.length + at) * number;
        return strip(report.fullName(fn), fn, costs.subarray(from, from + number));
    });
}

export const rankName = (ranks: Ranks, rank: number): string =>
    (/^\d+$/.test(ranks.names[rank]!) ? `rank ${ranks.names[rank]}` : ranks.names[rank]!);

function Strips({ ranks }: { ranks: Ranks }) {
    const { report, state, go } = usePage();
    const [order, setOrder] = useState<Order>("number");
    const [sort, setSort] = useState<Sort>("most − mean");
    const [reach, setReach] = useState<number | null>(null);
    const [at, setAt] = useState({ row: 0, cell: 0 });
    const region = useRef<HTMLDivElement>(null);
    const match = useMatch();
    const table = report.table("ranks")!;
    const counts = ranks.counts.flatMap(({ name }) => report.metric(name) ?? []);
    const count = Math.max(counts.findIndex(({ name }) => name === state.metric), 0);
    const metric = counts[count] ?? report.sizeMetric(state.metric);
    const metrics = useMemo(() => {
        const more = ["Ir", ...report.facts.columns.map(([name]) => name)].flatMap((name) => report.metric(name) ?? []);
        return [...new Set([...counts, ...more])].filter(({ denominator }) => !denominator);
    }, [report]);
    const program = useMemo(() => programStrips(report, metrics), [report]);
    const functions = useMemo(() => functionStrips(report, ranks, count), [report, count]);
    const matching = functions.flatMap(({ fn }) => (match && report.matches(match, fn!) ? [fn!] : []));
    const shown = functions
        .filter(({ fn, most }) => (match ? matching.includes(fn!) : most > 0))
        .sort((one, other) => by[sort](other) - by[sort](one));
    const rows = [...program, ...shown];
    const metricOf = (row: number): Metric => metrics[row] ?? metric;
    const first = functions.find(({ fn }) => fn === state.fn) ?? program[Math.max(metrics.indexOf(metric), 0)]!;
    const places = useMemo((): Uint32Array => {
        if (order === "cost") return ordered(table.rows, first.values, true);
        if (order === "host") return ordered(table.rows, table.column("host"));
        // Ranks without a group come last.
        const groups = Array.from(table.column("group"), (group) => group || Infinity);
        return ordered(table.rows, order === "number" ? null : groups);
    }, [order, first]);
    const cells = Math.min(table.rows, widest);
    const row = Math.min(at.row, rows.length - 1);
    const cell = Math.min(at.cell, cells - 1);
    const full = reach ?? colourReach(program.slice(0, 1));
    const move = (event: KeyboardEvent): void => {
        const [right, down] = ({
            ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], Home: [-cells, 0],
            End: [cells, 0],
        } as Record<string, [number, number]>)[event.key] ?? [0, 0];
        if (!right && !down) return;
        event.preventDefault();
        const to = Math.min(Math.max(row + down, 0), rows.length - 1);
        setAt({ row: to, cell: Math.min(Math.max(cell + right, 0), cells - 1) });
        region.current?.querySelectorAll("tbody tr")[to]?.scrollIntoView({ block: "nearest" });
    };
    const hosts = ranks.hosts.length - 1;
    return (
        <section class="ranks">
            <div class="bar">
                <MetricPicker
                    label="Functions by" metrics={counts} value={metric.name} onPick={(metric) => go({ metric })}
                />
                <Picker label="Sort functions by" values={sorts} value={sort} pick={setSort} />
                <Picker label="Order ranks by" values={orders} value={order} pick={setOrder} />
                <Picker
                    label="Colours to" values={colourSteps} value={full as (typeof colourSteps)[number]} pick={setReach}
                    text={(step) => `±${percent(step).replace(".0", "")}`}
                />
                <SearchBox
                    placeholder="Search functions"
                    found={{
                        count: matching.length, at: matching.indexOf(state.fn ?? -1),
                        choose: (number) => go({ fn: matching[number]! }, true),
                    }}
                />
            </div>
            <h2>
                {grouped(table.rows)} rank{table.rows === 1 ? "" : "s"}{" "}
                <small>{hosts > 0 && `of ${grouped(hosts)} host${hosts === 1 ? "" : "s"}`}</small>
            </h2>
            {table.rows > 1 && <p class="says">{ranks.alike}</p>}
            {ranks.groups.length > 0 && (
                <ol class="hints groups">{ranks.groups.map((told, group) => <li key={group}>{told}</li>)}</ol>
            )}
            <p class="readout" aria-live="polite">
                <Readout {...{ ranks, places, cell, cells }} strip={rows[row]!} metric={metricOf(row)} />
            </p>
            <div
                class="scroll-x" ref={region} tabIndex={0} role="region" onKeyDown={move}
                aria-label="Ranks; arrow keys move from one to the next"
            >
                <table class="strips">
                    <thead>
                        <tr>
                            <th scope="col">what</th><th scope="col"><Legend kind="change" /></th>
                            <th scope="col" class="n">least</th><th scope="col" class="n">mean</th>
                            <th scope="col" class="n">most</th><th scope="col">in</th>
                            <th scope="col" class="n">most above mean</th><th scope="col" class="n">deviation</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((one, number) => (
                            <Row
                                key={one.fn ?? one.name} {...{ ranks, places, cells, full }} strip={one}
                                metric={metricOf(number)} at={cell} isChosen={number === row}
                                pick={(cell) => setAt({ row: number, cell })}
                            />
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="note">
                A cell per rank: grey is the mean of a row, red above it, blue below.
                {cells < table.rows && " A cell of several ranks has the colour of the one farthest from it."}{" "}
                Functions are those that ranks differ in most, each with its own cost.
            </p>
            <Numbers {...{ ranks, places }} strip={rows[row]!} metric={metricOf(row)} />
        </section>
    );
}

function Picker<T extends string | number>({ label, values, value, pick, text = String }: {
    label: string;
    values: readonly T[];
    value: T;
    pick: (value: T) => void;
    text?: (value: T) => string;
}) {
    return (
        <label class="picker">
            <span>{label}</span>
            <select
                value={values.indexOf(value)}
                onChange={(event) => pick(values[Number((event.target as HTMLSelectElement).value)]!)}
            >
                {values.map((one, number) => <option key={one} value={number}>{text(one)}</option>)}
            </select>
        </label>
    );
}

interface Where {
    ranks: Ranks;
    places: Uint32Array; // the ranks in the chosen order
    strip: Strip;
    metric: Metric;
}

function Row({ ranks, places, strip, metric, cells, full, at, isChosen, pick }: Where & {
    cells: number;
    full: number;
    at: number;
    isChosen: boolean;
    pick: (cell: number) => void;
}) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = Math.max(Math.min(cells * widestCell, widest), 60);
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context) return;
        for (let cell = 0; cell < cells; ++cell) {
            const [from, to] = [cell, cell + 1].map((edge) => Math.floor((edge * width) / cells)) as [number, number];
            context.fillStyle = css(changeColour(aboveMean(strip, farthest(strip, places, cell, cells)) / full));
            context.clearRect(from, 0, to - from, 18);
            context.fillRect(from, 0, Math.max(1, to - from - (to - from > 4 ? 1 : 0)), 18);
        }
    }, [strip, places, cells, full]);
    const move = (event: PointerEvent): void => {
        const left = (event.currentTarget as Element).getBoundingClientRect().left;
        pick(Math.min(Math.max(Math.floor(((event.clientX - left) * cells) / width), 0), cells - 1));
    };
    const most = rankName(ranks, strip.mostAt);
    const told = `${strip.name}: ${metricText(metric, strip.mean)} on average, least `
        + `${metricText(metric, strip.least)}, most ${metricText(metric, strip.most)} in ${most}`;
    return (
        <tr data-strip={strip.name} class={isChosen ? "chosen" : ""}>
            <td>{strip.fn === null ? <b>{strip.name}</b> : <FunctionLink fn={strip.fn} view="graph" />}</td>
            <td>
                <span class="heat-strip" style={{ width: `${width}px` }}>
                    <canvas
                        ref={canvas} width={width} height={18} role="img" aria-label={told} onPointerMove={move}
                        onPointerDown={move}
                    />
                    {isChosen && (
                        <span
                            class="at" aria-hidden="true"
                            style={{ left: `${(at * width) / cells}px`, width: `${Math.max(width / cells, 3)}px` }}
                        />
                    )}
                </span>
            </td>
            <td class="n" data-exact={strip.least}>{metricText(metric, strip.least)}</td>
            <td class="n">{metricText(metric, strip.mean)}</td>
            <td class="n" data-exact={strip.most}>{metricText(metric, strip.most)}</td>
            <td><small><Shortened text={most} /></small></td>
            <td class="n">{percent(aboveMean(strip, strip.mostAt))}</td>
            <td class="n">{percent(strip.mean ? strip.deviation / strip.mean : 0)}</td>
        </tr>
    );
}

function Readout({ ranks, places, strip, metric, cell, cells }: Where & { cell: number; cells: number }) {
    const { report } = usePage();
    const rank = farthest(strip, places, cell, cells);
    const [from, to] = placesOf(cell, cells, places.length);
    const host = ranks.hosts[report.table("ranks")!.column("host")[rank]!]!;
    return (
        <span data-rank={ranks.names[rank]} data-exact={strip.values[rank]}>
            <b>{rankName(ranks, rank)}</b>{host && ` (${host})`}
            {to - from > 1 && `, farthest from the mean of the ${to - from} ranks here`}: {strip.name}{" "}
            {metricText(metric, strip.values[rank]!)}, {share(strip, rank)} the mean of {metricText(metric, strip.mean)}
        </span>
    );
}

function share(strip: Strip, rank: number): string {
    const above = aboveMean(strip, rank);
    return above ? `${percent(Math.abs(above))} ${above < 0 ? "below" : "above"}` : "exactly";
}

// The same as a table, for readers who cannot see the picture, and for exact numbers.
function Numbers({ ranks, places, strip, metric }: Where) {
    const { report } = usePage();
    const [isOpen, setOpen] = useState(false);
    const table = report.table("ranks")!;
    const [hosts, groups] = [table.column("host"), table.column("group")];
    return (
        <details
            class="numbers" open={isOpen}
            onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
        >
            <summary>{strip.name} by rank, as a table</summary>
            {isOpen && (
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">rank</th><th scope="col">host</th><th scope="col" class="n">group</th>
                            <th scope="col" class="n">{metric.heading}</th><th scope="col" class="n">to the mean</th>
                        </tr>
                    </thead>
                    <tbody>
                        {Array.from(places.subarray(0, listed), (rank) => (
                            <tr key={rank} data-rank={ranks.names[rank]}>
                                <td>{ranks.names[rank]}</td>
                                <td>{ranks.hosts[hosts[rank]!]}</td>
                                <td class="n">{groups[rank] || "none"}</td>
                                <td class="n" data-exact={strip.values[rank]}>
                                    <span title={exactText(metric, strip.values[rank]!)}>
                                        {metricText(metric, strip.values[rank]!)}
                                    </span>
                                </td>
                                <td class="n">{signed(percent(aboveMean(strip, rank)), aboveMean(strip, rank))}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
            {places.length > listed && <p class="note">And {grouped(places.length - listed)} more.</p>}
        </details>
    );
}
