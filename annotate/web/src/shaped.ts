// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tree as the views show it: what is hidden, merged and collapsed stands in the link, and holds for all of them.

import { useMemo } from "preact/hooks";
import { usePage } from "./context";
import type { Report } from "./report";
import { ShapedTree } from "./shape";
import type { State } from "./state";
import type { ContextTree } from "./tree";

export const isShaped = ({ hide, merge, collapse }: State): boolean => hide.length + merge.length > 0 || collapse;

// Two views may ask for the same shape; a tree of a million nodes is not to be shaped twice.
let known: { of: ContextTree; key: string; tree: ContextTree } | null = null;

export function shapedTree(report: Report, state: State): ContextTree | null {
    const { tree } = report;
    if (!tree || !isShaped(state)) return tree;
    const key = [state.collapse, state.hide, state.merge].join(" ");
    if (known?.of !== tree || known.key !== key) known = { of: tree, key, tree: ShapedTree.of(tree, state) };
    return known.tree;
}

export function useTree(): ContextTree | null {
    const { report, state } = usePage();
    const { hide, merge, collapse } = state;
    return useMemo(() => shapedTree(report, state), [report.tree, collapse, hide.join(), merge.join()]);
}
