// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { around, leadsOn, type Around, type Limits } from "../src/around";
import { otherEnd, type Call, type Net, type Side } from "../src/calls";

const noCosts = { cost: () => null };

// Of calls as [caller, callee, weight]; those within a circle are recursion, of which a function weighs as much as it
// says.
function netOf(calls: readonly (readonly [number, number, number])[], isRecursion: (call: Call) => boolean): Net {
    const all = calls.map(([caller, callee, weight], row): Call => {
        const call: Call = { row, caller, callee, calls: 1, costs: noCosts, value: weight, weight };
        return isRecursion(call) ? { ...call, costs: null, value: null } : call;
    });
    return {
        of: (item: number, side: Side) => all
            .filter((call) => otherEnd(call, side === "callers" ? "callees" : "callers") === item)
            .sort((one, other) => other.weight - one.weight || one.row - other.row),
        weight: (item: number) => 100 - item,
    };
}

const sorted = (map: ReadonlyMap<number, number>): [number, number][] => [...map].sort(([a], [b]) => a - b);
const pairs = ({ calls }: Around): [number, number][] => calls.map(({ caller, callee }) => [caller, callee]);

// main 0 calls 1 and 2, 1 calls 2 and itself, 2 calls 3, which calls 4; 5 calls main.
const small = netOf(
    [[0, 1, 60], [0, 2, 20], [1, 2, 30], [1, 1, 40], [2, 3, 45], [3, 4, 9], [5, 0, 100], [0, 4, 4]],
    ({ caller, callee }) => caller === callee,
);

test("functions of two levels stand where the longest way leads, and calls are shown as they are", () => {
    const found = around(small, 0, { levels: 2, least: 5, most: 9 });
    assert.deepEqual(sorted(found.levels), [[0, 0], [1, 1], [2, 1], [3, 2], [5, -1]]);
    assert.deepEqual(sorted(found.layers), [[0, 0], [1, 1], [2, 2], [3, 3], [5, -1]]);
    assert.deepEqual(pairs(found).sort(), [[0, 1], [0, 2], [1, 1], [1, 2], [2, 3], [5, 0]]);
    assert.deepEqual(found.rests, [
        { of: 0, side: "callees", count: 1, value: 4, weight: 4, isFarther: false },
        { of: 3, side: "callees", count: 1, value: 9, weight: 9, isFarther: true },
    ]);
});

test("a level has so many functions at most, the heaviest", () => {
    const many = netOf(Array.from({ length: 500 }, (_, at) => [0, at + 1, at] as const), () => false);
    const found = around(many, 0, { levels: 4, least: 0, most: 12 });
    const heaviest = Array.from({ length: 12 }, (_, at) => 489 + at);
    assert.deepEqual(sorted(found.levels).map(([item]) => item), [0, ...heaviest]);
    assert.deepEqual(found.rests.map(({ count, value }) => [count, value]), [[488, (487 * 488) / 2]]);
});

test("functions of a circle stand once, and their calls lead back", () => {
    // 1 and 2 call each other, and are called by 0; 2 calls 3.
    const net = netOf(
        [[0, 1, 9], [1, 2, 8], [2, 1, 8], [2, 3, 5]], ({ caller, callee }) => caller > 0 && callee < 3,
    );
    for (const centre of [1, 2]) {
        const found = around(net, centre, { levels: 3, least: 1, most: 9 });
        assert.deepEqual(sorted(found.layers), [0, 1, 2, 3].map((item) => [item, item - centre]));
        assert.deepEqual(found.calls.map((call) => [call.caller, call.callee, leadsOn(found, call)]).sort(), [
            [0, 1, true], [1, 2, true], [2, 1, false], [2, 3, true],
        ]);
    }
});

// All functions that can be reached, naively.
function reaches(calls: readonly (readonly [number, number, number])[], size: number): boolean[][] {
    const found = Array.from({ length: size }, (_, one) => Array.from({ length: size }, (_, other) =>
        calls.some(([caller, callee]) => caller === one && callee === other)));
    for (let by = 0; by < size; ++by) {
        for (let one = 0; one < size; ++one) {
            for (let other = 0; other < size; ++other) found[one]![other] ||= found[one]![by]! && found[by]![other]!;
        }
    }
    return found;
}

