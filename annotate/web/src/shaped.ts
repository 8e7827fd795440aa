// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tree as views show it. The link says which functions are hidden or merged, whether recursion is collapsed, and
// whether loops have frames of their own; this applies to all views.

import { useMemo } from "preact/hooks";
import { usePage } from "./context";
import { knowsLoops } from "./needs";
import type { Report } from "./report";
import { ShapedTree, type Inner, type Shape } from "./shape";
import type { State } from "./state";
import type { ContextTree } from "./tree";
import { functionsIn, shortName, type Whole } from "./whole";

export const isShaped = ({ hide, merge, whole, collapse, loops }: State, report: Report): boolean =>
    hide.length + merge.length + whole.length > 0 || collapse || (loops && knowsLoops(report.facts));

// The last shape, as several views may need it: shaping a tree of a million nodes takes time.
let known: { of: ContextTree; key: string; tree: ContextTree } | null = null;

const keyOf = ({ collapse, hide, merge, whole, loops }: State, { frames, tree }: Report): string =>
    [collapse, hide, merge, JSON.stringify(whole), loops && frames !== null && tree?.within != null].join(" ");

export function shapedTree(report: Report, state: State): ContextTree | null {
    const { tree } = report;
    if (!tree || !isShaped(state, report)) return tree;
    const key = keyOf(state, report);
    if (known?.of !== tree || known.key !== key) {
        const loops = state.loops ? innerOf(report) : null;
        known = { of: tree, key, tree: ShapedTree.of(tree, shapeOf(report, state), loops) };
    }
    return known.tree;
}

function shapeOf({ facts }: Report, { hide, merge, whole, collapse }: State): Shape {
    const all = (act: Whole["act"]): Whole[] => whole.filter((one) => one.act === act);
    const functions = (act: Whole["act"]): number[] => all(act).flatMap((one) => functionsIn(one, facts));
    return {
        hide: [...hide, ...functions("hide")], merge: [...merge, ...functions("merge")], collapse,
        join: all("join").map((one) => ({ name: `all of ${shortName(one)}`, functions: functionsIn(one, facts) })),
    };
}

// The self costs of loops are known for all profiles together only.
function innerOf({ frames, range }: Report): Inner | null {
    if (!frames) return null;
    return {
        names: Array.from({ length: frames.size }, (_, row) => frames.name(row)),
        parents: frames.parents, functions: frames.functions,
        own: range ? null : (name) => frames.costs(name),
    };
}

export function useTree(): ContextTree | null {
    const { report, state } = usePage();
    return useMemo(() => shapedTree(report, state), [report.tree, keyOf(state, report)]);
}
