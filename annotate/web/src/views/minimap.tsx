// SPDX-License-Identifier: GPL-2.0-or-later
//
// The whole icicle as a small picture that marks the visible part; dragging moves that part.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { css, leastScale } from "../colours";
import { panned, picture, type Tops, type Window } from "../flame";
import { CanvasPainter } from "../painter";
import { cellColour, font, type Painting } from "./icicle_paint";

const height = 44; // pixels
const mostRow = 5;

export function Minimap({ start, width, painting, window, look }: {
    start: Tops;
    width: number;
    painting: Painting;
    window: Window;
    look: (window: Window) => void;
}) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const levels = useMemo(() => picture(start, width).levels, [start, width]);
    const { dark, palette, metric } = painting;
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context) return;
        const painter = new CanvasPainter(context, width, height, leastScale, font);
        const row = Math.min(mostRow, height / levels.length);
        levels.forEach((level, depth) => {
            for (const rect of level) {
                painter.fill(rect.x, depth * row, rect.width, Math.max(row, 0.5), css(cellColour(painting, rect.cell)));
            }
        });
    }, [levels, dark, palette, metric]);
    const drag = (event: PointerEvent): void => {
        const element = event.currentTarget as HTMLElement;
        const bounds = element.getBoundingClientRect();
        const size = window.to - window.from;
        const center = (x: number): Window => {
            const middle = (x - bounds.left) / bounds.width;
            return panned(window, (middle - size / 2 - window.from) / size);
        };
        look(center(event.clientX));
        element.setPointerCapture(event.pointerId);
        element.onpointermove = (move) => look(center(move.clientX));
        element.onpointerup = () => { element.onpointermove = null; };
    };
    const [left, right] = [window.from * width, window.to * width];
    return (
        <div class="minimap" aria-hidden="true" onPointerDown={drag} data-window={`${window.from} ${window.to}`}>
            <canvas ref={canvas} style={{ height: `${height}px` }} data-minimap={levels.length} />
            {window.to - window.from < 1 && (
                <>
                    <span class="outside" style={{ left: "0", width: `${left}px` }} />
                    <span class="outside" style={{ left: `${right}px`, width: `${Math.max(0, width - right)}px` }} />
                </>
            )}
        </div>
    );
}
