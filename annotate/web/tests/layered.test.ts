// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { ascending, layered, type Band, type Box } from "../src/layered";

const near = (one: number, other: number): boolean => Math.abs(one - other) < 1e-6;

test("a chain is straight, and what is called twice stands between its callers", () => {
    const box = (layer: number): Box => ({ layer, height: 40 });
    const chain = layered([box(-1), box(0), box(1)], [{ from: 0, to: 1, width: 9 }, { from: 1, to: 2, width: 9 }], 16);
    assert.deepEqual(chain, { tops: [0, 0, 0], routes: [[], []], height: 40 });
    const { tops, height } = layered(
        [box(0), box(0), box(1)], [{ from: 0, to: 2, width: 5 }, { from: 1, to: 2, width: 5 }], 16,
    );
    assert.deepEqual([tops, height], [[0, 56, 28], 96]);
});

test("a long chain is straight, whatever it leads to", () => {
    const layers = [0, 1, 2, 3, 4, 5, 6, 6, 6, 7];
    const bands = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [5, 7], [5, 8], [6, 9], [7, 9]];
    const widths = [90, 90, 90, 90, 90, 80, 6, 4, 80, 6];
    const { tops } = layered(layers.map((layer) => ({ layer, height: 100 })),
        bands.map(([from, to], at) => ({ from: from!, to: to!, width: widths[at]! })), 16);
    for (const top of tops.slice(0, 6)) assert.ok(Math.abs(top - tops[5]!) < 2, String(tops));
});

test("bands do not cross where they need not, and pass boxes by", () => {
    const boxes = [0, 0, 0, 1, 1, 1].map((layer): Box => ({ layer, height: 20 }));
    const turned = layered(boxes, [[0, 5], [1, 4], [2, 3]].map(([from, to]): Band =>
        ({ from: from!, to: to!, width: 3 })), 10);
    const place = turned.tops;
    assert.ok(place[0]! < place[1]! === place[5]! < place[4]! && place[1]! < place[2]! === place[4]! < place[3]!);
    const passed = layered([0, 1, 2].map((layer): Box => ({ layer, height: 20 })), [
        { from: 0, to: 1, width: 4 }, { from: 1, to: 2, width: 4 }, { from: 0, to: 2, width: 6 },
    ], 10);
    const [way] = passed.routes[2]!;
    assert.equal(passed.routes[2]!.length, 1);
    assert.ok(way! + 3 <= passed.tops[1]! || way! - 3 >= passed.tops[1]! + 20);
});

test("no boxes, no layout", () => {
    assert.deepEqual(layered([], [], 9), { tops: [], routes: [], height: 0 });
});

function numbers(seed: number): (below: number) => number {
    return (below) => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
    };
}

test("values that never fall: as min and max have them", () => {
    const random = numbers(3);
    for (let round = 0; round < 200; ++round) {
        const values = Array.from({ length: random(12) }, () => ({ value: random(20), weight: 1 + random(5) }));
        const mean = (from: number, to: number): number => {
            const part = values.slice(from, to + 1);
            return part.reduce((sum, { value, weight }) => sum + value * weight, 0)
                / part.reduce((sum, { weight }) => sum + weight, 0);
        };
        ascending(values).forEach((value, at) => {
            const truth = Math.max(...values.slice(0, at + 1).map((_, from) =>
                Math.min(...values.slice(at).map((_, more) => mean(from, at + more)))));
            assert.ok(near(value, truth), `${JSON.stringify(values)} at ${at}`);
        });
    }
});

test("random graphs: boxes and bands of a layer never overlap, and the same graph looks the same", () => {
    const random = numbers(5);
    for (let round = 0; round < 100; ++round) {
        const boxes = Array.from({ length: 1 + random(30) }, (): Box =>
            ({ layer: random(6) - 2, height: 20 + random(60) }));
        const bands: Band[] = [];
        for (let more = random(60); more > 0; --more) {
            const [one, other] = [random(boxes.length), random(boxes.length)];
            if (boxes[one]!.layer < boxes[other]!.layer) bands.push({ from: one, to: other, width: 1 + random(20) });
        }
        const found = layered(boxes, bands, 12);
        assert.deepEqual(layered(boxes, bands, 12), found);
        for (let layer = -2; layer < 4; ++layer) {
            const spans = boxes.flatMap((box, at) =>
                (box.layer === layer ? [[found.tops[at]!, found.tops[at]! + box.height]] : []));
            bands.forEach(({ from, width }, at) => {
                const middle = found.routes[at]![layer - boxes[from]!.layer - 1];
                if (middle !== undefined) spans.push([middle - width / 2, middle + width / 2]);
            });
            spans.sort(([one], [other]) => one! - other!);
            spans.forEach(([top, bottom], at) => {
                assert.ok(top! > -1e-6 && bottom! < found.height + 1e-6);
                assert.ok(!at || spans[at - 1]![1]! < top! + 1e-6);
            });
        }
        bands.forEach(({ from, to }, at) =>
            assert.equal(found.routes[at]!.length, boxes[to]!.layer - boxes[from]!.layer - 1));
    }
});
