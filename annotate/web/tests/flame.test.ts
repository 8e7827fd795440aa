// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { Cell, layout, panned, rectAt, tops, wholeWindow, widths, zoomed } from "../src/flame";
import { Group } from "../src/tree";
import { instructions, tree } from "./samples";

test("the icicle's cells fit their parents, and nothing too narrow is made", () => {
    const values = widths(tree, instructions, false);
    const root = new Cell(Group.ofNode(tree, 0, false), values, null);
    const levels = layout([root], 780, 1);
    assert.deepEqual(levels.map((level) => level.map((rect) => [rect.cell.name, rect.x, rect.width])), [
        [["thread 1", 0, 780]], [[0, 0, 780]], [[1, 0, 550], [2, 550, 220]], [[1, 0, 400], [2, 400, 50], [1, 550, 200]],
    ]);
    assert.equal(rectAt(levels, 2, 549.5)?.cell.name, 1);
    assert.equal(rectAt(levels, 2, 775), null);
    assert.equal(layout([root], 780, 100).flat().length, 6);
});

test("a window leaves out what is beside it, and scales the rest", () => {
    const root = new Cell(Group.ofNode(tree, 0, false), widths(tree, instructions, false), null);
    const levels = layout([root], 780, 1, { from: 0.5, to: 1 });
    assert.deepEqual(levels.map((level) => level.map((rect) => [rect.cell.name, rect.x, rect.width])), [
        [["thread 1", -780, 1560]], [[0, -780, 1560]], [[1, -780, 1100], [2, 320, 440]],
        [[1, -780, 800], [2, 20, 100], [1, 320, 400]],
    ]);
});

test("looking closer keeps the place that it looks at, and stays within the whole", () => {
    const half = zoomed(wholeWindow, 0.25, 0.5);
    assert.deepEqual(half, { from: 0.125, to: 0.625 });
    assert.deepEqual(zoomed(half, 0.25, 2), wholeWindow);
    assert.deepEqual(panned(half, 10), { from: 0.5, to: 1 });
    assert.deepEqual(panned(half, -10), { from: 0, to: 0.5 });
    let at = wholeWindow;
    for (let step = 0; step < 500; ++step) at = zoomed(at, 0.7, 0.5);
    assert.ok(at.to > at.from && Math.abs(at.from - 0.7) < 1e-6, "it does not fall into itself");
});

test("bottom-up, functions have what they cost themselves, and callers their part of it", () => {
    const values = widths(tree, instructions, false, "self");
    const { down } = tops(tree, values, { node: null, sandwich: null, upside: true, fold: false });
    assert.deepEqual(down.map((cell) => [cell.name, cell.size]), [[1, 70], [2, 7], [0, 1]]);
    assert.deepEqual(down[0]!.children().map((cell) => [cell.name, cell.size]), [[1, 40], [2, 20], [0, 10]]);
    assert.equal(down.reduce((sum, cell) => sum + cell.size, 0), 78, "each cost once");
});
