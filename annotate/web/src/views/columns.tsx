// SPDX-License-Identifier: GPL-2.0-or-later
//
// The columns of tables: their heads, choice, order and widths.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../context";
import { formula } from "../formula";
import { Popup } from "../popup";
import { columnName, type MetricColumn } from "../report";
import { readWidths, withWidth, type Widths } from "../widths";

const widthStep = 16; // pixels
const dragged = "application/x-bdgrind-column";

const titleOf = ({ metric, kind }: MetricColumn): string =>
    `${metric.title}, ${kind === "incl" ? "inclusive" : "self"}`;

// The order of columns after moving the one at `from` to `to`.
export function moved(names: readonly string[], from: number, to: number): string[] {
    const order = names.filter((_, at) => at !== from);
    const name = names[from];
    if (name === undefined || to < 0 || to >= names.length) return [...names];
    return [...order.slice(0, to), name, ...order.slice(to)];
}

// In Firefox 140, an element that moves loses the focus. Returns a function to call before an event changes the order
// of columns, which gives the focus back to the element of the event.
function useKeptFocus(names: readonly string[]): (event: Event) => void {
    const focused = useRef<HTMLElement | null>(null);
    useLayoutEffect(() => {
        focused.current?.focus();
        focused.current = null;
    }, [names.join()]);
    return (event) => { focused.current = event.currentTarget as HTMLElement; };
}

export function Heads({ columns, by, widths, setWidths }: {
    columns: MetricColumn[];
    by: MetricColumn;
    widths: Widths;
    setWidths: (widths: Widths) => void;
}) {
    const { state, go } = usePage();
    const names = columns.map(columnName);
    const keepFocus = useKeptFocus(names);
    const move = (from: number, to: number): void => go({ cols: moved(names, from, to).join(",") }, true);
    const widen = (column: MetricColumn, width: number): void =>
        setWidths(withWidth(readWidths(), columnName(column), width));
    const drag = (column: MetricColumn, event: PointerEvent): void => {
        const handle = event.currentTarget as HTMLElement;
        const start = event.clientX;
        const width = handle.parentElement!.offsetWidth;
        handle.setPointerCapture(event.pointerId);
        handle.onpointermove = (move) => widen(column, width + move.clientX - start);
        handle.onpointerup = () => { handle.onpointermove = null; };
    };
    const onKeyDown = (column: MetricColumn, at: number, event: KeyboardEvent): void => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step || !(event.altKey || event.shiftKey)) return;
        event.preventDefault();
        event.stopPropagation();
        if (event.altKey) {
            if (names[at + step] !== undefined) keepFocus(event);
            move(at, at + step);
        } else {
            widen(column, (event.currentTarget as HTMLElement).parentElement!.offsetWidth + step * widthStep);
        }
    };
    return (
        <div class="row head" role="row" aria-rowindex={1}>
            <span class="cell name" role="columnheader">function</span>
            {columns.map((column, at) => {
                const name = columnName(column);
                const width = widths[name];
                return (
                    <span
                        key={name} class="cell n" role="columnheader" style={width ? { width: `${width}px` } : {}}
                        aria-sort={column !== by ? "none" : state.up ? "ascending" : "descending"}
                        draggable
                        onDragStart={(event) => event.dataTransfer?.setData(dragged, String(at))}
                        onDragOver={(event) => {
                            if (event.dataTransfer?.types.includes(dragged)) event.preventDefault();
                        }}
                        onDrop={(event) => {
                            const from = Number(event.dataTransfer?.getData(dragged));
                            event.preventDefault();
                            if (Number.isInteger(from)) move(from, at);
                        }}
                    >
                        <button
                            type="button"
                            title={`${titleOf(column)}: a click sorts, a drag or Alt and arrows move, Shift and arrows `
                                + "widen"}
                            onClick={() => go({ sort: name, up: column === by && !state.up })}
                            onKeyDown={(event) => onKeyDown(column, at, event)}
                        >
                            {column === by && <span class={`glyph ${state.up ? "up" : "down"}`} aria-hidden="true" />}
                            {column.metric.heading} <small>{column.kind}</small>
                        </button>
                        <span
                            class="handle" aria-hidden="true" draggable
                            onPointerDown={(event) => drag(column, event)}
                            onDragStart={(event) => { event.preventDefault(); event.stopPropagation(); }}
                        />
                    </span>
                );
            })}
            <span class="cell calls n" role="columnheader">calls</span>
        </div>
    );
}

export function ColumnPicker({ columns }: { columns: MetricColumn[] }) {
    const { report, go } = usePage();
    const names = columns.map(columnName);
    const keepFocus = useKeptFocus(names);
    const chosen = new Set(names);
    const move = (event: Event, from: number, to: number): void => {
        keepFocus(event);
        go({ cols: moved(names, from, to).join(",") });
    };
    const toggle = (name: string): void => {
        const next = chosen.has(name) ? [...chosen].filter((known) => known !== name) : [...chosen, name];
        if (next.length) go({ cols: next.join(",") });
    };
    return (
        <Popup title="Columns">
            <ol class="chosen-columns">
                {columns.map((column, at) => (
                    <li key={columnName(column)}>
                        <span>{column.metric.heading} <small>{column.kind}</small></span>
                        <button
                            type="button" class="glyph up" disabled={at === 0}
                            aria-label={`Move ${titleOf(column)} to the left`}
                            onClick={(event) => move(event, at, at - 1)}
                        />
                        <button
                            type="button" class="glyph down" disabled={at === columns.length - 1}
                            aria-label={`Move ${titleOf(column)} to the right`}
                            onClick={(event) => move(event, at, at + 1)}
                        />
                    </li>
                ))}
            </ol>
            <table>
                <thead>
                    <tr><th scope="col">self</th><th scope="col">incl</th><th scope="col">what</th></tr>
                </thead>
                <tbody>
                    {report.facts.metrics.map((metric) => (
                        <tr key={metric.name}>
                            {(["self", "incl"] as const).map((kind) => (
                                <td key={kind}>
                                    <input
                                        type="checkbox" aria-label={`${metric.title}, ${kind}`}
                                        checked={chosen.has(`${metric.name}:${kind}`)}
                                        onChange={() => toggle(`${metric.name}:${kind}`)}
                                    />
                                </td>
                            ))}
                            <td>{metric.title} <small>{metric.name}</small></td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <NewColumn add={(name) => { if (!chosen.has(name)) toggle(name); }} />
            <button type="button" onClick={() => go({ cols: "" })}>Default columns</button>
        </Popup>
    );
}

// The dialog for a column that the reader defines.
function NewColumn({ add }: { add: (name: string) => void }) {
    const { report } = usePage();
    const [text, setText] = useState("");
    let problem = "";
    try {
        if (text.trim()) formula(text.trim(), report.facts.events, (name) => report.metric(name));
    } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
    }
    const isGood = text.trim() !== "" && !problem;
    return (
        <div class="new-column">
            <label>
                A column of your own{" "}
                <input
                    type="text" value={text} placeholder="1000 * D1m / Ir" spellcheck={false} aria-invalid={!!problem}
                    onInput={(event) => setText((event.target as HTMLInputElement).value)}
                />
            </label>{" "}
            {(["self", "incl"] as const).map((kind) => (
                <button
                    type="button" key={kind} disabled={!isGood} aria-label={`Add it, ${kind}`}
                    onClick={() => add(`${text.trim()}:${kind}`)}
                >
                    {kind}
                </button>
            ))}
            <p class="note" role="status">
                {problem ? `No column: ${problem}.` : "Sums, or one sum divided by another."}
            </p>
        </div>
    );
}
