// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { metricValue } from "../src/costs";
import { Cell, tops, widths, type Widths } from "../src/flame";
import { SvgPainter } from "../src/painter";
import { csv, folded } from "../src/save";
import { Group } from "../src/tree";
import { instructions, tree } from "./samples";

test("CSV quotes what it must, and nothing in it becomes a formula", () => {
    assert.equal(
        csv([["a", "b,c", 'd"e', 1.5, null], ["=1+1", "+x", "-x", "@x", -3], ["x\ny", "", "z", 0, 2 ** 52]]),
        'a,"b,c","d""e",1.5,\r\n\'=1+1,\'+x,\'-x,\'@x,-3\r\n"x\ny",,z,0,4503599627370496\r\n',
    );
});

const label = (cell: Cell): string =>
    (typeof cell.name === "number" ? ["main", "f;x", "g"][cell.name]! : cell.name);

test("folded stacks have a line for each path with a cost of its own", () => {
    const root = new Cell(Group.ofNode(tree, 0, false), widths(tree, instructions, false), null);
    const text = folded({ tops: [root], above: ["all"], upside: false }, label,
        (cell) => metricValue(instructions, cell.costs, "self") ?? 0);
    assert.deepEqual(text.split("\n").sort(), [
        "", "all;thread 1;main 1", "all;thread 1;main;f:x 10", "all;thread 1;main;f:x;f:x 40",
        "all;thread 1;main;f:x;g 5", "all;thread 1;main;g 2", "all;thread 1;main;g;f:x 20",
    ]);
});

test("stacks that are seen bottom-up are the same", () => {
    const values: Widths = widths(tree, instructions, false, "self");
    const { down } = tops(tree, values, { node: null, sandwich: null, upside: true, fold: false });
    const text = folded({ tops: down, above: [], upside: true }, label,
        (cell) => cell.size - cell.children().reduce((sum, child) => sum + child.size, 0));
    assert.deepEqual(text.split("\n").sort(), [
        "", "thread 1;main 1", "thread 1;main;f:x 10", "thread 1;main;f:x;f:x 40", "thread 1;main;f:x;g 5",
        "thread 1;main;g 2", "thread 1;main;g;f:x 20",
    ]);
});

test("names in SVG are text", () => {
    const painter = new SvgPainter(100, 20);
    painter.fill(0, 0, 10.123, 20, "rgb(1,2,3)");
    painter.write('</text><script>"&\u0000', 1, 2, "#000000");
    const text = painter.text();
    assert.ok(text.includes("&lt;/text&gt;&lt;script&gt;&quot;&amp;\ufffd</text>"));
    assert.ok(text.includes('width="10.1" height="20" fill="rgb(1,2,3)"'));
    assert.equal(text.match(/<text/g)!.length, 1);
});
