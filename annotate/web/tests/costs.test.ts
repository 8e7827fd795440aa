// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { RowCosts, SumCosts, TotalCosts, halfWidth } from "../src/costs";
import { Table, type Facts, type Metric } from "../src/data";
import { plusMinus } from "../src/format";

const facts = { events: ["Ir", "Dr"] } as unknown as Facts;
const metric = (numerator: number[], denominator: number[] | null = null): Metric =>
    ({ name: "", numerator, denominator }) as Metric;
const table = (columns: Record<string, number[]>): Table =>
    new Table(2, new Map(Object.entries(columns).map(([name, values]) => [name, Uint16Array.from(values)])));

// The first row has 2,000 ± 150 and 300 ± 40 (of its own, Dr may be off by more than it is); of the second, nothing is
// known.
const costs = table({ "self:Ir": [2000, 7], "self:Dr": [20, 7], "incl:Ir": [2000, 7], "incl:Dr": [300, 7] });
const widths = table({ "self:Ir": [151, 0], "self:Dr": [41, 0], "incl:Ir": [151, 0], "incl:Dr": [41, 0] });

test("a sum of events may be off by the sum of what they may", () => {
    const row = new RowCosts(facts, costs, 0, widths);
    assert.equal(halfWidth(metric([1, 0]), row, "incl"), 150);
    assert.equal(halfWidth(metric([1, 10]), row, "incl"), 150 + 400);
    assert.equal(halfWidth(metric([1, -2]), row, "incl"), 150 + 80);
    assert.equal(halfWidth(metric([0, 1]), row, "self"), null, "more than it is");
    assert.equal(halfWidth(metric([1, 0], [0, 1]), row, "incl"), undefined, "a ratio");
    assert.equal(halfWidth(metric([0, 0]), row, "incl"), undefined, "nothing");
});

test("what is not known is not exact", () => {
    const one = metric([1, 0]);
    assert.equal(halfWidth(one, new RowCosts(facts, costs, 1, widths), "self"), null);
    assert.equal(halfWidth(one, new RowCosts(facts, costs, 0, null), "self"), null, "of a part of the profiles");
    assert.equal(halfWidth(one, new RowCosts(facts, costs, 0), "self"), undefined, "exact");
    assert.equal(halfWidth(one, new TotalCosts([[2000, 300]], [150, 40]), "self"), 150);
    assert.equal(halfWidth(one, new TotalCosts([[2000, 300]], null), "self"), null);
    assert.equal(halfWidth(one, new TotalCosts([[2000, 300]]), "self"), undefined);
    assert.equal(halfWidth(one, new SumCosts([new RowCosts(facts, costs, 0, widths)]), "self"), undefined);
});

test("intervals are in percent, as bd_annotate has them", () => {
    assert.equal(plusMinus(2000, 150), "±8%");
    assert.equal(plusMinus(-2000, 15), "±0.8%");
    assert.equal(plusMinus(2000, 0), "±0.0%");
    assert.equal(plusMinus(2000, null), "?");
    assert.equal(plusMinus(2000, undefined), "");
    assert.equal(plusMinus(0, null), "");
});
