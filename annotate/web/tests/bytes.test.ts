// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "../src/views/bytes";

test("runs of bytes are cut where a row ends", () => {
    assert.deepEqual(pieces([[3, 9], [12, 12]], 16), [[3, 9], [12, 12]]);
    assert.deepEqual(pieces([[12, 40]], 16), [[12, 15], [16, 31], [32, 40]]);
    assert.deepEqual(pieces([[16, 31], [33, 34]], 16), [[16, 31], [33, 34]]);
    assert.deepEqual(pieces([[15, 16]], 16), [[15, 15], [16, 16]]);
});
