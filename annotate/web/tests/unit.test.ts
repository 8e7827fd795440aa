// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColour, contrast, shareColour, textOn } from "../src/colours";
import { RowCosts, metricValue } from "../src/costs";
import { Table, decodeColumn, withoutDirections, type Facts, type Metric } from "../src/data";
import { Cell, layout, picture, rectAt, widths } from "../src/flame";
import { matcher } from "../src/find";
import { bytes, cacheSize, count, cssPercent, fitted, grouped, inSentence, percent, signed } from "../src/format";
import { Links } from "../src/links";
import { Plot, missesAt } from "../src/plot";
import { fragment, parse } from "../src/state";
import { ContextTree, Group } from "../src/tree";

test("counts have three digits and a unit", () => {
    const known: [number, string][] = [
        [0, "0"], [9_999, "9,999"], [10_000, "10.0k"], [999_400, "999k"], [999_600, "1.00M"], [1_234_567, "1.23M"],
        [-12_345_678, "−12.3M"], [2.5e12, "2.50T"], [1.26, "1.3"],
    ];
    for (const [value, text] of known) assert.equal(count(value), text);
    assert.equal(grouped(-1234567), "−1,234,567");
    assert.equal(bytes(421_000_000), "421 MB");
    assert.equal(bytes(12), "12 B");
    assert.equal(signed("1.2k", 1200), "+1.2k");
    assert.equal(signed("0.0%", 0.00001), "0.0%");
    assert.equal(inSentence("L1 bytes"), "L1 bytes");
    const shares: [number, string][] = [
        [0, "0.0%"], [1e-9, "<0.1%"], [-1e-9, "\u2212<0.1%"], [0.0006, "0.1%"], [-0.02, "\u22122.0%"], [1, "100.0%"],
    ];
    for (const [share, text] of shares) assert.equal(percent(share), text, "what is not nothing does not look like it");
    assert.deepEqual([0, 1e-9, 0.5, 2].map(cssPercent), ["0.00%", "0.00%", "50.00%", "100.00%"]);
    assert.equal(inSentence("Data reads"), "data reads");
});

const links = new Links({
    metrics: [{ name: "Ir" }, { name: "Dr" }], tables: { tree: { rows: 20, columns: [] } },
    files: ["a.c", "b.c"], objects: ["x", "y"],
    functions: [
        ["f", 0, 0, 0], ["a<b>&", 0, 0, 0], ["same", 0, 0, 0], ["same", 0, 1, 0], ["same", 1, 1, 0], ["400", 0, 0, 0],
    ],
    data: { groups: [{ label: "heap a.c:3" }, { label: "heap a.c:3" }] },
} as unknown as Facts);

test("what is looked at survives the fragment, by name", () => {
    const link = "metric=Ir&fn=same%7Cb.c%7Cy&node=12&focus=1&hide=f&hide=a%3Cb%3E%26&above=1&q=a%3Cb%3E%26"
        + "&table=flat&cols=Ir%3Aself%2CDr%3Aincl&sort=Ir%3Aself&up=1&file=b.c&line=7&object=heap+a.c%3A3%7C%7C2";
    const { state, problems } = parse(`#icicle?${link}`, links);
    assert.deepEqual(problems, []);
    assert.equal(state.view, "icicle");
    assert.equal(state.q, "a<b>&");
    assert.deepEqual([state.fn, state.hide, state.file, state.object], [4, [0, 1], 1, 1]);
    assert.deepEqual(parse(fragment(state, links), links).state, state);
    for (let fn = 0; fn < 6; ++fn) assert.equal(parse(fragment({ ...state, fn }, links), links).state.fn, fn);
});

