// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { Table, type Facts } from "../src/data";
import { ShapedTree, type Inner } from "../src/shape";
import { ContextTree } from "../src/tree";
import { facts, tree } from "./samples";

const nothing = { hide: [], merge: [], collapse: false };

// Paths with what they cost themselves, as text.
function paths(of: ContextTree): Record<string, number> {
    const own = of.selfSum([1], "");
    const found: Record<string, number> = {};
    for (let node = 0; node < of.size; ++node) {
        const name = of.path(node).map((at) => String(of.facts.frames[of.frame[at]!])).join("/");
        assert.equal(found[name], undefined, "a path is there once");
        found[name] = own[node]!;
    }
    return found;
}

test("nothing to change leaves the tree", () => assert.equal(ShapedTree.of(tree, nothing), tree));

test("what is hidden is gone with all that it calls", () => {
    const shaped = ShapedTree.of(tree, { ...nothing, hide: [2] });
    assert.deepEqual(paths(shaped), { "thread 1": 0, "thread 1/0": 1, "thread 1/0/1": 10, "thread 1/0/1/1": 40 });
    assert.deepEqual(Array.from(shaped.inclusiveColumn(0, "")), [51, 51, 50, 40]);
    assert.equal(shaped.shaped(3), null);
});

test("what is merged gives its costs and callees to its callers", () => {
    const shaped = ShapedTree.of(tree, { ...nothing, merge: [2] });
    assert.deepEqual(paths(shaped), {
        "thread 1": 0, "thread 1/0": 3, "thread 1/0/1": 35, "thread 1/0/1/1": 40,
    }, "f that g called is main's now, one with the other f");
    assert.equal(shaped.inclusiveColumn(0, "")[0], 78);
    assert.equal(shaped.shaped(4), shaped.shaped(2));
    assert.equal(shaped.original(shaped.shaped(2)!), 2);
    assert.deepEqual(Array.from(shaped.column("calls")), [0, 0, 2, 3], "calls of g are none of main");
});

test("collapsed, no path has a function twice", () => {
    const shaped = ShapedTree.of(tree, { ...nothing, collapse: true });
    assert.deepEqual(paths(shaped), {
        "thread 1": 0, "thread 1/0": 1, "thread 1/0/1": 50, "thread 1/0/2": 2, "thread 1/0/2/1": 20,
        "thread 1/0/1/2": 5,
    });
});

test("random trees: as a naive reference has them, by the names on each path", () => {
    let seed = 1;
    const random = (below: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
    };
    for (let round = 0; round < 60; ++round) {
        const size = 2 + random(40);
        const rows = Array.from({ length: size }, (_, node) => ({
            parent: node ? 1 + random(node) : 0, frame: node ? 1 + random(3) : 4, self: random(9),
        }));
        const of = (name: "parent" | "frame" | "self"): Uint8Array => Uint8Array.from(rows, (row) => row[name]);
        const whole = new ContextTree(facts as Facts, new Table(size, new Map([
            ["parent", of("parent")], ["frame", of("frame")], ["place", new Uint8Array(size)], ["self:Ir", of("self")],
            ["calls", of("self")],
        ])));
        const shape = { hide: random(2) ? [random(3)] : [], merge: random(2) ? [random(3)] : [], collapse: !random(2) };
        const expected: Record<string, number> = {};
        rows.forEach((row, node) => {
            let names = whole.path(node).map((at) => facts.frames[rows[at]!.frame]!);
            if (names.some((name) => typeof name === "number" && shape.hide.includes(name))) return;
            names = names.filter((name) => !(typeof name === "number" && shape.merge.includes(name)));
            if (shape.collapse) {
                const kept: (number | string)[] = [];
                for (const name of names) {
                    if (kept.includes(name)) kept.length = kept.indexOf(name) + 1;
                    else kept.push(name);
                }
                names = kept;
            }
            const path = names.join("/");
            expected[path] = (expected[path] ?? 0) + row.self;
        });
        const found: Record<string, number> = {};
        const shaped = ShapedTree.of(whole, shape);
        const own = shaped.selfSum([1], "");
        for (let node = 0; node < shaped.size; ++node) {
            const path = shaped.path(node).map((at) => facts.frames[shaped.frame[at]!]).join("/");
            found[path] = (found[path] ?? 0) + own[node]!;
        }
        assert.deepEqual(found, expected, JSON.stringify(shape));
    }
});

