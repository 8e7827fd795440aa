// SPDX-License-Identifier: GPL-2.0-or-later
//
// Arranges boxes in layers from the left to the right, with bands between them: finds an order and heights within each
// layer for which few bands cross and bands are short.

export interface Box {
    layer: number;
    height: number;
}

// From a box to one of a later layer.
export interface Band {
    from: number;
    to: number;
    width: number;
}

export interface Layout {
    tops: number[]; // of the boxes
    routes: number[][]; // for each band, its middle in each layer between its ends
    height: number;
}

const sweeps = 12;
const rounds = 60; // enough to draw a long chain straight
const wayGap = 4; // beside a band that passes

interface Item {
    layer: number;
    height: number;
    gap: number; // above and below
    left: [number, number][]; // the items that it is tied to, and the weights of the ties
    right: [number, number][];
}

export function layered(boxes: readonly Box[], bands: readonly Band[], gap: number): Layout {
    const items: Item[] = boxes.map(({ layer, height }) => ({ layer, height, gap: gap / 2, left: [], right: [] }));
    const tie = (from: number, to: number, width: number): void => {
        items[from]!.right.push([to, width + 1]);
        items[to]!.left.push([from, width + 1]);
    };
    const ways = bands.map(({ from, to, width }) => {
        const way: number[] = [];
        let last = from;
        for (let layer = items[from]!.layer + 1; layer < items[to]!.layer; ++layer) {
            const next = items.push({ layer, height: width, gap: wayGap, left: [], right: [] }) - 1;
            tie(last, next, width);
            way.push(next);
            last = next;
        }
        tie(last, to, width);
        return way;
    });
    const numbers = items.map(({ layer }) => layer);
    const first = Math.min(...numbers);
    const layers = Array.from({ length: items.length ? Math.max(...numbers) - first + 1 : 0 }, (): number[] => []);
    items.forEach(({ layer }, item) => layers[layer - first]!.push(item));
    const ordered = inOrder(items, layers);
    const middles = placed(items, ordered);
    const top = Math.min(...items.map(({ height }, item) => middles[item]! - height / 2));
    const bottom = Math.max(...items.map(({ height }, item) => middles[item]! + height / 2));
    return {
        tops: boxes.map(({ height }, box) => middles[box]! - height / 2 - top),
        routes: ways.map((way) => way.map((item) => middles[item]! - top)),
        height: items.length ? bottom - top : 0,
    };
}

// Orders items by barycentres: sorts each layer in turn by the mean place of the neighbours of its items, and returns
// the order with fewest crossings.
function inOrder(items: readonly Item[], layers: number[][]): number[][] {
    const at: number[] = [];
    const note = (layer: readonly number[]): void => layer.forEach((item, place) => { at[item] = place; });
    layers.forEach(note);
    let best = layers.map((layer) => [...layer]);
    let fewest = crossings(items, layers, at);
    for (let sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
        const isDown = sweep % 2 === 0;
        for (const layer of isDown ? layers : [...layers].reverse()) {
            const key = new Map(layer.map((item) => {
                const ties = isDown ? items[item]!.left : items[item]!.right;
                return [item, mean(ties.map(([other, weight]) => [at[other]!, weight])) ?? at[item]!];
            }));
            layer.sort((one, other) => key.get(one)! - key.get(other)! || at[one]! - at[other]!);
            note(layer);
        }
        const now = crossings(items, layers, at);
        if (now < fewest) [fewest, best] = [now, layers.map((layer) => [...layer])];
    }
    return best;
}

function mean(values: readonly (readonly [number, number])[]): number | null {
    let [total, weights] = [0, 0];
    for (const [value, weight] of values) {
        total += value * weight;
        weights += weight;
    }
    return weights ? total / weights : null;
}

function crossings(items: readonly Pick<Item, "right">[], layers: readonly number[][], at: number[]): number {
    let found = 0;
    for (const layer of layers) {
        const ties = layer.flatMap((item) => items[item]!.right.map(([other]) => [at[item]!, at[other]!] as const));
        for (let i = 0; i < ties.length; ++i) {
            for (let j = 0; j < i; ++j) {
                if ((ties[i]![0] - ties[j]![0]) * (ties[i]![1] - ties[j]![1]) < 0) ++found;
            }
        }
    }
    return found;
}

// The middle of each item: as near to its neighbours as the other items of its layer allow, by least squares.
function placed(items: readonly Item[], layers: readonly number[][]): number[] {
    const middles: number[] = [];
    const apart = (one: Item, other: Item): number => (one.height + other.height) / 2 + one.gap + other.gap;
    for (const layer of layers) {
        layer.forEach((item, place) => {
            const above = layer[place - 1];
            middles[item] = above === undefined ? 0 : middles[above]! + apart(items[above]!, items[item]!);
        });
        const half = layer.length ? middles[layer.at(-1)!]! / 2 : 0;
        for (const item of layer) middles[item]! -= half;
    }
    for (let round = 0; round < rounds; ++round) {
        for (const layer of round % 2 ? [...layers].reverse() : layers) {
            let down = 0; // the least distance of an item from the first one
            const offsets = layer.map((item, place) => {
                if (place) down += apart(items[layer[place - 1]!]!, items[item]!);
                return down;
            });
            const wanted = layer.map((item, place) => {
                const { left, right } = items[item]!;
                const ties = [...left, ...right].map(([other, weight]) => [middles[other]!, weight] as const);
                const weight = ties.reduce((sum, [, one]) => sum + one, 0) || 1;
                return { value: (mean(ties) ?? middles[item]!) - offsets[place]!, weight };
            });
            ascending(wanted).forEach((value, place) => { middles[layer[place]!] = value + offsets[place]!; });
        }
    }
    return middles;
}

// The nearest values that never decrease, by least squares: neighbours that decrease are replaced by their mean.
export function ascending(values: readonly { value: number; weight: number }[]): number[] {
    const groups: { mean: number; weight: number; count: number }[] = [];
    for (const { value, weight } of values) {
        let last = { mean: value, weight, count: 1 };
        for (let before = groups.at(-1); before && before.mean > last.mean; before = groups.at(-1)) {
            groups.pop();
            const weight = before.weight + last.weight;
            last = {
                mean: (before.mean * before.weight + last.mean * last.weight) / weight, weight,
                count: before.count + last.count,
            };
        }
        groups.push(last);
    }
    return groups.flatMap(({ mean, count }) => Array<number>(count).fill(mean));
}
