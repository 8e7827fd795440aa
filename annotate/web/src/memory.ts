// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the views remember while the page is open, and what does not belong in a link.

import type { View } from "./state";

export class Memory {
    readonly open = new Map<string, ReadonlySet<string>>(); // rows, by what a table shows
    readonly searches = new Map<View, { q: string; re: boolean }>();
}
