// SPDX-License-Identifier: GPL-2.0-or-later
//
// The paths of the context tree that match a search, for the top-down table.

import type { Match } from "./find";
import type { Report } from "./report";
import type { Row } from "./rows";
import type { ContextTree } from "./tree";

const above = 1; // a node below matches
const here = 2; // the node matches
const below = 3; // a node above matches
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

    // The keys of the rows that lead to matches, the costliest first.
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
