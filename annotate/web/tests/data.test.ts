// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { RowCosts, metricValue } from "../src/costs";
import { Table, decodeColumn, withoutDirections } from "../src/data";
import { parse } from "../src/state";
import { facts, instructions } from "./samples";

test("names cannot turn around what is behind them", () => {
    const name = "a\u202eb\u2066c\u200fd\u061c \\u202e \\\\";
    const ascii = JSON.stringify({ name, other: "\\" })
        .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const found = JSON.parse(withoutDirections(ascii)) as { name: string; other: string };
    assert.equal(found.name, "a\\u202eb\\u2066c\\u200fd\\u061c \\u202e \\\\");
    assert.equal(found.other, "\\");
});

test("columns are decoded, whatever their width", () => {
    const values = [[1, 255], [256, 65535], [65536, 2 ** 32 - 1], [2 ** 32, 2 ** 53 - 1]];
    values.forEach((column, index) => {
        const width = 2 ** index;
        const bytes = new Uint8Array(8 + Math.max(8, 2 * width));
        bytes[0] = width;
        column.forEach((value, row) => {
            for (let byte = 0; byte < width; ++byte) {
                bytes[8 + row * width + byte] = Math.floor(value / 256 ** byte) % 256;
            }
        });
        assert.deepEqual(Array.from(decodeColumn(bytes, 2)), column);
    });
    const floats = new Uint8Array(24);
    floats.set([8, 1]);
    new DataView(floats.buffer).setFloat64(8, 2 ** 64, true);
    new DataView(floats.buffer).setFloat64(16, 3e30, true);
    assert.deepEqual(Array.from(decodeColumn(floats, 2)), [2 ** 64, 3e30]);
    assert.throws(() => decodeColumn(new Uint8Array(8).fill(3), 0), /width/);
});

test("a metric of what is not known is unknown", () => {
    const table = new Table(1, new Map([["self:Ir", Uint8Array.of(3)]]));
    const row = new RowCosts(facts, table, 0);
    assert.equal(metricValue(instructions, row, "self"), 3);
    assert.equal(metricValue(instructions, row, "incl"), null);
    assert.equal(metricValue({ ...instructions, denominator: [0] }, row, "self"), null);
});
