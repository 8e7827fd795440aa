// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { Plot, missesAt } from "../src/plot";

test("a curve is drawn from its first size to one doubling behind where nothing changes", () => {
    const sizes = Array.from({ length: 61 }, (_, at) => Math.ceil(32768 * 2 ** (at / 4)));
    const misses = [800, 800, 800, 800, 400, 400, 400, 400, 100];
    const curve = { misses, firstTouches: 100, knees: [], fits: 8, says: "" };
    const frame = { width: 640, height: 240, left: 40, right: 60, top: 20, bottom: 30 };
    const plot = new Plot(frame, sizes, [curve as never]);
    assert.equal(plot.last, 12);
    assert.equal(plot.x(sizes[0]!), 40);
    assert.ok(Math.abs(plot.x(sizes[12]!) - 580) < 1e-9);
    assert.ok(Math.abs(plot.x(sizes[4]!) - 220) < 1e-9); // a doubling of three
    assert.deepEqual([plot.y(800), plot.y(400), plot.y(0)], [20, 115, 210]);
    assert.equal(missesAt(curve as never, 60), 100);
    assert.equal(plot.points(curve as never).split(" ").length, 13);
    assert.deepEqual(plot.sizeTicks(64), [32768, 65536, 131072, 262144]);
    assert.deepEqual(plot.sizeTicks(200), [32768, 131072]);
    assert.deepEqual(plot.missTicks(), [0, 200, 400, 600, 800]);
    assert.deepEqual([plot.nearest(0), plot.nearest(223), plot.nearest(1000)], [0, 4, 12]);
    // Where nothing changes at all, there is something to see.
    const flat = { ...curve, misses: [5] };
    const other = new Plot(frame, sizes, [flat as never]);
    assert.equal(other.last, 8);
    assert.deepEqual(other.missTicks(), [0, 2, 4]);
});
