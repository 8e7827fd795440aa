// SPDX-License-Identifier: GPL-2.0-or-later
//
// What something costs in each rank: in which order ranks stand, and which of them share a cell where there are more
// of them than pixels.

export interface Strip {
    name: string;
    fn: number | null; // null: the whole program
    values: ArrayLike<number>; // of each rank
    mean: number;
    deviation: number;
    least: number;
    most: number;
    mostAt: number; // the first rank that has it
}

export function strip(name: string, fn: number | null, values: ArrayLike<number>): Strip {
    let [sum, least, most, mostAt] = [0, Infinity, -Infinity, 0];
    for (let rank = 0; rank < values.length; ++rank) {
        const value = values[rank]!;
        sum += value;
        if (value < least) least = value;
        if (value > most) [most, mostAt] = [value, rank];
    }
    const mean = sum / values.length;
    let squares = 0;
    for (let rank = 0; rank < values.length; ++rank) squares += (values[rank]! - mean) ** 2;
    return { name, fn, values, mean, deviation: Math.sqrt(squares / values.length), least, most, mostAt };
}

// By how much a rank's cost is above the mean, as a share of it.
export const aboveMean = (strip: Strip, rank: number): number =>
    (strip.mean ? (strip.values[rank]! - strip.mean) / strip.mean : 0);

export const orders = ["number", "host", "behaviour", "cost"] as const;
export type Order = (typeof orders)[number];

// Ranks by what `keys` has of each, the smallest first, or the largest; those that have the same by their numbers.
export function ordered(count: number, keys: ArrayLike<number> | null, largestFirst = false): Uint32Array {
    const found = Uint32Array.from({ length: count }, (_, rank) => rank);
    const sign = largestFirst ? -1 : 1;
    return keys ? found.sort((one, other) => sign * (keys[one]! - keys[other]!) || one - other) : found;
}

// The places, from the first to before the last, that share a cell, of so many cells.
export const placesOf = (cell: number, cells: number, ranks: number): [number, number] =>
    [Math.floor((cell * ranks) / cells), Math.floor(((cell + 1) * ranks) / cells)];

// Of the ranks in a cell the one whose cost lies farthest from the mean: no single rank is lost among many.
export function farthest(strip: Strip, order: Uint32Array, cell: number, cells: number): number {
    const [from, to] = placesOf(cell, cells, order.length);
    let found = order[from]!;
    for (let place = from + 1; place < to; ++place) {
        const rank = order[place]!;
        if (Math.abs(strip.values[rank]! - strip.mean) > Math.abs(strip.values[found]! - strip.mean)) found = rank;
    }
    return found;
}

export const colourSteps = [0.05, 0.1, 0.25, 0.5, 1] as const;

// How far from the mean colours go: to all that these strips have, or to twice the mean.
export function colourReach(strips: readonly Strip[]): number {
    const most = Math.max(...strips.map(({ mean, least, most }) =>
        (mean ? Math.max(most - mean, mean - least) / mean : 0)));
    return colourSteps.find((step) => most <= step) ?? 1;
}
