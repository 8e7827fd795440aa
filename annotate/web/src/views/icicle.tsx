// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calling context tree as a picture: width is cost, colour what share of it was never used.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changeColour, css, dimmed, leastScale, plain, shareColour, textOn } from "../colours";
import { usePage, useSize } from "../context";
import { metricValue } from "../costs";
import { Cell, picture, rectAt, widths, type Picture, type Rect } from "../flame";
import { baseName, count, fitted, grouped, inSentence, metricText, percent, signed } from "../format";
import { SearchBox, useMatch, type Found } from "../find";
import { AboveButton, Empty, FullTree, Legend, SizePicker, Unread, foldsStart } from "../parts";

const rowHeight = 20;
const font = "12px system-ui, sans-serif";

export function Icicle() {
    const { report, state, link } = usePage();
    if (!report.isReady(state)) return <Unread what="the calling contexts" />;
    if (!report.tree) {
        return (
            <div class="explain">
                <h2>This profile has no calling contexts</h2>
                <p>
                    It knows what each call from one function to another cost, but not on which paths: an icicle drawn
                    from it would be guessed where paths meet. Run the program with <code>--context-tree=yes</code>, and
                    this view shows every path with its exact cost.
                </p>
                <p>
                    Until then, see <a href={link({ view: "graph" })}>callers and callees</a> or{" "}
                    <a href={link({ view: "tables", table: "callers" })}>the table of callers</a>: both are exact.
                </p>
            </div>
        );
    }
    return <IcicleOf />;
}

function IcicleOf() {
    const { report, state, go } = usePage();
    const tree = report.tree!;
    const metric = report.sizeMetric(state.metric);
    const sandwich = state.focus ? state.fn : null;
    const matches = useMatches();
    const fold = foldsStart(report, state);
    const values = useMemo(
        () => widths(tree, metric, report.comparing, new Set(state.hide)),
        [metric, state.hide.join(".")],
    );
    const [element, { width }] = useSize<HTMLDivElement>();
    const [found, setFound] = useState<Found>({ count: 0, at: -1, choose: () => undefined });
    const exact = tree.otherFrame !== null && !state.hide.length ? { report, metric } : null;
    const shown = useMemo(
        () => (width ? picture(tree, values, { node: state.node, sandwich, width, fold, exact }) : null),
        [values, state.node, sandwich, width, fold, exact !== null],
    );
    const start = state.node !== null && state.node < tree.size ? tree.path(state.node) : [];
    const crumbs = fold && !(start.length && tree.isStart(start.at(-1)!))
        ? start.filter((node) => !tree.isStart(node)) : start;
    return (
        <div class="icicle">
            <div class="bar">
                <SizePicker />
                <SearchBox placeholder="Search functions" found={found} />
                <button type="button" aria-pressed={state.focus} disabled={state.fn === null}
                    title="The chosen function, its callers above it and its callees below, over all paths"
                    onClick={() => go({ focus: !state.focus, node: null })}
                >
                    Callers and callees
                </button>
                <button
                    type="button" disabled={state.fn === null} title="Leave the chosen function out, with all it calls"
                    onClick={() => state.fn !== null && go({ hide: [...state.hide, state.fn], focus: false })}>
                    Hide
                </button>
                <AboveButton />
                <button type="button" disabled={state.node === null && !state.focus && !state.hide.length && !state.q}
                    onClick={() => go({ node: null, focus: false, hide: [], q: "" })}>
                    Reset
                </button>
                <Legend kind={report.comparing ? "change" : "share"} share={report.shareFor(metric)} />
            </div>
            <nav class="crumbs" aria-label="Path">
                {sandwich !== null ? (
                    <span>{report.name(sandwich)}: callers above, callees below, over all paths</span>
                ) : (
                    <>
                        <button type="button" class="crumb" onClick={() => go({ node: null })}>all</button>
                        {crumbs.map((node) => (
                            <button type="button" class="crumb" key={node} onClick={() => go({ node })}>
                                {report.label(report.facts.frames[tree.frame[node]!]!)}
                            </button>
                        ))}
                    </>
                )}
                {state.hide.map((fn) => (
                    <button
                        type="button" class="hidden-fn" key={fn} title="Show it again"
                        onClick={() => go({ hide: state.hide.filter((other) => other !== fn) })}
                    >
                        without {report.name(fn)}
                    </button>
                ))}
                {matches && <MatchShare matches={matches} values={values.after} />}
            </nav>
            <FullTree metric={metric} />
            <div class="picture" ref={element}>
                {shown && shown.levels.length > 0 ? (
                    <Canvas shown={shown} width={width} matches={matches} total={values} setFound={setFound} />
                ) : shown && <Empty>Nothing here has any {inSentence(metric.title)}.</Empty>}
            </div>
            <p class="note">
                Width: {inSentence(metric.title)}{report.comparing
                    ? ": what is more and what is less, added up; blue is less, red is more" : ""}. Arrow keys
                move, Enter zooms in, Backspace out, f shows callers and callees, x hides.
            </p>
        </div>
    );
}

