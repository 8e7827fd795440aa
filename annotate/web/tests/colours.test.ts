// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColour, contrast, shareColour, textOn } from "../src/colours";

test("a darker colour is a larger share", () => {
    const light = ([r, g, b]: readonly [number, number, number]): number => 0.299 * r + 0.587 * g + 0.114 * b;
    const scale = [0, 0.25, 0.5, 0.75, 1].map((share) => light(shareColour(share)));
    assert.deepEqual([...scale].sort((one, other) => other - one), scale);
});

test("text can be read on every shade", () => {
    const text: Record<string, readonly [number, number, number]> = {
        "#000000": [0, 0, 0], "#ffffff": [255, 255, 255],
    };
    assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
    for (let at = 0; at <= 1; at += 0.001) {
        for (const shade of [shareColour(at), changeColour(2 * at - 1)]) {
            assert.ok(contrast(shade, text[textOn(shade)]!) >= 4.5, `${shade}`);
        }
    }
});