// The same from what it means, without regard to time: levels one by one, and layers by moving what stands wrong.
function naive(net: Net, size: number, centre: number, { levels: most, least }: Limits) {
    const all = Array.from({ length: size }, (_, item) => item);
    const calls = all.flatMap((item) => [...net.of(item, "callees")]);
    const far = [1, -1].map((sign) => {
        const found = new Map([[centre, 0]]);
        for (let level = 1; level <= most; ++level) {
            const added = all.filter((item) => !found.has(item) && calls.some(({ caller, callee, weight }) => {
                const [near, far] = sign > 0 ? [caller, callee] : [callee, caller];
                return weight >= least && far === item && found.get(near) === level - 1;
            }));
            for (const item of added) found.set(item, level);
        }
        return found;
    });
    const [callees, callers] = far as [Map<number, number>, Map<number, number>];
    const levels = new Map<number, number>();
    for (const item of all) {
        const [callee, caller] = [callees.get(item) ?? 99, callers.get(item) ?? 99];
        if (callee === 99 && caller === 99) continue;
        const isCaller = caller === callee ? net.weight(item) > net.weight(centre) : caller < callee;
        levels.set(item, isCaller ? -caller : callee);
    }
    levels.set(centre, 0);
    const shown = calls.filter(({ caller, callee, weight }) =>
        far.some((side) => side.has(caller) && side.has(callee)) && (weight >= least || caller === callee));
    const layers = new Map(Array.from(levels, ([item, level]) => [item, Math.sign(level)]));
    for (const [item, level] of levels) {
        const isTied = shown.some((call) => leadsOn({ levels }, call) && (level > 0
            ? call.callee === item && levels.get(call.caller)! >= 0
            : call.caller === item && levels.get(call.callee)! <= 0));
        if (!isTied) layers.set(item, level);
    }
    for (let changed = true; changed;) {
        changed = false;
        for (const call of shown) {
            if (!leadsOn({ levels }, call)) continue;
            const [from, to] = [layers.get(call.caller)!, layers.get(call.callee)!];
            if (from < to) continue;
            changed = true;
            if (levels.get(call.callee)! > 0) layers.set(call.callee, from + 1);
            else layers.set(call.caller, to - 1);
        }
    }
    return { levels, layers, shown, callees, callers };
}

test("random graphs: as a naive reference has them", () => {
    let seed = 11;
    const random = (below: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
    };
    for (let round = 0; round < 300; ++round) {
        const size = 2 + random(14);
        const calls = new Map<string, readonly [number, number, number]>();
        for (let more = random(3 * size); more > 0; --more) {
            const [caller, callee] = [random(size), random(size)];
            calls.set(`${caller} ${callee}`, [caller, callee, random(50)]);
        }
        const reach = reaches([...calls.values()], size);
        const net = netOf([...calls.values()], ({ caller, callee }) => caller === callee || reach[callee]![caller]!);
        const limits = { levels: 1 + random(4), least: random(30), most: size };
        const centre = random(size);
        const found = around(net, centre, limits);
        const truth = naive(net, size, centre, limits);
        assert.deepEqual(sorted(found.levels), sorted(truth.levels));
        assert.deepEqual(sorted(found.layers), sorted(truth.layers));
        const rows = found.calls.map(({ row }) => row);
        assert.deepEqual(rows.sort((a, b) => a - b), truth.shown.map(({ row }) => row).sort((a, b) => a - b));
        for (const call of found.calls) {
            if (call.costs) assert.ok(found.layers.get(call.caller)! < found.layers.get(call.callee)!);
        }
        // What is shown and what is left out is all that there is.
        for (const side of ["callees", "callers"] as const) {
            const here = side === "callers" ? "callees" : "callers";
            for (const item of truth[side].keys()) {
                const rest = found.rests.find((one) => one.of === item && one.side === side);
                const own = found.calls.filter((call) => call.costs && otherEnd(call, here) === item
                    && truth[side].has(otherEnd(call, side)));
                const all = net.of(item, side).reduce((sum, { value }) => sum + (value ?? 0), 0);
                assert.equal(own.reduce((sum, { value }) => sum + value!, 0) + (rest?.value ?? 0), all);
            }
        }
    }
});
