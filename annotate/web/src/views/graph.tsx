// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function between its callers and callees, with the costs of the calls.

import { useMemo } from "preact/hooks";
import { usePage, useSize } from "../context";
import { Calls, otherEnd, type Call, type Side as SideName } from "../calls";
import { change, metricValue } from "../costs";
import { changeColour, css, shareColour } from "../colours";
import { count, inSentence, metricText, percent, signed, times } from "../format";
import { SearchBox, useMatch } from "../find";
import { CyclesButton, Empty, FunctionLink, Interval, ItemLink, Legend, SizePicker, Unread } from "../parts";
import { Items } from "../items";
import { leastShares, levelCounts, type LeastShare, type LevelCount } from "../state";
import { FramesOf } from "./frames_of";
import { Levels } from "./levels";
import type { Metric } from "../data";

const shownArcs = 12;
const shownFound = { one: 15, several: 3 }; // by the number of levels in the picture
const shownMembers = 50;
// Sizes of the style sheet, in pixels.
const box = { height: 46, gap: 10 };
const sideTop = 34;
const centreBand = { top: 46, height: 110 }; // the height of the whole program
const bandLength = 90;

interface Neighbour {
    call: Call;
    item: number;
    items: Items;
}

export function Graph() {
    const { report, state, go } = usePage();
    const metric = report.sizeMetric(state.metric);
    const match = useMatch();
    const found = useMemo(
        () => (match
            ? report.ranked(metric, "incl").flatMap(({ fn }) => (report.matches(match, fn) ? [fn] : [])) : []),
        [match, metric],
    );
    const isWide = state.levels !== "1";
    // The function that is most worth a look.
    const fn = (isWide ? state.centre : null) ?? state.fn ?? report.facts.hints.places[0]?.function
        ?? report.ranked(metric, "self")[0]?.fn ?? null;
    return (
        <div class="graph">
            <div class="bar">
                <SizePicker />
                <LevelsPicker />
                <CyclesButton />
                <SearchBox
                    placeholder="Find a function"
                    found={{
                        count: found.length, at: found.indexOf(fn ?? -1),
                        choose: (number) => go({ fn: found[number]! }, true),
                    }}
                />
                <Legend kind={report.comparing ? "change" : "share"} share={report.shareFor(metric)} />
            </div>
            {match && <FoundList found={found} chosen={fn} />}
            {fn === null ? <Empty>The profile has no functions.</Empty> : isWide ? (
                <>
                    <Levels fn={fn} match={match} />
                    {!new Items(report, state.cycles).isOfCycle(fn) && <FramesOf fn={fn} />}
                </>
            ) : <Around fn={fn} key={fn} />}
        </div>
    );
}

function LevelsPicker() {
    const { state, go } = usePage();
    return (
        <>
            <label class="picker" title="So many levels of callers and of callees">
                <span>Levels</span>
                <select
                    value={state.levels}
                    onChange={(event) => go({ levels: (event.target as HTMLSelectElement).value as LevelCount })}
                >
                    {levelCounts.map((levels) => <option key={levels} value={levels}>{levels}</option>)}
                </select>
            </label>
            {state.levels !== "1" && (
                <label class="picker" title="Calls that cost less, of all that the program costs, are left out">
                    <span>of at least</span>
                    <select
                        value={state.least}
                        onChange={(event) => go({ least: (event.target as HTMLSelectElement).value as LeastShare })}
                    >
                        {leastShares.map((least) => (
                            <option key={least} value={least}>{least === "0" ? "any cost" : `${least}%`}</option>
                        ))}
                    </select>
                </label>
            )}
        </>
    );
}

function FoundList({ found, chosen }: { found: number[]; chosen: number | null }) {
    const { report, state, link } = usePage();
    const shown = state.levels === "1" ? shownFound.one : shownFound.several;
    const from = Math.max(0, Math.min(found.indexOf(chosen ?? -1) - (shown >> 1), found.length - shown));
    return (
        <ul class="found">
            {found.length === 0 && <li>No function matches.</li>}
            {found.slice(from, from + shown).map((fn) => (
                <li key={fn} class={fn === chosen ? "chosen" : ""}>
                    <a href={link({ fn, q: "" })}>{report.name(fn)}</a> <small>{report.where(fn)}</small>
                </li>
            ))}
        </ul>
    );
}

