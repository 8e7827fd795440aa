// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "../src/data";
import { folderOf, functionsIn, shortName, textOf, wholeOf } from "../src/whole";

const facts = {
    objects: ["/lib/libc.so.6", "/home/me/a b"], files: ["/src/x/a.c", "/src/x/deep/b.c", "/src/xy/c.c", "d.c"],
    functions: [["start", 0, 3], ["f", 0, 0], ["g", 1, 1], ["h", 1, 2]], above: [0],
} as unknown as Facts;

test("an object file or a folder stands for its functions, but for those that start the program", () => {
    assert.deepEqual(functionsIn({ of: "object", name: "/lib/libc.so.6" }, facts), [1]);
    assert.deepEqual(functionsIn({ of: "object", name: "/home/me/a b" }, facts), [2, 3]);
    assert.deepEqual(functionsIn({ of: "folder", name: "/src/x/" }, facts), [1, 2], "what is below, and no name alike");
    assert.deepEqual([folderOf("/src/x/a.c"), folderOf("d.c")], ["/src/x/", ""]);
    assert.deepEqual(
        [shortName({ of: "folder", name: "/src/x/deep/" }), shortName({ of: "object", name: "/lib/libc.so.6" })],
        ["x/deep/", "libc.so.6"],
    );
});

test("what a link says of them is checked", () => {
    for (const text of ["hide object /home/me/a b", "merge folder /src/x/", "join folder /src/"]) {
        assert.equal(textOf(wholeOf(text, facts)!), text);
    }
    for (const text of ["", "hide", "hide object", "hide object ", "hide object /lib/no", "drop object /lib/libc.so.6",
        "hide file /src/x/a.c", "hide folder /nowhere/"]) {
        assert.equal(wholeOf(text, facts), null, text);
    }
});
