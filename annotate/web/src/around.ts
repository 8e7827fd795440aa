// SPDX-License-Identifier: GPL-2.0-or-later
//
// The neighbourhood of a function over several levels of callers and callees: which functions and calls are shown, and
// in which layer from the left to the right.

import { otherEnd, type Call, type Net, type Side } from "./calls";

export interface Limits {
    levels: number; // each way
    least: number; // calls that weigh less are left out
    most: number; // functions of a level, each way
}

// The calls between a function that is shown and those that are not.
export interface Rest {
    of: number;
    side: Side;
    count: number; // of calls, each to or from another function
    value: number; // without recursion
    weight: number; // without recursion
    isFarther: boolean; // they lead beyond the last level
}

export interface Around {
    levels: ReadonlyMap<number, number>; // the number of calls to each function; negative for callers
    layers: ReadonlyMap<number, number>; // from the left to the right; the centre is in layer 0
    calls: readonly Call[]; // the calls that are shown
    rests: readonly Rest[];
}

const sides = ["callees", "callers"] as const;

// Whether a call leads to the right: from a lower level to a higher one, or without recursion.
export function leadsOn({ levels }: Pick<Around, "levels">, call: Call): boolean {
    return call.caller !== call.callee
        && (call.costs !== null || levels.get(call.caller)! < levels.get(call.callee)!);
}

export function around(net: Net, centre: number, limits: Limits): Around {
    const far = { callees: reached(net, centre, "callees", limits), callers: reached(net, centre, "callers", limits) };
    const levels = new Map<number, number>([[centre, 0]]);
    for (const item of [...far.callees.keys(), ...far.callers.keys()]) {
        if (!levels.has(item)) levels.set(item, levelOf(net, item, centre, far));
    }
    const calls = new Map<number, Call>();
    const rests: Rest[] = [];
    for (const side of sides) {
        for (const [item, level] of far[side]) {
            const rest: Rest = { of: item, side, count: 0, value: 0, weight: 0, isFarther: level === limits.levels };
            for (const call of net.of(item, side)) {
                const isSelf = call.caller === call.callee;
                if (isSelf || (call.weight >= limits.least && far[side].has(otherEnd(call, side)))) {
                    calls.set(call.row, call);
                } else {
                    rest.count += 1;
                    rest.value += call.value ?? 0;
                    rest.weight += call.costs ? call.weight : 0;
                }
            }
            if (rest.count) rests.push(rest);
        }
    }
    const shown = [...calls.values()];
    return { levels, calls: shown, rests, layers: layersOf(levels, shown) };
}

// The functions on one side, with the number of calls to each.
function reached(net: Net, centre: number, side: Side, { levels, least, most }: Limits): Map<number, number> {
    const found = new Map([[centre, 0]]);
    let last = [centre];
    for (let level = 1; level <= levels; ++level) {
        const heaviest = new Map<number, number>();
        for (const item of last) {
            for (const call of net.of(item, side)) {
                const other = otherEnd(call, side);
                if (call.weight < least || found.has(other)) continue;
                heaviest.set(other, Math.max(call.weight, heaviest.get(other) ?? 0));
            }
        }
        last = Array.from(heaviest).sort(([a, one], [b, other]) => other - one || a - b)
            .slice(0, most).map(([item]) => item);
        for (const item of last) found.set(item, level);
    }
    return found;
}

// A function that is both caller and callee stands on the nearer side; at equal distance, it is a caller if it weighs
// more than the centre.
function levelOf(net: Net, item: number, centre: number, far: Record<Side, Map<number, number>>): number {
    const [callee, caller] = [far.callees.get(item) ?? Infinity, far.callers.get(item) ?? Infinity];
    const isCaller = caller < callee || (caller === callee && net.weight(item) > net.weight(centre));
    return isCaller ? -caller : callee;
}

// Each function's layer is the longest way to it from the centre on its side, so that all calls except some recursive
// ones lead to the right. The recursion below ends: recursive calls count only if they lead from level to level, and
// other calls form no circle.
function layersOf(levels: Around["levels"], calls: readonly Call[]): Map<number, number> {
    const layers = new Map<number, number>();
    const inwards = new Map<number, number[]>();
    for (const call of calls) {
        const [from, to] = [levels.get(call.caller)!, levels.get(call.callee)!];
        if (!leadsOn({ levels }, call) || (from < 0 && to > 0)) continue;
        const [near, far] = to > 0 ? [call.caller, call.callee] : [call.callee, call.caller];
        const known = inwards.get(far);
        if (known) known.push(near);
        else inwards.set(far, [near]);
    }
    const layerOf = (item: number): number => {
        let layer = layers.get(item);
        if (layer === undefined) {
            const level = levels.get(item)!;
            const ways = (inwards.get(item) ?? []).map((near) => Math.abs(layerOf(near)) + 1);
            layer = ways.length ? Math.sign(level) * Math.max(...ways) : level;
            layers.set(item, layer);
        }
        return layer;
    };
    for (const item of levels.keys()) layerOf(item);
    return layers;
}
