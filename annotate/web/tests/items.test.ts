// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls, type Side } from "../src/calls";
import type { Metric } from "../src/data";
import { Items } from "../src/items";
import type { Report } from "../src/report";

const instructions = { name: "Ir", numerator: [1], denominator: null } as Metric;

interface Run {
    own: number[]; // of functions
    calls: Map<string, [number, number]>; // "caller callee": how often, and what they cost, at each level of recursion
}

// What is asked of a report, with functions that reach each other in cycles.
function reportOf({ own, calls }: Run): Report {
    const size = own.length;
    const pairs = Array.from(calls, ([key, [count, cost]], row) => {
        const [caller, callee] = key.split(" ").map(Number);
        return { row, caller: caller!, callee: callee!, count, cost };
    });
    const reach = own.map((_, one) => own.map((_, other) =>
        pairs.some(({ caller, callee }) => caller === one && callee === other)));
    for (let by = 0; by < size; ++by) {
        for (let one = 0; one < size; ++one) {
            for (let other = 0; other < size; ++other) reach[one]![other] ||= reach[one]![by]! && reach[by]![other]!;
        }
    }
    const cycles: number[][] = [];
    const cycle = own.map(() => 0);
    own.forEach((_, fn) => {
        const members = own.flatMap((_, other) => (reach[fn]![other] && reach[other]![fn] ? [other] : []));
        if (members.length < 2 || cycle[fn]) return;
        cycles.push(members);
        for (const member of members) cycle[member] = cycles.length;
    });
    const arcs = pairs.map(({ row, caller, callee }) => ({
        row, caller, callee, recursive: caller === callee || (cycle[caller]! > 0 && cycle[caller] === cycle[callee]),
    }));
    const columns: Record<string, number[]> = { calls: pairs.map(({ count }) => count) };
    return {
        comparing: false, isEstimate: false,
        facts: { functions: own.map((_, fn) => [`f${fn}`, 0, 0, 0, ""]), cycles },
        functions: { column: () => cycle },
        arcs: () => ({
            callers: own.map((_, fn) => arcs.filter(({ callee }) => callee === fn)),
            callees: own.map((_, fn) => arcs.filter(({ caller }) => caller === fn)),
        }),
        table: () => ({ column: (name: string) => columns[name] }),
        costs: (_: string, row: number) => ({ cost: (kind: string) => (kind === "incl" ? pairs[row]!.cost : null) }),
        functionCosts: (fn: number) => ({ cost: (kind: string) => (kind === "self" ? own[fn] : null) }),
        name: (fn: number) => `f${fn}`, where: () => "", fullName: (fn: number) => `f${fn}`,
        matches: (match: (name: string) => boolean, fn: number) => match(`f${fn}`),
        calls: () => 0,
    } as unknown as Report;
}

const costOf = (items: Items, item: number): [number | null, number | null] =>
    [items.costs(item).cost("self", 0, ""), items.costs(item).cost("incl", 0, "")];

test("two functions that call each other are one, and cost what is paid from outside", () => {
    // 0 costs 10 and calls 1 twice, which costs 30 and calls 2, of 20, which calls 1 again and 3, of 5.
    const report = reportOf({
        own: [10, 30, 20, 5], calls: new Map([["0 1", [2, 55]], ["1 2", [3, 70]], ["2 1", [1, 25]], ["2 3", [1, 5]]]),
    });
    const items = new Items(report, true);
    assert.deepEqual(items.all, [0, 3, 4]);
    assert.deepEqual([items.of(1), items.of(2), items.of(3), items.isOfCycle(2), items.isOfCycle(0)],
        [4, 4, 3, true, false]);
    assert.deepEqual([items.name(4), items.where(4), items.fn(4), items.calls(4)], ["<cycle 1> of 2", "f1, f2", 1, 2]);
    assert.deepEqual(costOf(items, 4), [50, 55]);
    assert.ok(items.matches((name) => name === "f2", 4) && !items.matches((name) => name === "f3", 4));
    const calls = Calls.of(report, instructions, true)!;
    assert.deepEqual(
        calls.of(4, "callees").map(({ caller, callee, calls, value }) => [caller, callee, calls, value]),
        [[4, 4, 4, null], [4, 3, 1, 5]],
    );
    const own = (["callers", "callees"] as const).map((side) => calls.of(4, side).find(({ caller, callee }) =>
        caller === callee));
    assert.equal(own[0]!.row, own[1]!.row);
    assert.deepEqual(calls.of(0, "callees").map(({ callee, calls, value }) => [callee, calls, value]), [[4, 2, 55]]);
    const apart = Calls.of(report, instructions)!;
    assert.deepEqual(apart.of(1, "callers").map(({ caller, value }) => [caller, value]), [[0, 55], [2, null]]);
    assert.deepEqual(new Items(report, false).all, [0, 1, 2, 3]);
});

// A run as a tree of calls: each with the function, what it costs itself, and where it was called.
interface Step {
    fn: number;
    own: number;
    above: number | null;
}

test("random runs: each cycle costs what its outermost calls do, one by one", () => {
    let seed = 17;
    const random = (below: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
    };
    let cyclesSeen = 0;
    for (let round = 0; round < 200; ++round) {
        const size = 3 + random(8);
        const steps: Step[] = [{ fn: 0, own: random(9), above: null }];
        for (let more = random(40); more > 0; --more) {
            steps.push({ fn: random(size), own: random(9), above: random(steps.length) });
        }
        const below = steps.map(({ own }) => own); // with all that each calls
        for (let at = steps.length - 1; at > 0; --at) below[steps[at]!.above!]! += below[at]!;
        const own = Array.from({ length: size }, () => 0);
        const calls = new Map<string, [number, number]>();
        steps.forEach((step, at) => {
            own[step.fn]! += step.own;
            if (step.above === null) return;
            const key = `${steps[step.above]!.fn} ${step.fn}`;
            const [count, cost] = calls.get(key) ?? [0, 0];
            calls.set(key, [count + 1, cost + below[at]!]);
        });
        const report = reportOf({ own, calls });
        const items = new Items(report, true);
        const found = Calls.of(report, instructions, true)!;
        const isWithin = (at: number | null, item: number): boolean =>
            at !== null && (items.of(steps[at]!.fn) === item || isWithin(steps[at]!.above, item));
        for (const item of items.all) {
            if (!items.isCycle(item)) continue;
            ++cyclesSeen;
            const outermost = steps.flatMap(({ fn, above }, at) =>
                (items.of(fn) === item && !isWithin(above, item) ? [at] : []));
            const self = items.members(item).reduce((sum, fn) => sum + own[fn]!, 0);
            assert.deepEqual(costOf(items, item), [self, outermost.reduce((sum, at) => sum + below[at]!, 0)]);
            assert.equal(items.calls(item), outermost.filter((at) => steps[at]!.above !== null).length);
        }
        // Calls of items, by what each of them costs in the run.
        const truth = new Map<string, number>();
        steps.forEach(({ fn, above }, at) => {
            if (above === null) return;
            const [caller, callee] = [items.of(steps[above]!.fn), items.of(fn)];
            const key = `${caller} ${callee}`;
            if (caller !== callee) truth.set(key, (truth.get(key) ?? 0) + below[at]!);
        });
        for (const side of ["callers", "callees"] as Side[]) {
            const listed = items.all.flatMap((item) => found.of(item, side).flatMap(({ caller, callee, value }) =>
                (value === null ? [] : [[`${caller} ${callee}`, value] as const])));
            assert.deepEqual(new Map(listed.sort()), new Map([...truth].sort()));
        }
    }
    assert.ok(cyclesSeen > 50);
});
