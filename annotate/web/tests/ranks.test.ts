// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { aboveMean, colourReach, farthest, ordered, placesOf, strip } from "../src/ranks";

test("a strip knows its mean, its spread and who has most", () => {
    const found = strip("f", 3, [2, 4, 4, 4, 5, 5, 7, 9]);
    assert.deepEqual([found.mean, found.deviation, found.least, found.most, found.mostAt], [5, 2, 2, 9, 7]);
    assert.deepEqual([aboveMean(found, 7), aboveMean(found, 4), aboveMean(found, 0)], [0.8, 0, -0.6]);
    assert.equal(aboveMean(strip("none", null, [0, 0]), 1), 0);
    assert.equal(strip("first of two", null, [1, 3, 3]).mostAt, 1);
});

test("ranks stand by a key, and by number where it is the same", () => {
    assert.deepEqual([...ordered(4, null)], [0, 1, 2, 3]);
    assert.deepEqual([...ordered(5, [2, 1, 2, 1, 0])], [4, 1, 3, 0, 2]);
    assert.deepEqual([...ordered(5, [2, 1, 2, 1, 0], true)], [0, 2, 1, 3, 4]);
    assert.deepEqual([...ordered(4, [Infinity, 1, Infinity, 2])], [1, 3, 0, 2]);
});

test("each rank is in one cell, and the one that differs most is seen", () => {
    for (const [ranks, cells] of [[4, 4], [7, 3], [640, 640], [100_000, 640]] as const) {
        let next = 0;
        for (let cell = 0; cell < cells; ++cell) {
            const [from, to] = placesOf(cell, cells, ranks);
            assert.ok(from === next && to > from);
            next = to;
        }
        assert.equal(next, ranks);
    }
    const values = new Float64Array(100_000).fill(1000);
    values[70_001] = 5000;
    values[70_002] = 0;
    const [one, order] = [strip("f", 0, values), ordered(100_000, null)];
    const found = Array.from({ length: 640 }, (_, cell) => farthest(one, order, cell, 640));
    assert.deepEqual(found.filter((rank) => values[rank] !== 1000), [70_001]);
});

test("colours reach as far as the costs do", () => {
    assert.equal(colourReach([strip("f", 0, [100, 100])]), 0.05);
    assert.equal(colourReach([strip("f", 0, [92, 108]), strip("g", 1, [0, 0])]), 0.1);
    assert.equal(colourReach([strip("f", 0, [100, 500])]), 1);
});
