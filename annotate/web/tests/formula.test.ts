// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { metricValue, type Costs } from "../src/costs";
import type { Metric } from "../src/data";
import { formula } from "../src/formula";
import { metricText } from "../src/format";

const events = ["Ir", "D1mr", "D1mw", "Dr"];
const counts: Record<string, number> = { Ir: 1000, D1mr: 30, D1mw: 12, Dr: 400 };
const costs: Costs = { cost: (_kind, event) => counts[events[event]!]! };
const metrics = new Map(Object.entries({
    D1m: { name: "D1m", numerator: [0, 1, 1, 0], denominator: null } as Metric,
    rate: { name: "rate", numerator: [0, 1, 0, 0], denominator: [0, 0, 0, 1] } as Metric,
}));
const made = (text: string): ReturnType<typeof formula> => formula(text, events, (name) => metrics.get(name));

test("a formula has the value that JavaScript gives it", () => {
    const { Ir, D1mr, D1mw, Dr } = counts as Record<"Ir" | "D1mr" | "D1mw" | "Dr", number>;
    const known: [string, number][] = [
        ["Ir", Ir], ["D1mr + D1mw", D1mr + D1mw], ["D1m", D1mr + D1mw],
        ["1000 * D1m / Ir", (1000 * (D1mr + D1mw)) / Ir],
        ["D1m/Ir*1e3", ((D1mr + D1mw) / Ir) * 1000], ["(D1mr-D1mw)/(Ir - Dr)", (D1mr - D1mw) / (Ir - Dr)],
        ["-2*(Ir - 3*Dr)/4", (-2 * (Ir - 3 * Dr)) / 4], ["rate * 100", (D1mr / Dr) * 100], ["rate/2", D1mr / Dr / 2],
        ["Ir + Dr - Ir", Dr], ["2.5*Dr", 2.5 * Dr], ["--Ir", Ir],
    ];
    for (const [text, value] of known) {
        const found = metricValue(made(text), costs, "self")!;
        assert.ok(Math.abs(found - value) < 1e-9 * Math.abs(value), `${text}: ${found}, not ${value}`);
        assert.equal(made(text).name, text);
    }
});

test("what is no column says why", () => {
    const known: [string, RegExp][] = [
        ["", /missing/], ["Ir +", /missing/], ["(Ir", /\) is missing/], ["Ir)", /not expected/],
        ["Ir Dr", /not expected/],
        ["Nope/Ir", /Nope is no event/], ["Ir*Dr", /product/], ["Ir/Dr/D1m", /only once/], ["Ir/Dr + D1m", /quotients/],
        ["Ir + 3", /number alone/], ["1000/Ir", /number alone/], ["3", /number alone/], ["Ir - Ir", /always 0/],
        ["Ir/0", /divided by 0/], ["Ir; alert(1)", /not understood/], ["__proto__", /no event/],
        ["a".repeat(300), /long/],
        ["(".repeat(100) + "Ir", /deep/], ["-".repeat(100) + "Ir", /deep/], ["Ir ^ 2", /not understood/],
    ];
    for (const [text, reason] of known) assert.throws(() => made(text), reason, text);
});

test("small quotients keep three digits", () => {
    const texts = [0.01234, 0.5, 12.34, 0, 123456].map((value) => metricText(made("D1m/Ir"), value));
    assert.deepEqual(texts, ["0.0123", "0.500", "12.3", "0.0", "123k"]);
});