test("what a link names and the report has not is left out, and said", () => {
    const link = "#graph?fn=7&metric=Nope&cols=Ir:self,Nope:incl,Ir:odd&sort=No&table=wrong&node=20&hide=h&hide=f"
        + "&file=c.c&line=x&object=no&focus=1";
    const { state, problems } = parse(link, links);
    assert.deepEqual(problems, [
        "column Nope:incl", "column Ir:odd", "metric Nope", "function 7", "node 20", "function h", "table wrong",
        "column No", "file c.c", "line x", "data no",
    ]);
    assert.deepEqual([state.fn, state.metric, state.cols, state.node, state.hide], [null, "", "Ir:self", null, [0]]);
    assert.equal(state.focus, false, "nothing is chosen to be looked at");
    assert.equal(parse("#nowhere", links).state.view, "summary");
    assert.deepEqual(parse("", links).problems, []);
    assert.equal(parse("#graph?fn=400", links).state.fn, 5, "a name that is a number");
});

test("names cannot turn around what is behind them", () => {
    const name = "a\u202eb\u2066c\u200fd\u061c \\u202e \\\\";
    const ascii = JSON.stringify({ name, other: "\\" })
        .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const found = JSON.parse(withoutDirections(ascii)) as { name: string; other: string };
    assert.equal(found.name, "a\\u202eb\\u2066c\\u200fd\\u061c \\u202e \\\\");
    assert.equal(found.other, "\\");
});

test("a search is plain text unless it is said to be a regular expression", () => {
    const names = ["operator()(int)", "operator delete(void*, unsigned long)", "Operator+", "f[0]"];
    const found = (q: string, re = false): number[] => {
        const match = matcher({ q, re });
        return names.flatMap((name, at) => (match!(name) ? [at] : []));
    };
    assert.equal(matcher({ q: "", re: true }), null);
    assert.deepEqual(found("operator()"), [0]);
    assert.deepEqual(found("operator delete(void*, unsigned long)"), [1]);
    assert.deepEqual(found("operator"), [0, 1, 2]);
    assert.deepEqual(found("[0]"), [3]);
    assert.deepEqual(found("^operator.*(int|long)\\)$", true), [0, 1]);
    assert.deepEqual(found("(", true), [], "no regular expression");
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

// main 1 calls f 10 and g 2, which calls f 20; f calls g 5 (another path). Recursion apart: f below f, 40.
const facts = {
    above: [],
    events: ["Ir"],
    functions: [["main", 0, 0, 0], ["f", 0, 0, 0], ["g", 0, 0, 0]],
    frames: ["(other paths)", 0, 1, 2, "thread 1"],
    places: [[-1, 0]],
    tree: { folded: false, height: 4 },
} as unknown as Facts;
const nodes = [
    // parent + 1, frame, self, calls
    [0, 4, 0, 0], [1, 1, 1, 0], [2, 2, 10, 1], [2, 3, 2, 1], [4, 2, 20, 1], [3, 3, 5, 1], [3, 2, 40, 3],
];
const column = (index: number): Uint8Array => Uint8Array.from(nodes, (node) => node[index]!);
const tree = new ContextTree(facts, new Table(nodes.length, new Map([
    ["parent", column(0)], ["frame", column(1)], ["place", new Uint8Array(nodes.length)], ["self:Ir", column(2)],
    ["calls", column(3)],
])));
const instructions = { name: "Ir", numerator: [1], denominator: null } as Metric;

test("inclusive costs are sums over what is below", () => {
    assert.deepEqual(Array.from(tree.inclusiveColumn(0, "")), [78, 78, 55, 22, 20, 5, 40]);
    assert.deepEqual(tree.path(4), [0, 1, 3, 4]);
    assert.deepEqual(Array.from(tree.children(1)), [2, 3]);
});

test("a function's callees and callers over all paths", () => {
    const f = Group.calleesOf(tree, 1, false);
    assert.equal(metricValue(instructions, f, "self"), 30, "not that of the inner f, which is a callee");
    assert.equal(metricValue(instructions, f, "incl"), 75, "the inner f counts once");
    assert.deepEqual(f.children().map((group) => [group.name, group.cost("incl", 0, "")]), [[2, 5], [1, 40]]);
    const callers = Group.callersOf(tree, 1, false).children();
    const shown = callers.map((group) => [group.name, group.cost("incl", 0, ""), group.cost("self", 0, "")]);
    assert.deepEqual(shown, [[0, 55, 10], [2, 20, 20], [1, 0, 40]]);
    assert.deepEqual(callers[1]!.children().map((group) => group.name), [0]);
});

test("what only starts the program is one group, downwards and upwards", () => {
    // A root calls _start 1, which calls start_main 2 and init 4; start_main calls main 8, which calls _start's
    // function 16 again.
    const names = ["_start", "start_main", "init", "main"];
    const starts = {
        ...facts, above: [0, 1], frames: ["thread 1", 0, 1, 2, 3], functions: names.map((name) => [name, 0, 0, 0]),
    } as unknown as Facts;
    const rows = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 3, 4], [3, 4, 8], [5, 1, 16]];
    const of = (index: number): Uint8Array => Uint8Array.from(rows, (row) => row[index]!);
    const started = new ContextTree(starts, new Table(rows.length, new Map([
        ["parent", of(0)], ["frame", of(1)], ["place", new Uint8Array(rows.length)], ["self:Ir", of(2)],
        ["calls", of(2)],
    ])));
    const told = (groups: Group[]): unknown[] =>
        groups.map((group) => [group.name, group.cost("incl", 0, ""), group.cost("self", 0, "")]);
    const root = Group.ofNode(started, 0, true);
    assert.deepEqual(told(root.children()), [["(above main)", 31, 3]]);
    assert.deepEqual(told(root.children()[0]!.children()), [[2, 4, 4], [3, 24, 8]]);
    assert.deepEqual(told(Group.ofNode(started, 0, false).children()), [[0, 31, 1]]);
    const ofStart = told(Group.ofNode(started, 1, true).children());
    assert.deepEqual(ofStart, [[1, 26, 2], [2, 4, 4]], "its own start is asked for");
    const up = Group.callersOf(started, 3, true).children();
    assert.deepEqual(told(up), [["(above main)", 24, 8]]);
    assert.deepEqual(told(up[0]!.children()), [["thread 1", 24, 8]]);
    const options = { node: 4, sandwich: null, width: 100, fold: true };
    const values = widths(started, instructions, false, new Set());
    assert.deepEqual(picture(started, values, options).above.map((cell) => [cell.name, cell.size]), [
        ["thread 1", 31], ["(above main)", 31],
    ]);
    assert.deepEqual(picture(started, values, { ...options, node: 2 }).above.map((cell) => cell.name), ["thread 1", 0]);
});

