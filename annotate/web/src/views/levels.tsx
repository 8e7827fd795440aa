// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function between several levels of callers and callees as a picture, and the same calls as a table.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { around } from "../around";
import { Calls, type Call } from "../calls";
import { usePage, useSize } from "../context";
import { change, metricValue } from "../costs";
import type { Match } from "../find";
import { count, exactText, grouped, inSentence, metricText, percent, signed, times } from "../format";
import type { Items } from "../items";
import { Menu, type Chosen } from "../menu";
import { Interval, ItemLink, Unread } from "../parts";
import { Popup } from "../popup";
import { save } from "../save";
import { drawing, neighbourOf, type Drawing, type Node } from "./levels_layout";
import { Drawn, textOf } from "./levels_paint";

const mostInLevel = 12; // functions, on each side
const mostListed = 300; // calls
const mostMembers = 12; // functions of a cycle in a tip
const scrollBar = 18; // pixels

// The element that the mouse or the keyboard focus is on.
interface At {
    node: Node | null;
    call: Call | null;
    x: number;
    y: number;
}

export function Levels({ fn, match }: { fn: number; match: Match | null }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const whole = Math.abs(metricValue(metric, report.totals, "self") ?? 0);
    const [element, { width }] = useSize<HTMLDivElement>();
    const calls = useMemo(
        () => Calls.of(report, metric, state.cycles), [report, metric, state.cycles, report.arcs()],
    );
    const centre = calls?.items.of(fn) ?? fn;
    const drawn = useMemo(() => {
        if (!calls || !width) return null;
        const least = (whole * Number(state.least)) / 100;
        const found = around(calls, centre, { levels: Number(state.levels), least, most: mostInLevel });
        return drawing(found, { whole, width: width - scrollBar, least });
    }, [calls, centre, state.levels, state.least, width, whole]);
    return (
        <>
            <div ref={element}>
                {!calls ? <Unread what="the calls" />
                    : drawn && (
                        <Picture
                            fn={fn} drawn={drawn} items={calls.items} whole={whole} match={match} key={centre}
                        />
                    )}
            </div>
            <p class="note">
                {report.comparing
                    ? `Change of ${inSentence(metric.title)}, inclusive. A band is as wide as its change is large, `
                        + "relative to what the whole program has now; blue is less, red is more."
                    : `${metric.title}, inclusive. A band is as wide as its share of the program.`}{" "}
                Calls lead from the left to the right. Their cost is exact: that of all calls of the one function by
                the other, on any path. Left out are
                {state.least === "0" ? "" : ` calls with less than ${state.least}% of the program,`} more
                than {mostInLevel} functions of a level each way, and calls from callers to callees that pass the
                function in the middle by. Dashed lines are recursion, whose cost is in that of other calls.
            </p>
            {drawn && calls && <CallList drawn={drawn} items={calls.items} whole={whole} />}
        </>
    );
}

