// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { matcher } from "../src/find";

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
