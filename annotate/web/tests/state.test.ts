// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "../src/data";
import { Links } from "../src/links";
import { fragment, parse, patched } from "../src/state";

const links = new Links({
    metrics: [{ name: "Ir" }, { name: "Dr" }], tables: { tree: { rows: 20, columns: [] } },
    files: ["a.c", "b.c"], objects: ["x", "y"],
    functions: [
        ["f", 0, 0, 0], ["a<b>&", 0, 0, 0], ["same", 0, 0, 0], ["same", 0, 1, 0], ["same", 1, 1, 0], ["400", 0, 0, 0],
    ],
    data: { groups: [{ label: "heap a.c:3" }, { label: "heap a.c:3" }] },
} as unknown as Facts);

test("what is looked at survives the fragment, by name", () => {
    const link = "metric=Ir&loops=1&fn=same%7Cb.c%7Cy&centre=f&levels=3&least=0.5&cycles=1"
        + "&node=12&focus=1&hide=f&hide=a%3Cb%3E%26&merge=same%7Cb.c%7Cx"
        + "&collapse=1&upside=1&colour=file&above=1&q=a%3Cb%3E%26"
        + "&table=flat&cols=Ir%3Aself%2CDr%3Aincl&sort=Ir%3Aself&up=1&file=b.c&line=7&object=heap+a.c%3A3%7C%7C2";
    const { state, problems } = parse(`#icicle?${link}`, links);
    assert.deepEqual(problems, []);
    assert.equal(state.view, "icicle");
    assert.equal(state.q, "a<b>&");
    assert.deepEqual([state.fn, state.hide, state.merge, state.file, state.object], [4, [0, 1], [3], 1, 1]);
    assert.deepEqual([state.centre, state.levels, state.least, state.cycles], [0, "3", "0.5", true]);
    assert.deepEqual([state.collapse, state.loops, state.upside, state.colour], [true, true, true, "file"]);
    assert.deepEqual(parse(fragment(state, links), links).state, state);
    for (let fn = 0; fn < 6; ++fn) assert.equal(parse(fragment({ ...state, fn }, links), links).state.fn, fn);
});

test("another function that is chosen is the one in the middle, unless that is said", () => {
    const state = patched(parse("#graph", links).state, { fn: 1, centre: 0 });
    assert.deepEqual([state.fn, state.centre], [1, 0]);
    assert.equal(patched(state, { q: "f" }).centre, 0);
    assert.equal(patched(state, { fn: 2 }).centre, null);
});

test("what a link names and the report has not is left out, and said", () => {
    const link = "#graph?fn=7&metric=Nope&cols=Ir:self,Nope:incl,Ir:odd&sort=No&table=wrong&node=20&hide=h&hide=f"
        + "&file=c.c&line=x&object=no&focus=1&levels=5&least=x";
    const { state, problems } = parse(link, links);
    assert.deepEqual(problems, [
        "column Nope:incl", "column Ir:odd", "metric Nope", "function 7", "levels 5", "least x", "node 20",
        "function h", "table wrong", "column No", "file c.c", "line x", "data no",
    ]);
    assert.deepEqual([state.fn, state.metric, state.cols, state.node, state.hide], [null, "", "Ir:self", null, [0]]);
    assert.equal(state.focus, false, "nothing is chosen to be looked at");
    assert.equal(parse("#nowhere", links).state.view, "summary");
    assert.deepEqual(parse("", links).problems, []);
    assert.equal(parse("#graph?fn=400", links).state.fn, 5, "a name that is a number");
});