function Picture({ fn, drawn, items, whole, match }: {
    fn: number;
    drawn: Drawing;
    items: Items;
    whole: number;
    match: Match | null;
}) {
    const page = usePage();
    const { state, go } = page;
    const box = useRef<HTMLDivElement>(null);
    const svg = useRef<SVGSVGElement>(null);
    const [cursor, setCursor] = useState<number | null>(null);
    const [under, setUnder] = useState<At | null>(null);
    const [menu, setMenu] = useState<Chosen | null>(null);
    const node = drawn.nodes.find(({ key }) => key === cursor) ?? drawn.centre;
    const placeOf = ({ x, y, height }: Node): { x: number; y: number } => {
        const bounds = svg.current!.getBoundingClientRect();
        return { x: bounds.left + x, y: bounds.top + y + height };
    };
    const reveal = ({ x, y, height }: Node): void => {
        const element = box.current!;
        const { clientWidth, clientHeight } = element;
        if (x < element.scrollLeft || x + drawn.boxWidth > element.scrollLeft + clientWidth) {
            element.scrollLeft = x + (drawn.boxWidth - clientWidth) / 2;
        }
        if (y < element.scrollTop || y + height > element.scrollTop + clientHeight) {
            element.scrollTop = y + (height - clientHeight) / 2;
        }
    };
    useEffect(() => { setUnder(null); setMenu(null); reveal(drawn.centre); }, [drawn]);
    const fnOf = (to: Node): number => (to.isCentre ? fn : items.fn(to.item));
    const choose = (to: Node): void => {
        setCursor(to.key);
        if (to.rest === null) go({ fn: fnOf(to), centre: to.isCentre ? null : fn }, true);
    };
    // The picture with one level lists what is left out.
    const enter = (to: Node): void => {
        if (to.rest !== null) go({ fn: items.fn(to.item), levels: "1" });
        else if (!to.isCentre || state.fn !== fn) go({ fn: fnOf(to) });
    };
    const move = (to: Node | null): void => {
        if (!to) return;
        setCursor(to.key);
        reveal(to);
        setUnder({ node: to, call: null, ...placeOf(to) });
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const { key } = event;
        if (key.startsWith("Arrow")) move(neighbourOf(drawn, node, key.slice(5) as "Left"));
        else if (key === "Home") move(drawn.centre);
        else if (key === "Enter") enter(node);
        else if (key === " ") choose(node);
        else if (key === "Escape") {
            setUnder(null);
            choose(drawn.centre);
            reveal(drawn.centre);
        } else return;
        event.preventDefault();
    };
    const openMenu = (event: MouseEvent): void => {
        event.preventDefault();
        const at = nodeAt(event) ?? node;
        if (at.rest !== null) return;
        setCursor(at.key);
        setUnder(null);
        const isPlaced = event.target instanceof SVGElement;
        const { x, y } = isPlaced ? { x: event.clientX, y: event.clientY } : placeOf(at);
        setMenu({ x, y, fn: fnOf(at), node: null, stack: [] });
    };
    const keyAt = ({ target }: Event): [string, number] | null => {
        const { dataset } = (target as Element).closest<SVGElement>("[data-node], [data-call]") ?? { dataset: {} };
        const { node: ofNode, call } = dataset as DOMStringMap;
        return ofNode !== undefined ? ["node", Number(ofNode)] : call !== undefined ? ["call", Number(call)] : null;
    };
    const nodeAt = (event: Event): Node | null => {
        const [kind, key] = keyAt(event) ?? [];
        return kind === "node" ? drawn.nodes.find((one) => one.key === key) ?? null : null;
    };
    const onMouseMove = (event: MouseEvent): void => {
        const [kind, key] = keyAt(event) ?? [];
        const call = kind === "call" ? drawn.calls.find(({ row }) => row === key) ?? null : null;
        const at = nodeAt(event);
        setUnder(at || call ? { node: at, call, x: event.clientX, y: event.clientY } : null);
    };
    const spoken = cursor === null ? "" : `${nameOf(items, node)}: ${textOf(page, items, node, whole)}`;
    return (
        <>
            <div
                class="picture levels" ref={box} tabIndex={0} role="application" onKeyDown={onKeyDown}
                aria-label={"Call graph of several levels: arrow keys move, Enter puts a function in the middle, Space "
                    + "chooses it, Escape goes back to the middle; the table below has the same numbers"}
                onMouseMove={onMouseMove} onMouseLeave={() => setUnder(null)} onContextMenu={openMenu}
                onBlur={() => setUnder(null)}
                onClick={(event) => { const at = nodeAt(event); if (at) choose(at); }}
                onDblClick={(event) => { const at = nodeAt(event); if (at) enter(at); }}
            >
                <Drawn
                    drawn={drawn} items={items} whole={whole} match={match} element={svg}
                    cursor={cursor === null ? null : node.key}
                />
            </div>
            <p class="spoken" aria-live="polite">{spoken}</p>
            {under && <Tip at={under} items={items} whole={whole} />}
            {menu && <Menu chosen={menu} close={() => setMenu(null)} />}
            <div class="bar below">
                <Popup title="Save">
                    <p>
                        <button
                            type="button"
                            onClick={() => svg.current && save("calls.svg", "image/svg+xml", fileOf(svg.current))}
                        >
                            Picture as SVG
                        </button>
                    </p>
                </Popup>
                <small>
                    A click chooses a function, a double click puts it in the middle; “more” leads to the list
                    of all.
                </small>
            </div>
        </>
    );
}

const nameOf = (items: Items, { item, rest }: Node): string =>
    (rest ? `${rest.count} more ${rest.side} of ${items.name(item)}` : items.name(item));

