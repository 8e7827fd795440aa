// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { RowCosts, metricValue } from "../src/costs";
import { Table, Waits, withoutDirections } from "../src/data";
import { decodeColumn, orderBy, references, type Column } from "../src/packed";
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

// As html/tables.py says: the lowest bytes of all, then the next ones of all.
const byBytes = (values: number[], width: number): number[] =>
    Array.from({ length: width }).flatMap((_, byte) => values.map((value) => Math.floor(value / 256 ** byte) % 256));

const head = (...bytes: number[]): number[] => [...bytes, ...Array<number>(8 - bytes.length).fill(0)];

const decoded = (bytes: number[], rows: number): number[] =>
    Array.from(decodeColumn(Uint8Array.from(bytes), rows));

test("columns are decoded, whatever their width", () => {
    const values = [[1, 255], [256, 65535], [65536, 2 ** 32 - 1], [2 ** 32, 2 ** 53 - 1]];
    values.forEach((column, index) => {
        const width = 2 ** index;
        assert.deepEqual(decoded([...head(width), ...byBytes(column, width)], 2), column);
    });
    const bytes = new DataView(new ArrayBuffer(16));
    bytes.setFloat64(0, 2 ** 64, true);
    bytes.setFloat64(8, 3e30, true);
    const floats = Array.from({ length: 16 }, (_, at) => bytes.getUint8((at % 2) * 8 + Math.floor(at / 2)));
    assert.deepEqual(decoded([...head(8, 1), ...floats], 2), [2 ** 64, 3e30]);
    assert.throws(() => decodeColumn(new Uint8Array(8).fill(3), 0), /width/);
});

test("columns of differences go on at 0 where they reach beyond their width", () => {
    for (const width of [1, 2, 4]) {
        const limit = 2 ** (8 * width);
        const steps = [7, 3, limit - 5, limit - 1]; // 7, 10, 5, 4
        assert.deepEqual(decoded([...head(width, 0, 1), ...byBytes(steps, width)], 4), [7, 10, 5, 4]);
        const ranks = [1, 1, limit - 97, 0]; // of rows 1 to 4
        assert.deepEqual(decoded([...head(width, 0, 2), ...byBytes(ranks, width)], 4), [0, 1, 100, 4]);
    }
});

test("sparse columns are 0 but for what they have", () => {
    const sparse = [...head(4, 0, 3, 2, 3), ...byBytes([2, 1, 301], 2), ...byBytes([70_000, 2, 9], 4)];
    const found = decoded(sparse, 400);
    assert.equal(found.length, 400);
    assert.deepEqual(found.map((value, row) => [row, value]).filter(([, value]) => value),
        [[1, 70_000], [2, 2], [303, 9]]);
    const large = [...head(8, 0, 3, 1, 1), 3, ...byBytes([2 ** 40], 8)];
    assert.deepEqual(decoded(large, 4), [0, 0, 2 ** 40, 0]);
    assert.deepEqual(decoded(head(1, 0, 3, 1), 3), [0, 0, 0]);
});

// As html/tables.py says: a number and a weight, of two bytes each, the lower one first.
const reference = (column: number, weight: number): number[] =>
    [...byBytes([column], 2), ...byBytes([weight & 0xffff], 2)];

test("rows are ordered by several columns, the first one first, then by their numbers", () => {
    assert.deepEqual([...orderBy([Uint8Array.of(2, 0, 1, 2, 1)])], [2, 4, 0, 3]);
    const two = [Uint8Array.of(2, 9, 1, 2, 1), Uint16Array.of(500, 0, 400, 300, 400)];
    assert.deepEqual([...orderBy(two)], [2, 4, 3, 0, 1]);
    let seed = 1;
    const random = (limit: number): number => (seed = (seed * 48271) % 0x7fffffff) % limit;
    for (const limit of [3, 300, 70_000, 2 ** 31]) {
        const one = Float64Array.from({ length: 500 }, () => random(limit) * (limit > 70_000 ? 2 ** 21 : 1));
        const other = Uint32Array.from({ length: 500 }, () => random(limit));
        const rows = [...one.keys()].filter((row) => one[row])
            .sort((a, b) => one[a]! - one[b]! || other[a]! - other[b]! || a - b);
        assert.deepEqual([...orderBy([one, other])], rows);
    }
});

test("columns in the order of others have the rest behind it", () => {
    const first = Uint8Array.of(2, 0, 1, 2, 0);
    const whole = [...head(2, 0, 4, 1, 5), ...reference(7, 0), ...head(2), ...byBytes([10, 300, 30, 7, 8], 2)];
    assert.deepEqual(references(Uint8Array.from(whole)), [{ column: 7, weight: 0 }]);
    const decode = (bytes: number[], others: Column[]): number[] =>
        [...decodeColumn(Uint8Array.from(bytes), 5, others)];
    assert.deepEqual(decode(whole, [first]), [300, 7, 10, 30, 8]);
    const known = [...head(1, 0, 4, 1, 3), ...reference(0, 0), ...head(1), 10, 20, 30];
    assert.deepEqual(decode(known, [first]), [20, 0, 10, 30, 0]);
    const sparse = [...head(1, 0, 4, 1, 3), ...reference(0, 0), ...head(1, 0, 3, 1, 1), 2, 9];
    assert.deepEqual(decode(sparse, [first]), [9, 0, 0, 0, 0]);
});

test("sums of columns have what these do not tell behind them", () => {
    const whole = [...head(1, 0, 5, 2), ...reference(1, 64), ...reference(300, -1), ...head(1), 0, 1, 4];
    assert.deepEqual(references(Uint8Array.from(whole)), [{ column: 1, weight: 64 }, { column: 300, weight: -1 }]);
    const others = [Uint8Array.of(1, 2, 0), Uint16Array.of(60, 100, 0)];
    assert.deepEqual([...decodeColumn(Uint8Array.from(whole), 3, others)], [4, 27, 2]);
    const large = [...head(8, 0, 5, 1), ...reference(0, 1), ...head(8), ...byBytes([2 ** 40 + 1], 8)];
    assert.deepEqual([...decodeColumn(Uint8Array.from(large), 1, [Float64Array.of(2 ** 50)])], [2 ** 50 - 2 ** 39 - 1]);
});

test("a metric of what is not known is unknown", () => {
    const table = new Table(1, new Map([["self:Ir", Uint8Array.of(3)]]));
    const row = new RowCosts(facts, table, 0);
    assert.equal(metricValue(instructions, row, "self"), 3);
    assert.equal(metricValue(instructions, row, "incl"), null);
    assert.equal(metricValue({ ...instructions, denominator: [0] }, row, "self"), null);
});

test("columns that would wait for each other are refused", () => {
    const waits = new Waits();
    waits.add("tree a", "tree b");
    waits.add("tree b", "lines c");
    waits.add("tree a", "lines c");
    for (const column of ["tree a", "tree b", "lines c"]) assert.throws(() => waits.add("lines c", column), /damaged/);
    waits.add("lines c", "tree d");
    assert.throws(() => waits.add("tree d", "tree a"), /refer to each other/);
});