function Around({ fn }: { fn: number }) {
    const { report, state } = usePage();
    const [element, { width }] = useSize<HTMLDivElement>();
    const metric = report.sizeMetric(state.metric);
    const calls = useMemo(
        () => Calls.of(report, metric, state.cycles), [report, metric, state.cycles, report.arcs()],
    );
    const items = useMemo(() => calls?.items ?? new Items(report, state.cycles), [calls, report, state.cycles]);
    const item = items.of(fn);
    const costs = items.costs(item);
    const listOf = (side: SideName): Neighbour[] =>
        (calls?.of(item, side) ?? []).map((call) => ({ call, item: otherEnd(call, side), items }))
            .sort(({ call: one }, { call: other }) => Math.abs(other.value ?? 0) - Math.abs(one.value ?? 0));
    const [callers, callees] = [listOf("callers"), listOf("callees")];
    const inclusive = metricValue(metric, costs, "incl");
    const own = metricValue(metric, costs, "self");
    const cycle = report.functions.column("cycle")[fn]!;
    return (
        <>
            <div class="around" ref={element}>
                <Side
                    title="Callers" list={callers}
                    none="It is not called: the program, a thread or a signal handler begins here."
                />
                {width > 800 && <Ribbons list={callers} inwards />}
                <section class="centre" data-function={items.fullName(item)}>
                    <h2 title={items.fullName(item)}>{items.name(item)}</h2>
                    <p><small>{items.where(item)}</small></p>
                    <dl class="facts">
                        <dt>inclusive</dt>
                        <dd data-kind="incl" data-exact={inclusive ?? ""}>
                            {metricText(metric, inclusive)}
                            <Interval metric={metric} costs={costs} kind="incl" />{" "}
                            {report.comparing && signedChange(metric, change(metric, costs, "incl"))}
                        </dd>
                        <dt>self</dt>
                        <dd data-kind="self" data-exact={own ?? ""}>
                            {metricText(metric, own)}<Interval metric={metric} costs={costs} />{" "}
                            {report.comparing && signedChange(metric, change(metric, costs, "self"))}
                        </dd>
                        <dt>calls</dt>
                        <dd>{count(items.calls(item))}</dd>
                    </dl>
                    {!report.comparing && (
                        <OwnBar whole={metricValue(metric, report.totals, "self")} incl={inclusive} own={own} />
                    )}
                    {items.isCycle(item) ? <Members fns={items.members(item)} /> : cycle > 0 && (
                        <p class="note">
                            Calls itself by way of others (cycle {cycle}, {report.facts.cycles[cycle - 1]?.length}{" "}
                            functions): calls within the cycle have no cost here, and the inclusive cost is exact only
                            if this function was never open more than once. <i>Cycles</i> shows the cycle as one.
                        </p>
                    )}
                </section>
                {width > 800 && <Ribbons list={callees} inwards={false} />}
                <Side title="Callees" list={callees} none="It calls nothing." />
            </div>
            {!items.isCycle(item) && <FramesOf fn={fn} />}
            <p class="note">
                {report.comparing
                    ? `Change of ${inSentence(metric.title)}, inclusive. A band is as wide as its change is large, `
                        + "relative to what the whole program has now; blue is less, red is more."
                    : `${metric.title}, inclusive. A band is as wide as its share of the program, as the bar is: red `
                        + "what the function itself has, grey what it calls."}{" "}
                Calls of a function to itself, or within a cycle, have no cost
                of their own.
            </p>
        </>
    );
}

// The functions of a cycle, with their self costs.
function Members({ fns }: { fns: readonly number[] }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    return (
        <details class="members">
            <summary>{count(fns.length)} functions that call each other in circles</summary>
            <ul>
                {fns.slice(0, shownMembers).map((fn) => (
                    <li key={fn}>
                        <FunctionLink fn={fn} />{" "}
                        <small>self {metricText(metric, metricValue(metric, report.functionCosts(fn), "self"))}</small>
                    </li>
                ))}
            </ul>
            {fns.length > shownMembers && <p class="note">and {count(fns.length - shownMembers)} more</p>}
        </details>
    );
}

