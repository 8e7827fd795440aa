// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { Table, type Facts } from "../src/data";
import { ShapedTree } from "../src/shape";
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
