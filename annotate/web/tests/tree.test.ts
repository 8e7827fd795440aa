// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { metricValue } from "../src/costs";
import { Table, type Facts } from "../src/data";
import { tops, widths } from "../src/flame";
import { ContextTree, Group } from "../src/tree";
import { facts, instructions, tree } from "./samples";

test("inclusive costs are sums over what is below", () => {
    assert.deepEqual(Array.from(tree.inclusiveColumn(0, "")), [78, 78, 55, 22, 20, 5, 40]);
    assert.deepEqual(tree.path(4), [0, 1, 3, 4]);
    assert.deepEqual(Array.from(tree.children(1)), [2, 3]);
});

test("a function's callees and callers over all paths", () => {
    const f = Group.calleesOf(tree, 1, false);
    assert.equal(metricValue(instructions, f, "self"), 30, "not that of the inner f, which is a callee");
    assert.equal(metricValue(instructions, f, "incl"), 75, "the inner f counts once");
    assert.deepEqual(f.children().map((group) => [group.name, group.cost("incl", 0, "")]), [[2, 5], [1, 40]]);
    const callers = Group.callersOf(tree, 1, false).children();
    const shown = callers.map((group) => [group.name, group.cost("incl", 0, ""), group.cost("self", 0, "")]);
    assert.deepEqual(shown, [[0, 55, 10], [2, 20, 20], [1, 0, 40]]);
    assert.deepEqual(callers[1]!.children().map((group) => group.name), [0]);
});

test("what only starts the program is one group, downwards and upwards", () => {
    // A root calls _start 1, which calls start_main 2 and init 4; start_main calls main 8, which calls _start's
    // function 16 again.
    const names = ["_start", "start_main", "init", "main"];
    const starts = {
        ...facts, above: [0, 1], frames: ["thread 1", 0, 1, 2, 3], functions: names.map((name) => [name, 0, 0, 0]),
    } as unknown as Facts;
    const rows = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 3, 4], [3, 4, 8], [5, 1, 16]];
    const of = (index: number): Uint8Array => Uint8Array.from(rows, (row) => row[index]!);
    const started = new ContextTree(starts, new Table(rows.length, new Map([
        ["parent", of(0)], ["frame", of(1)], ["place", new Uint8Array(rows.length)], ["self:Ir", of(2)],
        ["calls", of(2)],
    ])));
    const told = (groups: Group[]): unknown[] =>
        groups.map((group) => [group.name, group.cost("incl", 0, ""), group.cost("self", 0, "")]);
    const root = Group.ofNode(started, 0, true);
    assert.deepEqual(told(root.children()), [["(above main)", 31, 3]]);
    assert.deepEqual(told(root.children()[0]!.children()), [[2, 4, 4], [3, 24, 8]]);
    assert.deepEqual(told(Group.ofNode(started, 0, false).children()), [[0, 31, 1]]);
    const ofStart = told(Group.ofNode(started, 1, true).children());
    assert.deepEqual(ofStart, [[1, 26, 2], [2, 4, 4]], "its own start is asked for");
    const up = Group.callersOf(started, 3, true).children();
    assert.deepEqual(told(up), [["(above main)", 24, 8]]);
    assert.deepEqual(told(up[0]!.children()), [["thread 1", 24, 8]]);
    const looked = { node: 4, sandwich: null, upside: false, fold: true };
    const values = widths(started, instructions, false);
    assert.deepEqual(tops(started, values, looked).above.map((cell) => [cell.name, cell.size]), [
        ["thread 1", 31], ["(above main)", 31],
    ]);
    assert.deepEqual(tops(started, values, { ...looked, node: 2 }).above.map((cell) => cell.name), ["thread 1", 0]);
});
