// SPDX-License-Identifier: GPL-2.0-or-later
//
// What views remember while the page is open, but links do not.

import type { View } from "./state";

export class Memory {
    readonly open = new Map<string, ReadonlySet<string>>(); // the open rows, by the contents of the table
    readonly searches = new Map<View, { q: string; re: boolean }>();
}