// Of main (0) loop a, with loop b in it; of f (1) loop c.
const inner: Inner = {
    names: ["a", "b", "c"], parents: Uint8Array.from([0, 1, 0]), functions: Uint8Array.from([0, 0, 1]), own: null,
};

function withLoops(rows: { parent: number; frame: number; self: number; within: number }[]): ContextTree {
    const of = (name: "parent" | "frame" | "self" | "within"): Uint8Array => Uint8Array.from(rows, (row) => row[name]);
    return new ContextTree(facts as Facts, new Table(rows.length, new Map([
        ["parent", of("parent")], ["frame", of("frame")], ["place", new Uint8Array(rows.length)],
        ["self:Ir", of("self")], ["calls", of("self")], ["within", of("within")],
    ])));
}

function named(of: ContextTree): Record<string, number> {
    const own = of.selfSum([1], "");
    const found: Record<string, number> = {};
    for (let node = 0; node < of.size; ++node) {
        const path = of.path(node).map((at) => of.frames[of.frame[at]!]).join("/");
        found[path] = (found[path] ?? 0) + own[node]!;
    }
    return found;
}

// main 7 calls f 10 from b in a, and g 2 from a; g calls f 5.
const looped = withLoops([
    { parent: 0, frame: 4, self: 0, within: 0 }, { parent: 1, frame: 1, self: 7, within: 0 },
    { parent: 2, frame: 2, self: 10, within: 2 }, { parent: 2, frame: 3, self: 2, within: 1 },
    { parent: 4, frame: 2, self: 5, within: 0 },
]);

test("loops stand between a function and what it calls from them", () => {
    const shaped = ShapedTree.of(looped, nothing, inner);
    assert.deepEqual(named(shaped), {
        "thread 1": 0, "thread 1/0": 7, "thread 1/0/a": 0, "thread 1/0/a/b": 0, "thread 1/0/a/b/1": 10,
        "thread 1/0/a/2": 2, "thread 1/0/a/2/1": 5,
    });
    const a = shaped.children(1)[0]!;
    assert.deepEqual([shaped.inclusiveColumn(0, "")[a], shaped.innerFrame(shaped.frame[a]!)], [17, 0]);
    assert.equal(shaped.hasOwn(a), false, "what a costs itself is main's");
    for (let node = 0; node < shaped.size; ++node) assert.equal(shaped.shaped(shaped.original(node)), node, "links");
    assert.equal(looped.shaped(shaped.original(a)), 2, "a link to a loop, where none are shown");
});

test("what loops cost themselves is known of the function that a single path leads to", () => {
    const own = Uint8Array.from([1, 2, 4]);
    const shaped = ShapedTree.of(looped, nothing, { ...inner, own: (name) => (name === "self:Ir" ? own : undefined) });
    assert.deepEqual(named(shaped), {
        "thread 1": 0, "thread 1/0": 4, "thread 1/0/a": 1, "thread 1/0/a/b": 2, "thread 1/0/a/b/1": 10,
        "thread 1/0/a/2": 2, "thread 1/0/a/2/1": 5,
    }, "main is on one path, f on two");
    assert.equal(shaped.inclusiveColumn(0, "")[0], looped.inclusiveColumn(0, "")[0]);
    assert.ok(shaped.hasOwn(shaped.children(1)[0]!));
});