test("the icicle's cells fit their parents, and nothing too narrow is made", () => {
    const values = widths(tree, instructions, false, new Set());
    const root = new Cell(Group.ofNode(tree, 0, false), values, null);
    const levels = layout([root], 780, 1);
    assert.deepEqual(levels.map((level) => level.map((rect) => [rect.cell.name, rect.x, rect.width])), [
        [["thread 1", 0, 780]], [[0, 0, 780]], [[1, 0, 550], [2, 550, 220]], [[1, 0, 400], [2, 400, 50], [1, 550, 200]],
    ]);
    assert.equal(rectAt(levels, 2, 549.5)?.cell.name, 1);
    assert.equal(rectAt(levels, 2, 775), null);
    assert.equal(layout([root], 780, 100).flat().length, 6);
});

test("what is hidden counts for nobody", () => {
    const values = widths(tree, instructions, false, new Set([2]));
    assert.deepEqual(Array.from(values.after), [51, 51, 50, 0, 20, 0, 40]);
});

test("a metric of what is not known is unknown", () => {
    const table = new Table(1, new Map([["self:Ir", Uint8Array.of(3)]]));
    const row = new RowCosts(facts, table, 0);
    assert.equal(metricValue(instructions, row, "self"), 3);
    assert.equal(metricValue(instructions, row, "incl"), null);
    assert.equal(metricValue({ ...instructions, denominator: [0] }, row, "self"), null);
});

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

test("sizes of caches are as bd_annotate writes them", () => {
    const known: [number, string][] = [
        [512, "512 B"], [32768, "32 KiB"], [49152, "48 KiB"], [1246976, "1.2 MiB"], [2 ** 30, "1 GiB"],
        [76 * 1024 + 100, "76 KiB"], [6976, "6.8 KiB"],
    ];
    for (const [value, text] of known) assert.equal(cacheSize(value), text);
});

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
