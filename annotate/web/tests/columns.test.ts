// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../src/views/columns";
import { parseWidths } from "../src/widths";

test("a column that is moved leaves the others in their order", () => {
    const names = ["a", "b", "c", "d"];
    assert.deepEqual(moved(names, 0, 2), ["b", "c", "a", "d"]);
    assert.deepEqual(moved(names, 3, 0), ["d", "a", "b", "c"]);
    assert.deepEqual(moved(names, 1, 1), names);
    for (const [from, to] of [[0, -1], [3, 4], [9, 0], [-1, 0]] as const) {
        assert.deepEqual(moved(names, from, to), names, "nowhere to move it");
    }
});

test("of stored widths only those are taken that can be some", () => {
    assert.deepEqual(parseWidths('{"Ir:self": 120, "a": "120", "b": 5, "c": 1e9, "d": null, "e": [120]}'),
        { "Ir:self": 120 });
    for (const text of [null, "", "null", "3", "[1]", "{", '"x"']) assert.deepEqual(parseWidths(text), {}, `${text}`);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`x${at}`, 100]));
    assert.equal(Object.keys(parseWidths(JSON.stringify(many))).length, 200);
});