// The inclusive and the self cost of the function, as parts of the program.
function OwnBar({ whole, incl, own }: { whole: number | null; incl: number | null; own: number | null }) {
    if (!whole || incl === null || own === null) return null;
    const [inclusive, self] = [Math.min(incl / whole, 1), Math.min(own / whole, 1)];
    return (
        <div
            class="own-bar" role="img" data-self={self} data-incl={inclusive}
            aria-label={`${percent(own / whole)} of the program itself, ${percent(incl / whole)} with what it calls`}
        >
            <span class="self" style={{ width: `${100 * self}%` }} />
            <span class="below" style={{ width: `${100 * Math.max(inclusive - self, 0)}%` }} />
        </div>
    );
}

const signedChange = (metric: Metric, value: number | null): string =>
    (value === null ? "" : `(${signed(metricText(metric, value), value)})`);

function Side({ title, list, none }: { title: string; list: Neighbour[]; none: string }) {
    const { report } = usePage();
    const shown = list.slice(0, shownArcs);
    return (
        <section class="side">
            <h2>{title}</h2>
            {list.length === 0 && (report.arcs() ? <p class="note">{none}</p> : <Unread what="the calls" />)}
            <ul>
                {shown.map((item) => (
                    <Box item={item} key={item.call.row} />
                ))}
            </ul>
            {list.length > shownArcs && (
                <details>
                    <summary>{list.length - shownArcs} more</summary>
                    <ul>{list.slice(shownArcs, 300).map((item) => <Box item={item} key={item.call.row} />)}</ul>
                </details>
            )}
        </section>
    );
}

function Box({ item: { item, items, call } }: { item: Neighbour }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const total = metricValue(metric, report.totals, "self") ?? 0;
    const { value } = call;
    return (
        <li class="box" data-function={items.fullName(item)} data-exact={value ?? ""}>
            <ItemLink item={item} items={items} />
            <small>
                {value === null
                    ? "recursive"
                    : report.comparing
                      ? signed(metricText(metric, value), value)
                      : `${metricText(metric, value)} · ${percent(total ? value / total : 0)}`}
                {" · "}
                {times(call.calls, "call")}
            </small>
        </li>
    );
}

// Bands between a side and the middle, as wide as their share of the program; both sides have the same scale.
function Ribbons({ list, inwards }: { list: Neighbour[]; inwards: boolean }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const unused = report.shareFor(metric);
    const shown = list.slice(0, shownArcs);
    const whole = Math.abs(metricValue(metric, report.totals, "self") ?? 0);
    let at = centreBand.top;
    return (
        <svg
            class="ribbons" width={bandLength} height={sideTop + Math.max(4, shown.length) * (box.height + box.gap)}
            aria-hidden="true"
        >
            {shown.map(({ call: { row, value, costs } }, index) => {
                const share = whole ? Math.min(Math.abs(value ?? 0) / whole, 1) : 0;
                const part = Math.max(1, share * centreBand.height);
                const half = Math.min(part, box.height - 8) / 2;
                const y = sideTop + index * (box.height + box.gap) + box.height / 2;
                const middle: [number, number] = [at, at + part];
                at += part;
                const colour = report.comparing
                    ? changeColour(Math.sign(value ?? 0) * 0.8)
                    : shareColour(unused && costs ? metricValue(unused, costs, "incl") : null);
                const side: [number, number] = [y - half, y + half];
                const [left, right] = inwards ? [side, middle] : [middle, side];
                const bend = bandLength / 2;
                return (
                    <path
                        key={row} data-band={part} fill={css(colour)} opacity="0.85"
                        d={`M0,${left![0]} C${bend},${left![0]} ${bend},${right![0]} ${bandLength},${right![0]} `
                            + `V${right![1]} C${bend},${right![1]} ${bend},${left![1]} 0,${left![1]}Z`}
                    />
                );
            })}
        </svg>
    );
}
