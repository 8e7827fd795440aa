// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import {
    bytes, cacheSize, count, cssPercent, exactText, fitted, grouped, inSentence, metricText, percent, runsText, seconds,
    signed,
} from "../src/format";

test("counts have three digits and a unit", () => {
    const known: [number, string][] = [
        [0, "0"], [9_999, "9,999"], [10_000, "10.0k"], [999_400, "999k"], [999_600, "1.00M"], [1_234_567, "1.23M"],
        [-12_345_678, "−12.3M"], [2.5e12, "2.50T"], [1.26, "1.3"], [3557.8, "3,558"],
    ];
    for (const [value, text] of known) assert.equal(count(value), text);
    assert.equal(grouped(-1234567), "−1,234,567");
    assert.equal(bytes(421_000_000), "421 MB");
    assert.equal(bytes(12), "12 B");
    assert.equal(signed("1.2k", 1200), "+1.2k");
    assert.equal(signed("0.0%", 0.00001), "0.0%");
    assert.equal(inSentence("L1 bytes"), "L1 bytes");
    assert.equal(runsText([[0, 7], [9, 9]]), "0 to 7, 9");
    const shares: [number, string][] = [
        [0, "0.0%"], [1e-9, "<0.1%"], [-1e-9, "\u2212<0.1%"], [0.0006, "0.1%"], [-0.02, "\u22122.0%"], [1, "100.0%"],
    ];
    for (const [share, text] of shares) assert.equal(percent(share), text, "what is not nothing does not look like it");
    assert.deepEqual([0, 1e-9, 0.5, 2].map(cssPercent), ["0.00%", "0.00%", "50.00%", "100.00%"]);
    assert.equal(inSentence("Data reads"), "data reads");
});

test("times are as bd_annotate writes them", () => {
    const known: [number, string][] = [
        [0, "0"], [1.5, "1.50 s"], [0.99949, "999 ms"], [0.9996, "1.00 s"], [0.0456, "45.6 ms"], [1234, "1,234 s"],
        [-2.5e-6, "\u22122.50 µs"], [4e-9, "4 ns"],
    ];
    for (const [value, text] of known) assert.equal(seconds(value), text);
    const metric = {
        name: "TEst", heading: "time est.", title: "", numerator: [1], denominator: null, isShare: false, isTime: true,
        moreIsBetter: false, share: null,
    };
    assert.equal(metricText(metric, 161_000_000), "161 µs", "of picoseconds");
    assert.equal(exactText(metric, 161_234_567), "161,235 ns");
});

test("names give way in the middle", () => {
    const text = "ns::vector<int>::push_back";
    const cut = (width: number): string => fitted(text, (part) => part.length <= width);
    assert.equal(cut(26), text);
    assert.equal(cut(15), "ns::vec…sh_back");
    assert.equal(cut(5), "ns::…");
    assert.equal(cut(2), "");
    for (let width = 2; width < 26; ++width) assert.ok(cut(width).length <= width);
});

test("sizes of caches are as bd_annotate writes them", () => {
    const known: [number, string][] = [
        [512, "512 B"], [32768, "32 KiB"], [49152, "48 KiB"], [1246976, "1.2 MiB"], [2 ** 30, "1 GiB"],
        [76 * 1024 + 100, "76 KiB"], [6976, "6.8 KiB"],
    ];
    for (const [value, text] of known) assert.equal(cacheSize(value), text);
});
