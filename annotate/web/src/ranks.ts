// SPDX-License-Identifier: GPL-2.0-or-later
//
// The costs of a function in each rank: the order of ranks, and which ranks share a cell if there are more of them than
// pixels.

export interface Strip {
    name: string;
    fn: number | null; // null: the whole program
    values: ArrayLike<number>; // one for each rank
    mean: number;
    deviation: number;
    least: number;
    most: number;
    mostAt: number; // the first rank with this value
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

// How far the cost of a rank is above the mean, as a share of the mean.
export const aboveMean = (strip: Strip, rank: number): number =>
    (strip.mean ? (strip.values[rank]! - strip.mean) / strip.mean : 0);

export const orders = ["number", "host", "behaviour", "cost"] as const;
export type Order = (typeof orders)[number];

// Ranks by their keys, the smallest or the largest first; ranks with equal keys by number. keys: null for by number.
export function ordered(count: number, keys: ArrayLike<number> | null, largestFirst = false): Uint32Array {
    const found = Uint32Array.from({ length: count }, (_, rank) => rank);
    const sign = largestFirst ? -1 : 1;
    return keys ? found.sort((one, other) => sign * (keys[one]! - keys[other]!) || one - other) : found;
}

// The range of places, its end excluded, that share a cell. cells: how many there are.
export const placesOf = (cell: number, cells: number, ranks: number): [number, number] =>
    [Math.floor((cell * ranks) / cells), Math.floor(((cell + 1) * ranks) / cells)];

// The rank in a cell whose cost is farthest from the mean, so that no outlier is lost among many ranks.
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

// The distance from the mean, as a share of it, at which colours end: the largest one of these strips, at most 1.
export function colourReach(strips: readonly Strip[]): number {
    const most = Math.max(...strips.map(({ mean, least, most }) =>
        (mean ? Math.max(most - mean, mean - least) / mean : 0)));
    return colourSteps.find((step) => most <= step) ?? 1;
}