// Per frame whether the search finds it.
function useMatches(): Uint8Array | null {
    const { report } = usePage();
    const match = useMatch();
    return useMemo(
        () => match && Uint8Array.from(report.facts.frames, (frame) =>
            ((typeof frame === "number" ? report.matches(match, frame) : match(frame)) ? 1 : 0)),
        [match],
    );
}

function MatchShare({ matches, values }: { matches: Uint8Array; values: Float64Array }) {
    const { report } = usePage();
    const tree = report.tree!;
    const share = useMemo(() => {
        // Each matching path once, from its first match on.
        const inside = new Uint8Array(tree.size);
        let found = 0;
        let all = 0;
        for (let node = 0; node < tree.size; ++node) {
            const above = tree.above(node);
            if (above === null) all += values[node]!;
            inside[node] = (above !== null && inside[above]) || matches[tree.frame[node]!] ? 1 : 0;
            if (inside[node] && !(above !== null && inside[above])) found += values[node]!;
        }
        return all ? found / all : 0;
    }, [matches, values]);
    return <span class="tag">{percent(share)} in what matches</span>;
}

interface CanvasProps {
    shown: Picture;
    width: number;
    matches: Uint8Array | null;
    total: { after: Float64Array };
    setFound: (found: Found) => void;
}

function Canvas({ shown, width, matches, total, setFound }: CanvasProps) {
    const { report, state, go, dark } = usePage();
    const tree = report.tree!;
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [under, setUnder] = useState<{ rect: Rect; x: number; y: number } | null>(null);
    const [cursor, setCursor] = useState<Rect | null>(null);
    const [view, setView] = useState({ top: 0, height: 600 });
    const metric = report.sizeMetric(state.metric);
    const share = report.shareFor(metric);

    // The rows from the top: callers (the farthest first), what is above, the picture itself.
    const rows = useMemo((): Rect[][] => {
        const above = shown.above.map((cell): Rect[] => [{ cell, x: 0, width, depth: 0 }]);
        return [...[...shown.upwards].reverse(), ...above, ...shown.levels];
    }, [shown, width]);
    const first = shown.upwards.length + shown.above.length;
    useEffect(() => { setCursor(null); setUnder(null); }, [rows]);
    useEffect(() => {
        const element = box.current;
        if (!element) return;
        element.scrollTop = Math.max(0, first * rowHeight - element.clientHeight / 2);
        setView({ top: element.scrollTop, height: element.clientHeight });
    }, [rows]);

    useEffect(() => {
        const element = canvas.current;
        const context = element?.getContext("2d");
        if (!element || !context) return;
        const scale = Math.max(window.devicePixelRatio || 1, leastScale);
        element.width = Math.round(width * scale);
        element.height = Math.round(view.height * scale);
        context.scale(scale, scale);
        context.clearRect(0, 0, width, view.height);
        context.font = font;
        context.textBaseline = "middle";
        const from = Math.floor(view.top / rowHeight);
        const to = Math.ceil((view.top + view.height) / rowHeight);
        for (let row = from; row < Math.min(to, rows.length); ++row) {
            for (const rect of rows[row]!) {
                draw(context, rect, row * rowHeight - view.top, row < first && row >= shown.upwards.length);
            }
        }
        const marked = cursor ?? under?.rect;
        const markedRow = marked ? rows.findIndex((level) => level.includes(marked)) : -1;
        if (marked && markedRow >= 0) {
            context.strokeStyle = dark ? "#ffffff" : "#000000";
            context.lineWidth = 2;
            const [x, y] = [marked.x + 1, markedRow * rowHeight - view.top + 1];
            context.strokeRect(x, y, Math.max(marked.width - 2, 1), rowHeight - 2);
        }
        function draw(to: CanvasRenderingContext2D, rect: Rect, y: number, isAbove: boolean): void {
            const { cell } = rect;
            const frame = cell.group.frame;
            let colour = colourOf(cell);
            if (isAbove || (matches && !matches[frame])) colour = matches && !isAbove ? fade(colour, dark) : dimmed;
            to.fillStyle = css(colour);
            const gap = rect.width > 3 ? 1 : 0;
            to.fillRect(rect.x, y, Math.max(rect.width - gap, 0.6), rowHeight - 1);
            if (cell.name === state.fn && state.fn !== null && rect.width > 2) {
                to.strokeStyle = dark ? "#ffffff" : "#16191d";
                to.lineWidth = 1.5;
                to.strokeRect(rect.x + 0.75, y + 0.75, Math.max(rect.width - gap - 1.5, 0.5), rowHeight - 2.5);
            }
            if (rect.width > 34) {
                to.fillStyle = textOn(colour);
                const fits = (text: string): boolean => to.measureText(text).width <= rect.width - 8;
                to.fillText(fitted(report.label(cell.name) + changeOf(cell), fits), rect.x + 4, y + rowHeight / 2);
            }
        }
        // As far as there is room for it whole.
        function changeOf(cell: Cell): string {
            return report.comparing ? ` ${signed(count(cell.after - cell.before), cell.after - cell.before)}` : "";
        }
        function colourOf(cell: Cell): readonly [number, number, number] {
            if (report.comparing) return changeColour(cell.size ? (cell.after - cell.before) / cell.size : 0);
            if (!share) return plain;
            return shareColour(metricValue(share, cell.costs, "incl"));
        }
    }, [rows, width, view, under, cursor, matches, dark, state.fn]);

    const moveTo = (next: Rect): void => {
        setCursor(next);
        const y = rows.findIndex((level) => level.includes(next)) * rowHeight;
        const element = box.current!;
        if (y < element.scrollTop || y + rowHeight > element.scrollTop + element.clientHeight) {
            element.scrollTop = y - element.clientHeight / 2;
        }
    };
    // The cells that the search finds, the widest first.
    const found = useMemo(
        () => (matches ? rows.flat().filter(({ cell }) => matches[cell.group.frame]) : [])
            .sort((one, other) => other.width - one.width),
        [rows, matches],
    );
    useEffect(() => setFound({
        count: found.length, at: cursor ? found.indexOf(cursor) : -1, choose: (number) => moveTo(found[number]!),
    }), [found, cursor]);
    const find = (event: MouseEvent): Rect | null => {
        const bounds = canvas.current!.getBoundingClientRect();
        const row = Math.floor((event.clientY - bounds.top + view.top) / rowHeight);
        return rectAt(rows, row, event.clientX - bounds.left);
    };
    const zoom = (cell: Cell): void => {
        const fn = typeof cell.name === "number" ? cell.name : null;
        if (cell.group.isStart) go({ above: true });
        else if (state.focus) {
            if (fn !== null) go({ fn });
        } else if (cell.group.at.length === 1) {
            go({ node: cell.group.at[0]!, ...(fn === null ? {} : { fn }) });
        }
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const at = cursor ?? rows[first]?.[0] ?? null;
        if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
        const row = rows.findIndex((level) => level.includes(at));
        const level = rows[row]!;
        const index = level.indexOf(at);
        const middle = at.x + Math.min(at.width, 2) / 2;
        const moves: Record<string, () => Rect | null | undefined> = {
            ArrowDown: () => (cursor ? (rectAt(rows, row + 1, middle) ?? null) : at),
            ArrowUp: () => rectAt(rows, row - 1, middle),
            ArrowLeft: () => level[index - 1],
            ArrowRight: () => level[index + 1],
        };
        const acts: Record<string, () => void> = {
            Enter: () => zoom(at.cell),
            Backspace: () => state.node !== null && go({ node: tree.above(state.node) }),
            Escape: () => go({ node: null, focus: false }),
            f: () => typeof at.cell.name === "number" && go({ fn: at.cell.name, focus: true, node: null }),
            x: () => typeof at.cell.name === "number" && go({ hide: [...state.hide, at.cell.name], focus: false }),
        };
        const move = moves[event.key];
        const act = acts[event.key];
        if (!move && !act) return;
        event.preventDefault();
        act?.();
        const next = move?.();
        if (next) moveTo(next);
    };
    const whole = useMemo(() => Array.from(tree.roots).reduce((sum, node) => sum + total.after[node]!, 0), [total]);
    const described = cursor ?? under?.rect ?? null;
    return (
        <>
            <div
                class="canvas-box" ref={box} tabIndex={0} role="application"
                aria-label={"Icicle of calling contexts: arrow keys move, Enter zooms in; "
                    + "the tables have the same numbers as text"}
                onKeyDown={onKeyDown}
                onScroll={(event) => {
                    const element = event.currentTarget as HTMLDivElement;
                    setView({ top: element.scrollTop, height: element.clientHeight });
                }}
            >
                <canvas
                    ref={canvas} style={{ height: `${view.height}px` }}
                    data-cells={rows.reduce((sum, level) => sum + level.length, 0)}
                    onMouseMove={(event) => {
                        const rect = find(event);
                        setCursor(null);
                        setUnder(rect && { rect, x: event.clientX, y: event.clientY });
                    }}
                    onMouseLeave={() => setUnder(null)}
                    onClick={(event) => { const rect = find(event); if (rect) zoom(rect.cell); }}
                />
                <div style={{ height: `${Math.max(0, rows.length * rowHeight - view.height)}px` }} />
            </div>
            {under && <Tip cell={under.rect.cell} x={under.x} y={under.y} whole={whole} />}
            <p class="spoken" aria-live="polite">
                {described ? `${report.label(described.cell.name)}: ${count(described.cell.after)}, `
                    + percent(whole ? described.cell.after / whole : 0) : ""}
            </p>
        </>
    );
}

