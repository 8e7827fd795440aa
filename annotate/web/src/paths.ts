// SPDX-License-Identifier: GPL-2.0-or-later
//
// The paths of the context tree on which something is found, for the top-down table.

import type { Match } from "./find";
import type { Report } from "./report";
import type { Row } from "./rows";
import type { ContextTree } from "./tree";

const above = 1; // something is found below
const here = 2;
const below = 3; // something is found above
const mostOpened = 2000; // rows

export class Paths {
    private readonly states: Uint8Array;

    constructor(report: Report, tree: ContextTree, match: Match) {
        const found = Uint8Array.from(tree.frames, (frame) =>
            ((typeof frame === "number" ? report.matches(match, frame) : match(frame)) ? 1 : 0));
        const states = (this.states = new Uint8Array(tree.size));
        for (let node = 0; node < tree.size; ++node) {
            const parent = tree.parent[node]!;
            if (found[tree.frame[node]!]) states[node] = here;
            else if (parent && states[parent - 1]! >= here) states[node] = below;
        }
        for (let node = tree.size - 1; node >= 0; --node) {
            const parent = tree.parent[node]!;
            if (states[node] && states[node]! < below && parent && !states[parent - 1]) states[parent - 1] = above;
        }
    }

    wants(row: Row): boolean {
        return row.nodes === undefined || row.nodes.some((node) => this.states[node]! > 0);
    }

    // The rows that lead to what is found, the costliest first.
    opened(rows: Row[], order: (rows: Row[]) => Row[]): string[] {
        const found: string[] = [];
        let level = order(rows);
        while (level.length && found.length < mostOpened) {
            const next: Row[] = [];
            for (const row of level) {
                if (!row.hasChildren || !row.nodes?.some((node) => this.states[node] === above)) continue;
                found.push(row.key);
                next.push(...order(row.children()));
                if (found.length >= mostOpened) break;
            }
            level = next;
        }
        return found;
    }
}