test("random trees with loops: as a naive reference has them", () => {
    let seed = 7;
    const random = (below: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
    };
    const around: Record<number, string[][]> = { 0: [[], ["a"], ["a", "b"]], 1: [[], ["c"]], 2: [[]] };
    const numbers: Record<string, number> = { "": 0, a: 1, b: 2, c: 3 };
    for (let round = 0; round < 80; ++round) {
        const rows: { parent: number; frame: number; self: number; within: number; loops: string[] }[] = [];
        for (let node = 0, size = 2 + random(40); node < size; ++node) {
            const parent = node ? 1 + random(node) : 0;
            const fn = parent && rows[parent - 1]!.frame !== 4 ? rows[parent - 1]!.frame - 1 : 2;
            const loops = around[fn]![random(around[fn]!.length)]!;
            rows.push({
                parent, frame: node ? 1 + random(3) : 4, self: random(9), within: numbers[loops.at(-1) ?? ""]!, loops,
            });
        }
        const shape = { hide: random(3) ? [] : [random(3)], merge: random(2) ? [random(3)] : [], collapse: !random(2) };
        const expected: Record<string, number> = {};
        const pathOf = (at: number): number[] =>
            [...(rows[at]!.parent ? pathOf(rows[at]!.parent - 1) : []), at];
        rows.forEach((row, node) => {
            const path = pathOf(node);
            const name = (at: number): number | string => facts.frames[rows[at]!.frame]!;
            if (path.some((at) => (shape.hide as unknown[]).includes(name(at)))) return;
            const isMerged = (at: number): boolean => (shape.merge as unknown[]).includes(name(at));
            const kept: (number | string)[] = [];
            path.forEach((at, index) => {
                const isAgain = shape.collapse && !isMerged(at) && kept.includes(name(at));
                if (isAgain) {
                    kept.length = kept.indexOf(name(at)) + 1;
                    return;
                }
                if (index && !isMerged(path[index - 1]!)) {
                    // A caller that was collapsed is the one on the path: its loops begin anew there.
                    kept.push(...rows[at]!.loops);
                }
                if (!isMerged(at)) kept.push(name(at));
            });
            const text = kept.join("/");
            expected[text] = (expected[text] ?? 0) + row.self;
        });
        const found = named(ShapedTree.of(withLoops(rows), shape, inner));
        for (const text of Object.keys(found)) if (!found[text] && !(text in expected)) delete found[text];
        for (const text of Object.keys(expected)) if (!expected[text] && !(text in found)) delete expected[text];
        assert.deepEqual(found, expected, JSON.stringify({ shape, rows }));
    }
});

test("many functions as one frame: what they call of each other is part of it", () => {
    const shaped = ShapedTree.of(tree, { ...nothing, join: [{ name: "lib", functions: [1, 2] }] });
    const own = shaped.selfSum([1], "");
    const found = Object.fromEntries(Array.from({ length: shaped.size }, (_, node) =>
        [shaped.path(node).map((at) => shaped.frames[shaped.frame[at]!]).join("/"), own[node]]));
    assert.deepEqual(found, { "thread 1": 0, "thread 1/0": 1, "thread 1/0/lib": 77 });
    assert.equal(shaped.innerFrame(shaped.frame[2]!), null);
    assert.deepEqual(Array.from(shaped.column("calls")), [0, 0, 2], "from main");
    // main and f: g that f calls stands below, and f that g calls below that.
    const other = ShapedTree.of(tree, { ...nothing, join: [{ name: "lib", functions: [0, 1] }] });
    assert.deepEqual(Array.from(other.inclusiveColumn(0, "")), [78, 78, 27, 20]);
});

test("loops of what is joined go with it", () => {
    const join = [{ name: "lib", functions: [0, 1] }];
    assert.deepEqual(named(ShapedTree.of(looped, { ...nothing, join }, inner)), {
        "thread 1": 0, "thread 1/lib": 17, "thread 1/lib/2": 2, "thread 1/lib/2/lib": 5,
    });
});