function Tip({ at: { node, call, x, y }, items, whole }: { at: At; items: Items; whole: number }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const shareOf = (value: number): string => percent(whole ? value / whole : 0);
    const share = report.shareFor(metric);
    const costs = call ? call.costs : node && !node.rest ? items.costs(node.item) : null;
    const number = (kind: "incl" | "self"): string => {
        const value = metricValue(metric, costs!, kind);
        return value === null ? "–" : `${metricText(metric, value)} · ${shareOf(value)} of all`;
    };
    return (
        <div
            class="tip"
            style={{
                left: `${Math.max(4, Math.min(x + 14, window.innerWidth - 330))}px`,
                top: `${Math.max(4, Math.min(y + 16, window.innerHeight - 190))}px`,
            }}
        >
            {call && <b>{items.name(call.caller)} → {items.name(call.callee)}</b>}
            {node && <b>{nameOf(items, node)}</b>}
            {node && !node.rest && <small>{items.where(node.item, mostMembers)}</small>}
            {call && !costs && <small>recursion: its cost is in that of other calls</small>}
            {node?.rest && <small>left out of the picture; Enter or a double click lists them all</small>}
            <dl class="facts">
                {costs && (
                    <>
                        <dt>{metric.heading}{call ? "" : ", inclusive"}</dt>
                        <dd>{number("incl")}<Interval metric={metric} costs={costs} kind="incl" /></dd>
                        {report.comparing && (
                            <><dt>change</dt><dd>{changeText(metric, change(metric, costs, "incl"))}</dd></>
                        )}
                    </>
                )}
                {costs && node && (
                    <><dt>self</dt><dd>{number("self")}<Interval metric={metric} costs={costs} /></dd></>
                )}
                {node?.rest && (
                    <>
                        <dt>{report.comparing ? "change" : metric.heading}</dt>
                        <dd>{report.comparing ? changeText(metric, node.rest.value)
                            : `${metricText(metric, node.rest.value)} · ${shareOf(node.rest.value)} of all`}</dd>
                    </>
                )}
                {share && costs && (
                    <><dt>{share.heading}</dt><dd>{metricText(share, metricValue(share, costs, "incl"))}</dd></>
                )}
                {call && <><dt>calls</dt><dd>{grouped(call.calls)}</dd></>}
                {node && !node.rest && <><dt>called</dt><dd>{times(items.calls(node.item), "time")}</dd></>}
            </dl>
        </div>
    );
}

const changeText = (metric: Parameters<typeof metricText>[0], value: number | null): string =>
    signed(metricText(metric, value), value);

// The calls of the picture, the costliest first.
function CallList({ drawn, items, whole }: { drawn: Drawing; items: Items; whole: number }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const sorted = [...drawn.calls].sort((one, other) =>
        Number(other.costs !== null) - Number(one.costs !== null) || other.weight - one.weight || one.row - other.row);
    return (
        <details class="numbers">
            <summary>The same as a table: {times(sorted.length, "call")} of one function by another</summary>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Calls">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">caller</th>
                            <th scope="col">callee</th>
                            <th scope="col" class="n">{metric.heading}{report.comparing ? ", change" : ""}</th>
                            <th scope="col" class="n">of all</th>
                            <th scope="col" class="n">calls</th>
                        </tr>
                    </thead>
                    <tbody>
                        {sorted.slice(0, mostListed).map((call) => (
                            <tr key={call.row} data-value={call.value ?? ""}>
                                <td><ItemLink item={call.caller} items={items} /></td>
                                <td><ItemLink item={call.callee} items={items} /></td>
                                <td class="n" title={call.costs ? exactText(metric, call.value) : ""}>
                                    {!call.costs ? "recursive"
                                        : report.comparing ? changeText(metric, call.value)
                                        : metricText(metric, call.value)}
                                </td>
                                <td class="n">{call.value !== null && whole ? percent(call.value / whole) : ""}</td>
                                <td class="n">{count(call.calls)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </details>
    );
}

// The picture as a file: with the colours of the page, and without references to the page.
function fileOf(svg: SVGSVGElement): string {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    for (const element of [copy, ...Array.from(copy.querySelectorAll("*"))]) {
        for (const { name } of Array.from(element.attributes)) {
            if (/^(data-|aria-|class$)/.test(name)) element.removeAttribute(name);
        }
    }
    copy.setAttribute("font-family", "sans-serif");
    const style = getComputedStyle(document.documentElement);
    return new XMLSerializer().serializeToString(copy)
        .replace(/var\((--[a-z]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim())
        // XML allows no other control characters, not even as references.
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}
