// SPDX-License-Identifier: GPL-2.0-or-later
//
// The widths of columns, by their names. They are stored for the next time and for other reports.

import { store, stored } from "./stored";

export type Widths = Readonly<Record<string, number>>; // pixels

export const leastWidth = 60;
const mostWidth = 1000;
const mostColumns = 200;

// The stored text may come from any page of this disk: only numbers that can be widths are taken.
export function parseWidths(text: string | null): Widths {
    try {
        const known: unknown = JSON.parse(text ?? "{}");
        if (typeof known !== "object" || known === null) return {};
        const good = Object.entries(known).filter((one): one is [string, number] =>
            typeof one[1] === "number" && one[1] >= leastWidth && one[1] <= mostWidth);
        return Object.fromEntries(good.slice(0, mostColumns));
    } catch {
        return {};
    }
}

export const readWidths = (): Widths => parseWidths(stored("widths"));

export function withWidth(widths: Widths, column: string, width: number): Widths {
    const next = { ...widths, [column]: Math.round(Math.min(Math.max(width, leastWidth), mostWidth)) };
    store("widths", JSON.stringify(next));
    return next;
}
