// SPDX-License-Identifier: GPL-2.0-or-later
//
// The state of the page: what it shows. All of it is in the fragment of the URL, so that links and "back" work.

import type { Kind, Links } from "./links";
import { views as tablesOfViews, type ViewName } from "./schema";
import { textOf, type Whole } from "./whole";

export type View = ViewName;
export const views = Object.keys(tablesOfViews) as View[];
export const tableKinds = ["top-down", "callers", "flat"] as const;
export type TableKind = (typeof tableKinds)[number];
export const tableTitles: Record<TableKind, string> = { "top-down": "Top-down", callers: "Callers", flat: "Flat" };
export const groupings = ["none", "file", "object", "class"] as const;
export type Grouping = (typeof groupings)[number];
// What colours show: the share never used, or where the code is.
export const colourings = ["share", "object", "file"] as const;
export type Colouring = (typeof colourings)[number];
// For the call graph: the levels of callers and callees, and the least share of a call that is shown, in percent.
export const levelCounts = ["1", "2", "3", "4"] as const;
export type LevelCount = (typeof levelCounts)[number];
export const leastShares = ["0", "0.1", "0.2", "0.5", "1", "2", "5", "10"] as const;
export type LeastShare = (typeof leastShares)[number];

export interface State {
    view: View;
    metric: string; // empty: the first one of the report
    fn: number | null; // the function chosen
    centre: number | null; // the centre of the call graph, if it is not the chosen function
    levels: LevelCount;
    least: LeastShare;
    cycles: boolean; // functions that call each other in circles are shown as one
    node: number | null; // the first context of the icicle
    focus: boolean; // the icicle shows the chosen function's callers and callees
    hide: number[]; // functions that are left out of all paths, with all that they call
    merge: number[]; // functions that are merged into their callers on all paths
    whole: Whole[]; // object files and folders whose functions are all hidden, merged or joined
    collapse: boolean; // recursive calls are part of the node of the function that is on the path already
    loops: boolean; // loops and inlined functions are frames between functions and their calls
    upside: boolean; // the icicle is bottom-up: functions by their self costs, with their callers below
    colour: Colouring;
    above: boolean; // functions that only start the program are shown, too
    q: string; // the text that is searched for
    re: boolean; // whether that text is a regular expression
    table: TableKind;
    group: Grouping;
    cols: string; // "SpLoss1:incl,Ir:self"; empty: those of the report
    sort: string; // a column, or empty for the first
    up: boolean; // smallest first
    file: number | null;
    line: number | null;
    object: number | null; // the group of data objects chosen
    from: number | null; // the first of the profiles or parts chosen
    to: number | null; // the last one
}

const initial: State = {
    view: "summary",
    metric: "",
    fn: null,
    centre: null,
    levels: "1",
    least: "1",
    cycles: false,
    node: null,
    focus: false,
    hide: [],
    merge: [],
    whole: [],
    collapse: false,
    loops: false,
    upside: false,
    colour: "share",
    above: false,
    q: "",
    re: false,
    table: "top-down",
    group: "none",
    cols: "",
    sort: "",
    up: false,
    file: null,
    line: null,
    object: null,
    from: null,
    to: null,
};

// All paths in the shape that the profile has.
export const initialPaths: Pick<State, "hide" | "merge" | "whole" | "collapse"> = {
    hide: [], merge: [], whole: [], collapse: false,
};

// Applies a patch. If it chooses another function, that one becomes the centre of the call graph.
export function patched(state: State, patch: Partial<State>): State {
    return { ...state, ...(patch.fn === undefined ? {} : { centre: null }), ...patch };
}

export interface Parsed {
    state: State;
    problems: string[]; // things that the link names, but the report does not have
}

