// SPDX-License-Identifier: GPL-2.0-or-later
//
// How the cells of an icicle are painted, on the screen, in the small picture of all of it, and in a file.

import { changeColour, css, dimmed, plain, shareColour, textOn } from "../colours";
import { metricValue, type Kind } from "../costs";
import type { Metric } from "../data";
import type { Cell, Picture, Rect } from "../flame";
import { count, fitted, signed } from "../format";
import type { Painter } from "../painter";
import type { Palette, Rgb } from "../palette";
import type { Report } from "../report";

export const rowHeight = 20;
export const font = "12px system-ui, sans-serif";
const leastNamed = 34; // pixels

export interface Painting {
    report: Report;
    metric: Metric;
    share: Metric | null;
    palette: Palette | null;
    matches: Uint8Array | null; // per frame, whether the search finds it
    chosen: number | null; // function
    dark: boolean;
    kind: Kind; // of the costs that widths stand for
}

// From the top: callers (the farthest first), what is above, the picture itself.
export interface Rows {
    rows: Rect[][];
    above: number; // the first row of what is above
    first: number; // the first row of the picture itself
}

export function rowsOf(shown: Picture, width: number): Rows {
    const above = shown.above.map((cell): Rect[] => [{ cell, x: 0, width, depth: 0 }]);
    return {
        rows: [...[...shown.upwards].reverse(), ...above, ...shown.levels],
        above: shown.upwards.length, first: shown.upwards.length + above.length,
    };
}

export function cellColour({ report, share, palette, kind }: Painting, cell: Cell): Rgb {
    if (report.comparing) return changeColour(cell.size ? (cell.after - cell.before) / cell.size : 0);
    const { inner } = cell.group;
    if (palette) return palette.colour(inner === null ? cell.name : report.frames?.get("function", inner) ?? cell.name);
    return share ? shareColour(metricValue(share, cell.costs, kind)) : plain;
}

function fade([r, g, b]: Rgb, dark: boolean): Rgb {
    const to = dark ? 40 : 236;
    const mixed = (part: number): number => Math.round(0.2 * part + 0.8 * to);
    return [mixed(r), mixed(g), mixed(b)];
}

// What can be seen of the rows.
export function paintRows(
    painter: Painter, painting: Painting, { rows, above, first }: Rows,
    view: { top: number; height: number; width: number },
): void {
    const to = Math.min(Math.ceil((view.top + view.height) / rowHeight), rows.length);
    for (let row = Math.floor(view.top / rowHeight); row < to; ++row) {
        const isAbove = row >= above && row < first;
        for (const rect of rows[row]!) {
            const colour = isAbove ? dimmed : withSearch(painting, rect.cell);
            paintCell(painter, painting, rect, row * rowHeight - view.top, colour, view.width);
        }
    }
}

function withSearch(painting: Painting, cell: Cell): Rgb {
    const colour = cellColour(painting, cell);
    return painting.matches && !painting.matches[cell.group.frame] ? fade(colour, painting.dark) : colour;
}

function paintCell(
    painter: Painter, { report, chosen, dark }: Painting, rect: Rect, y: number, colour: Rgb, width: number,
): void {
    const { cell } = rect;
    // What reaches beyond the picture is named in the part that is seen.
    const x = Math.max(rect.x, 0);
    const gap = rect.width > 3 ? 1 : 0;
    const seen = Math.min(rect.x + Math.max(rect.width - gap, 0.6), width) - x;
    painter.fill(x, y, seen, rowHeight - 1, css(colour));
    if (cell.name === chosen && chosen !== null && rect.width > 2) {
        painter.outline(
            x + 0.75, y + 0.75, Math.max(seen - 1.5, 0.5), rowHeight - 2.5, dark ? "#ffffff" : "#16191d", 1.5,
        );
    }
    if (seen > leastNamed) {
        const by = cell.after - cell.before;
        const name = report.label(cell.name) + (report.comparing ? ` ${signed(count(by), by)}` : "");
        const text = fitted(name, (part) => painter.measure(part) <= seen - 8);
        painter.write(text, x + 4, y + rowHeight / 2, textOn(colour));
    }
}

export const pathsOf = (cell: Cell): Cell[] => {
    const found: Cell[] = [];
    for (let at: Cell | null = cell; at; at = at.parent) found.push(at);
    return found; // from the cell to where its picture begins
};
