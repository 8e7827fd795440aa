// SPDX-License-Identifier: GPL-2.0-or-later
//
// A list of many rows of equal height. Only visible rows exist; the head stays above them.

import { options, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const around = 10; // rows above and below what can be seen
const printedRows = 2000;

export function LongList({ rows, height, head, render, className, focusRow, label, role = "grid", active }: {
    rows: number;
    height: number;
    head: ComponentChildren;
    render: (row: number) => ComponentChildren;
    className: string;
    focusRow: number | null;
    label: string;
    role?: "grid" | "treegrid";
    active?: string | undefined; // the id of the row with the keyboard focus
}) {
    const box = useRef<HTMLDivElement>(null);
    const [seen, setSeen] = useState({ from: 0, to: 60 });
    const [printing, setPrinting] = useState(false);
    const update = (): void => {
        const element = box.current;
        if (!element) return;
        const from = Math.max(0, Math.floor(element.scrollTop / height) - around);
        const to = Math.ceil((element.scrollTop + element.clientHeight) / height) + around;
        if (from !== seen.from || to !== seen.to) setSeen({ from, to });
    };
    useEffect(() => {
        const element = box.current;
        if (element && focusRow !== null) {
            const top = focusRow * height;
            const shown = element.clientHeight - headHeight(element);
            if (top < element.scrollTop) element.scrollTop = top;
            else if (top + height > element.scrollTop + shown) element.scrollTop = Math.max(0, top - shown / 2);
        }
        update();
    }, [focusRow, rows]);
    useEffect(() => {
        const media = matchMedia("print");
        const changed = (): void => setPrinting(media.matches);
        // The browser prints after the listeners have run.
        const now = (value: boolean): void => {
            const { debounceRendering } = options;
            options.debounceRendering = (render) => render();
            setPrinting(value);
            if (debounceRendering) options.debounceRendering = debounceRendering;
            else delete options.debounceRendering;
        };
        const [before, after] = [(): void => now(true), (): void => now(false)];
        media.addEventListener("change", changed);
        addEventListener("beforeprint", before);
        addEventListener("afterprint", after);
        return () => {
            media.removeEventListener("change", changed);
            removeEventListener("beforeprint", before);
            removeEventListener("afterprint", after);
        };
    }, []);
    const [from, to] = printing ? [0, Math.min(rows, printedRows)] : [seen.from, Math.min(rows, seen.to)];
    const visible: ComponentChildren[] = [];
    for (let row = from; row < to; ++row) visible.push(render(row));
    return (
        <div
            class={className} ref={box} onScroll={update} tabIndex={0} role={role} aria-label={label}
            aria-rowcount={rows + 1} aria-activedescendant={active}
        >
            {head}
            <div class="spacer" role="presentation" style={{ height: `${from * height}px` }} />
            {visible}
            <div class="spacer" role="presentation" style={{ height: `${Math.max(0, rows - to) * height}px` }} />
            {printing && rows > to && <div role="presentation">{(rows - to).toLocaleString("en")} more rows</div>}
        </div>
    );
}

const headHeight = (element: HTMLElement): number =>
    (element.firstElementChild as HTMLElement | null)?.offsetHeight ?? 0;