function Tip({ cell, x, y, whole }: { cell: Cell; x: number; y: number; whole: number }) {
    const { report, state } = usePage();
    const metric = report.sizeMetric(state.metric);
    const share = report.shareFor(metric);
    const { group } = cell;
    const own = metricValue(metric, cell.costs, "self");
    const [file, line] = report.facts.places[group.place] ?? [-1, 0];
    const left = Math.min(x + 14, window.innerWidth - 330);
    return (
        <div
            class="tip"
            style={{ left: `${Math.max(left, 4)}px`, top: `${Math.min(y + 16, window.innerHeight - 170)}px` }}
        >
            <b>{report.label(cell.name)}</b>
            {typeof cell.name === "number" && <small>{report.where(cell.name)}</small>}
            {group.isStart && <small>starts the program: a click shows its functions</small>}
            {group.place > 0 && line > 0 && (
                <small>called from {baseName(report.facts.files[file] ?? "")}:{line}</small>
            )}
            <dl class="facts">
                <dt>{metric.heading}</dt>
                <dd>{count(cell.after)} · {percent(whole ? cell.after / whole : 0)} of all</dd>
                {report.comparing && (
                    <>
                        <dt>before</dt>
                        <dd>
                            {count(cell.before)} ({signed(count(cell.after - cell.before), cell.after - cell.before)})
                        </dd>
                    </>
                )}
                <dt>self</dt>
                <dd>{metricText(metric, own)}</dd>
                {share && (
                    <>
                        <dt>{share.heading}</dt>
                        <dd>{metricText(share, metricValue(share, cell.costs, "incl"))}</dd>
                    </>
                )}
                {!group.isStart && group.at.length > 0 && <><dt>calls</dt><dd>{grouped(group.calls())}</dd></>}
            </dl>
        </div>
    );
}

function fade([r, g, b]: readonly [number, number, number], dark: boolean): readonly [number, number, number] {
    const to = dark ? 40 : 236;
    const mixed = (part: number): number => Math.round(0.2 * part + 0.8 * to);
    return [mixed(r), mixed(g), mixed(b)];
}
