// SPDX-License-Identifier: GPL-2.0-or-later
//
// A small tree, counted by hand, for the tests of what is made of trees.

import { Table, type Facts, type Metric } from "../src/data";
import { ContextTree } from "../src/tree";

// main 1 calls f 10 and g 2, which calls f 20; f calls g 5 (another path). Recursion apart: f below f, 40.
export const facts = {
    above: [],
    events: ["Ir"],
    functions: [["main", 0, 0, 0], ["f", 0, 0, 0], ["g", 0, 0, 0]],
    frames: ["(other paths)", 0, 1, 2, "thread 1"],
    places: [[-1, 0]],
    tree: { folded: false, height: 4 },
} as unknown as Facts;
const nodes = [
    // parent + 1, frame, self, calls
    [0, 4, 0, 0], [1, 1, 1, 0], [2, 2, 10, 1], [2, 3, 2, 1], [4, 2, 20, 1], [3, 3, 5, 1], [3, 2, 40, 3],
];
const column = (index: number): Uint8Array => Uint8Array.from(nodes, (node) => node[index]!);
export const tree = new ContextTree(facts, new Table(nodes.length, new Map([
    ["parent", column(0)], ["frame", column(1)], ["place", new Uint8Array(nodes.length)], ["self:Ir", column(2)],
    ["calls", column(3)],
])));
export const instructions = { name: "Ir", numerator: [1], denominator: null } as Metric;
