// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function with its callers and callees over several levels of calls: which of them are shown, and where from the
// left to the right.

import { otherEnd, type Call, type Net, type Side } from "./calls";

export interface Limits {
    levels: number; // each way
    least: number; // calls that weigh less are left out
    most: number; // functions of each level, each way
}

// The calls of a function that is shown to or from those that are not.
export interface Rest {
    of: number;
    side: Side;
    count: number; // of calls, each to or from another function
    value: number; // without recursion
    weight: number; // without recursion
    isFarther: boolean; // they are beyond the last level
}

export interface Around {
    levels: ReadonlyMap<number, number>; // by how many calls each is away; callers are negative
    layers: ReadonlyMap<number, number>; // from the left to the right; the function is in 0
    calls: readonly Call[]; // those that are shown
    rests: readonly Rest[];
}

const sides = [["callees", 1], ["callers", -1]] as const;

// Whether a call leads to the right.
export function leadsOn({ levels }: Pick<Around, "levels">, call: Call): boolean {
    return call.caller !== call.callee
        && (call.costs !== null || levels.get(call.caller)! < levels.get(call.callee)!);
}

export function around(net: Net, centre: number, { levels: mostLevels, least, most }: Limits): Around {
    const levels = new Map([[centre, 0]]);
    const last: Record<Side, number[]> = { callers: [centre], callees: [centre] };
    for (let level = 1; level <= mostLevels; ++level) {
        for (const [side, sign] of sides) {
            const heaviest = new Map<number, number>();
            for (const item of last[side]) {
                for (const call of net.of(item, side)) {
                    const other = otherEnd(call, side);
                    if (call.weight < least || levels.has(other)) continue;
                    heaviest.set(other, Math.max(call.weight, heaviest.get(other) ?? 0));
                }
            }
            last[side] = Array.from(heaviest).sort(([a, one], [b, other]) => other - one || a - b)
                .slice(0, most).map(([item]) => item);
            for (const item of last[side]) levels.set(item, sign * level);
        }
    }
    const calls: Call[] = [];
    const rests: Rest[] = [];
    for (const [item, level] of levels) {
        for (const [side, sign] of sides) {
            if (level * sign < 0) continue;
            const rest: Rest = { of: item, side, count: 0, value: 0, weight: 0,
                isFarther: level * sign === mostLevels };
            for (const call of net.of(item, side)) {
                const other = levels.get(otherEnd(call, side));
                const isShown = other !== undefined && (call.weight >= least || call.caller === call.callee);
                if (!isShown) {
                    rest.count += 1;
                    rest.value += call.value ?? 0;
                    rest.weight += call.costs ? call.weight : 0;
                } else if (isOfSide(side, level, other)) calls.push(call);
            }
            if (rest.count) rests.push(rest);
        }
    }
    return { levels, calls, rests, layers: layersOf(levels, calls) };
}

// Callees have the calls between them and to the function, callers those from it; what passes it by is left out.
function isOfSide(side: Side, level: number, other: number): boolean {
    if (side === "callees") return other >= 0 || level === 0;
    return other < 0;
}

// Each as far from the function as the longest way there, so that all calls lead on but some of recursion. There are
// no circles: others lead out of one, and recursion counts if it leads from level to level.
function layersOf(levels: Around["levels"], calls: readonly Call[]): Map<number, number> {
    const layers = new Map<number, number>();
    const inwards = new Map<number, number[]>();
    for (const call of calls) {
        if (!leadsOn({ levels }, call)) continue;
        const isOfCallees = levels.get(call.callee)! > 0;
        const [near, far] = isOfCallees ? [call.caller, call.callee] : [call.callee, call.caller];
        const known = inwards.get(far);
        if (known) known.push(near);
        else inwards.set(far, [near]);
    }
    const layerOf = (item: number): number => {
        let layer = layers.get(item);
        if (layer === undefined) {
            const ways = (inwards.get(item) ?? []).map((near) => Math.abs(layerOf(near)));
            layer = Math.sign(levels.get(item)!) * (1 + Math.max(-1, ...ways));
            layers.set(item, layer);
        }
        return layer;
    };
    for (const item of levels.keys()) layerOf(item);
    return layers;
}
