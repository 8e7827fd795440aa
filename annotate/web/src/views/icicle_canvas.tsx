// SPDX-License-Identifier: GPL-2.0-or-later
//
// The icicle on the screen, with mouse and keys.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { leastScale } from "../colours";
import { usePage } from "../context";
import { panned, rectAt, wholeWindow, zoomed, type Cell, type Picture, type Rect, type Window } from "../flame";
import type { Found } from "../find";
import { count, percent } from "../format";
import { Menu, type Chosen } from "../menu";
import { CanvasPainter } from "../painter";
import { metricValue } from "../costs";
import { initialPaths } from "../state";
import type { ContextTree } from "../tree";
import { font, paintRows, pathsOf, rowHeight, rowsOf, type Painting } from "./icicle_paint";
import { Tip } from "./icicle_tip";

const closer = 0.8; // factor on the window for a key or a step of the wheel
const step = 0.2; // share of the window that a key moves it by
const leastDrag = 4; // pixels

interface Props {
    tree: ContextTree;
    shown: Picture;
    width: number;
    painting: Painting;
    upside: boolean;
    setFound: (found: Found) => void;
    window: Window;
    look: (window: Window) => void;
}

export function Canvas({ tree, shown, width, painting, upside, setFound, window, look }: Props) {
    const { report, state, go, dark } = usePage();
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [under, setUnder] = useState<{ cell: Cell; x: number; y: number } | null>(null);
    const [cursor, setCursor] = useState<Cell | null>(null);
    const [menu, setMenu] = useState<Chosen | null>(null);
    const [view, setView] = useState({ top: 0, height: 600 });
    const { matches, metric } = painting;
    const laid = useMemo(() => rowsOf(shown, width), [shown, width]);
    const { rows, first } = laid;
    const whole = metricValue(metric, report.totals, "self") ?? 0;
    const start = shown.levels[0]?.[0]?.cell ?? null;

    // The place of a cell in the picture; null: it is outside, or too narrow.
    const placeOf = (cell: Cell | null): { row: number; rect: Rect } | null => {
        if (!cell) return null;
        for (let row = 0; row < rows.length; ++row) {
            const rect = rows[row]!.find((one) => one.cell === cell);
            if (rect) return { row, rect };
        }
        return null;
    };
    useEffect(() => { setCursor(null); setUnder(null); setMenu(null); }, [tree, start, first]);
    useEffect(() => {
        const element = box.current;
        if (!element) return;
        element.scrollTop = Math.max(0, first * rowHeight - element.clientHeight / 2);
        setView({ top: element.scrollTop, height: element.clientHeight });
    }, [start, first]);

    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context) return;
        const scale = Math.max(globalThis.devicePixelRatio || 1, leastScale);
        const painter = new CanvasPainter(context, width, view.height, scale, font);
        paintRows(painter, painting, laid, { ...view, width });
        const marked = placeOf(cursor ?? under?.cell ?? null);
        if (!marked) return;
        const { row, rect } = marked;
        const x = Math.max(rect.x, 0);
        painter.outline(
            x + 1, row * rowHeight - view.top + 1, Math.max(Math.min(rect.x + rect.width, width) - x - 2, 1),
            rowHeight - 2, dark ? "#ffffff" : "#000000", 2,
        );
    }, [laid, view, under, cursor, matches, dark, state.fn, painting.palette]);

    const moveTo = (next: Cell): void => {
        setCursor(next);
        const y = (placeOf(next)?.row ?? 0) * rowHeight;
        const element = box.current!;
        if (y < element.scrollTop || y + rowHeight > element.scrollTop + element.clientHeight) {
            element.scrollTop = y - element.clientHeight / 2;
        }
    };
    // The cells that the search finds, the widest first.
    const found = useMemo(
        () => (matches ? rows.flat().filter(({ cell }) => matches[cell.group.frame]) : [])
            .sort((one, other) => other.width - one.width).map(({ cell }) => cell),
        [rows, matches],
    );
    useEffect(() => setFound({
        count: found.length, at: cursor ? found.indexOf(cursor) : -1, choose: (number) => moveTo(found[number]!),
    }), [found, cursor]);

    const find = ({ clientX, clientY }: MouseEvent): Cell | null => {
        const bounds = canvas.current!.getBoundingClientRect();
        const row = Math.floor((clientY - bounds.top + view.top) / rowHeight);
        return rectAt(rows, row, clientX - bounds.left)?.cell ?? null;
    };
    const functionOf = (cell: Cell): number | null => (typeof cell.name === "number" ? cell.name : null);
    const choose = (cell: Cell): void => {
        setCursor(cell);
        const fn = functionOf(cell);
        if (fn !== null && !state.focus) go({ fn }, true);
    };
    const nodeOf = (cell: Cell): number | null =>
        (cell.group.at.length === 1 && !upside && !state.focus ? tree.original(cell.group.at[0]!) : null);
    const zoom = (cell: Cell): void => {
        const fn = functionOf(cell);
        const node = nodeOf(cell);
        if (cell.group.isStart) go({ above: true });
        else if (state.focus || upside) {
            if (fn !== null) go({ fn, focus: true, node: null });
        } else if (node !== null) go({ node, ...(fn === null ? {} : { fn }) });
    };
    // The names on the path to a cell, the outermost first.
    const stackOf = (cell: Cell): string[] => {
        const place = placeOf(cell);
        const path = pathsOf(cell).map(({ name }) => report.label(name));
        if (upside || (place && place.row < laid.above)) return path;
        return [...shown.above.map(({ name }) => report.label(name)), ...path.reverse()];
    };
    const openMenu = (event: MouseEvent): void => {
        event.preventDefault();
        const isOnCanvas = event.target === canvas.current;
        const cell = (isOnCanvas ? find(event) : null) ?? cursor;
        if (!cell) return;
        setCursor(cell);
        setUnder(null);
        // The menu key gives no position, so that the menu opens at the cell.
        const place = placeOf(cell);
        const bounds = canvas.current!.getBoundingClientRect();
        const at = isOnCanvas || !place ? { x: event.clientX, y: event.clientY } : {
            x: bounds.left + Math.max(place.rect.x, 0) + 20,
            y: bounds.top + (place.row + 1) * rowHeight - view.top,
        };
        setMenu({ ...at, fn: functionOf(cell), node: nodeOf(cell), stack: stackOf(cell) });
    };

    // A drag moves the picture; anything shorter is a click.
    const isDrag = useRef(false);
    const onPointerDown = (event: PointerEvent): void => {
        if (event.button !== 0 || event.pointerType === "touch") return;
        isDrag.current = false;
        const element = event.currentTarget as HTMLElement;
        const scrolled = box.current!.scrollTop;
        const { clientX: x, clientY: y } = event;
        element.onpointermove = (move) => {
            if (!isDrag.current && Math.hypot(move.clientX - x, move.clientY - y) < leastDrag) return;
            if (!isDrag.current) element.setPointerCapture(event.pointerId);
            isDrag.current = true;
            setUnder(null);
            look(panned(window, (x - move.clientX) / width));
            box.current!.scrollTop = scrolled + y - move.clientY;
        };
        const end = (): void => { element.onpointermove = element.onpointerup = element.onpointerleave = null; };
        element.onpointerup = end;
        element.onpointerleave = () => { if (!isDrag.current) end(); };
    };
    useEffect(() => {
        const element = canvas.current;
        if (!element) return;
        const onWheel = (event: WheelEvent): void => {
            const across = event.deltaX || (event.shiftKey ? event.deltaY : 0);
            if (event.ctrlKey || event.metaKey) {
                const at = (event.clientX - element.getBoundingClientRect().left) / width;
                look(zoomed(window, at, event.deltaY > 0 ? 1 / closer : closer));
            } else if (across && window.to - window.from < 1) look(panned(window, across / width));
            else return;
            event.preventDefault();
        };
        element.addEventListener("wheel", onWheel, { passive: false });
        return () => element.removeEventListener("wheel", onWheel);
    }, [window, width]);

    const onKeyDown = (event: KeyboardEvent): void => {
        const place = placeOf(cursor) ?? (rows[first]?.[0] ? { row: first, rect: rows[first]![0]! } : null);
        if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
        const { row, rect } = place;
        const at = rect.cell;
        const fn = functionOf(at);
        const level = rows[row]!;
        const index = level.indexOf(rect);
        const middle = Math.max(rect.x, 0) + Math.min(rect.width, 2) / 2;
        const moves: Record<string, () => Rect | null | undefined> = {
            ArrowDown: () => (cursor ? rectAt(rows, row + 1, middle) : rect),
            ArrowUp: () => rectAt(rows, row - 1, middle),
            ArrowLeft: () => level[index - 1],
            ArrowRight: () => level[index + 1],
        };
        const center = Math.min(Math.max((rect.x + rect.width / 2) / width, 0), 1);
        const acts: Record<string, () => void> = {
            Enter: () => zoom(at),
            Backspace: () => {
                const from = state.node === null ? null : tree.shaped(state.node);
                const above = from === null ? null : tree.above(from);
                if (state.node !== null) go({ node: above === null ? null : tree.original(above) });
            },
            Escape: () => { look(wholeWindow); go({ node: null, focus: false, upside: false }); },
            "+": () => look(zoomed(window, center, closer)),
            "-": () => look(zoomed(window, center, 1 / closer)),
            "0": () => look(wholeWindow),
            f: () => fn !== null && go({ fn, focus: true, node: null }),
            x: () => fn !== null && go({ hide: [...state.hide, fn], focus: false }),
            m: () => fn !== null && go({ merge: [...state.merge, fn], focus: false }),
            r: () => go({ collapse: !state.collapse }),
            l: () => go({ loops: !state.loops }),
            b: () => go({ upside: !state.upside, focus: false, node: null }),
            a: () => go(initialPaths),
        };
        const pans: Record<string, number> = { ArrowLeft: -step, ArrowRight: step };
        const pan = event.shiftKey ? pans[event.key] : undefined;
        const move = moves[event.key];
        const act = acts[event.key];
        if (!move && !act) return;
        event.preventDefault();
        if (pan !== undefined) return look(panned(window, pan));
        act?.();
        const next = move?.();
        if (next) moveTo(next.cell);
    };
    const described = cursor ?? under?.cell ?? null;
    return (
        <>
            <div
                class="canvas-box" ref={box} tabIndex={0} role="application"
                aria-label={"Icicle of calling contexts: arrow keys move, Enter zooms in, ? tells of all keys; "
                    + "the tables have the same numbers as text"}
                onKeyDown={onKeyDown}
                onContextMenu={openMenu}
                onScroll={(event) => {
                    const element = event.currentTarget as HTMLDivElement;
                    setView({ top: element.scrollTop, height: element.clientHeight });
                }}
            >
                <canvas
                    ref={canvas} style={{ height: `${view.height}px` }}
                    data-cells={rows.reduce((sum, level) => sum + level.length, 0)}
                    onPointerDown={onPointerDown}
                    onMouseMove={(event) => {
                        const cell = event.buttons ? null : find(event);
                        setUnder(cell && { cell, x: event.clientX, y: event.clientY });
                    }}
                    onMouseLeave={() => setUnder(null)}
                    onClick={(event) => {
                        const cell = isDrag.current ? null : find(event);
                        if (cell) choose(cell);
                    }}
                    onDblClick={(event) => { const cell = find(event); if (cell) zoom(cell); }}
                />
                <div style={{ height: `${Math.max(0, rows.length * rowHeight - view.height)}px` }} />
            </div>
            {under && !menu && <Tip cell={under.cell} x={under.x} y={under.y} whole={whole} painting={painting} />}
            {menu && <Menu chosen={menu} close={() => setMenu(null)} />}
            <p class="spoken" aria-live="polite">
                {described ? `${report.label(described.name)}: ${count(described.after)}, `
                    + percent(whole ? described.after / whole : 0) : ""}
            </p>
        </>
    );
}