// Reads the fragment of a URL. Unknown things are left out and listed as problems.
export function parse(fragment: string, links: Links): Parsed {
    const at = fragment.indexOf("?");
    const view = fragment.slice(fragment.startsWith("#") ? 1 : 0, at < 0 ? undefined : at);
    const given = new URLSearchParams(at < 0 ? "" : fragment.slice(at + 1));
    const problems: string[] = [];
    const miss = (what: string, name: string): null => {
        problems.push(`${what} ${name}`);
        return null;
    };
    const oneOf = <T extends string>(name: string, known: readonly T[], otherwise: T): T => {
        const text = given.get(name);
        if (text === null) return otherwise;
        return known.find((value) => value === text) ?? (miss(name, text), otherwise);
    };
    const named = (name: string, kind: Kind): number | null => {
        const text = given.get(name);
        return text === null ? null : links.number(kind, text) ?? miss(kind, text);
    };
    const functions = (name: string): number[] =>
        given.getAll(name).flatMap((text) => links.number("function", text) ?? miss("function", text) ?? []);
    const number = (name: string, isKnown: (value: number) => boolean): number | null => {
        const text = given.get(name);
        if (text === null) return null;
        return /^\d{1,9}$/.test(text) && isKnown(Number(text)) ? Number(text) : miss(name, text);
    };
    const metric = (name: string): string => {
        const text = given.get(name) ?? "";
        return !text || links.isMetric(text) ? text : (miss("metric", text), "");
    };
    const isColumn = (text: string): boolean => {
        const [name = "", kind = "incl"] = text.split(":");
        if (links.isColumn(name) && (kind === "self" || kind === "incl")) return true;
        miss("column", text);
        return false;
    };
    const columns = (given.get("cols") ?? "").split(",").filter((text) => text && isColumn(text));
    const sort = given.get("sort") ?? "";
    const known = views.find((one) => one === view);
    if (view && !known) miss("view", view);
    const state: State = {
        view: known ?? initial.view,
        metric: metric("metric"),
        fn: named("fn", "function"),
        centre: named("centre", "function"),
        levels: oneOf("levels", levelCounts, initial.levels),
        least: oneOf("least", leastShares, initial.least),
        cycles: given.has("cycles"),
        node: number("node", (node) => links.isNode(node)),
        focus: given.has("focus"),
        hide: functions("hide"),
        merge: functions("merge"),
        whole: given.getAll("all").flatMap((text) => links.whole(text) ?? miss("all", text) ?? []),
        collapse: given.has("collapse"),
        loops: given.has("loops"),
        upside: given.has("upside"),
        colour: oneOf("colour", colourings, initial.colour),
        above: given.has("above"),
        q: given.get("q") ?? "",
        re: given.has("re"),
        table: oneOf("table", tableKinds, initial.table),
        group: oneOf("group", groupings, initial.group),
        cols: columns.join(","),
        sort: sort && isColumn(sort) ? sort : "",
        up: given.has("up"),
        file: named("file", "file"),
        line: number("line", () => true),
        object: named("object", "data"),
        from: number("from", (member) => links.isMember(member)),
        to: number("to", (member) => links.isMember(member)),
    };
    return { state: { ...state, focus: state.focus && state.fn !== null }, problems };
}

export function fragment(state: State, links: Links): string {
    const given = new URLSearchParams();
    const put = (name: string, value: string | number | null): void => {
        if (value !== null && value !== "") given.append(name, String(value));
    };
    const putNamed = (name: string, kind: Kind, number: number | null): void =>
        put(name, number === null ? null : links.key(kind, number));
    put("metric", state.metric);
    putNamed("fn", "function", state.fn);
    putNamed("centre", "function", state.centre);
    if (state.levels !== initial.levels) put("levels", state.levels);
    if (state.least !== initial.least) put("least", state.least);
    if (state.cycles) put("cycles", 1);
    put("node", state.node);
    if (state.focus) put("focus", 1);
    for (const fn of state.hide) putNamed("hide", "function", fn);
    for (const fn of state.merge) putNamed("merge", "function", fn);
    for (const whole of state.whole) put("all", textOf(whole));
    if (state.collapse) put("collapse", 1);
    if (state.loops) put("loops", 1);
    if (state.upside) put("upside", 1);
    if (state.colour !== initial.colour) put("colour", state.colour);
    if (state.above) put("above", 1);
    put("q", state.q);
    if (state.re) put("re", 1);
    if (state.table !== initial.table) put("table", state.table);
    if (state.group !== initial.group) put("group", state.group);
    put("cols", state.cols);
    put("sort", state.sort);
    if (state.up) put("up", 1);
    putNamed("file", "file", state.file);
    put("line", state.line);
    putNamed("object", "data", state.object);
    put("from", state.from);
    put("to", state.to);
    const query = given.toString();
    return `#${state.view}${query ? `?${query}` : ""}`;
}
