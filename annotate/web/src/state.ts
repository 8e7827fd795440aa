// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is looked at. All of it stands in the page's fragment, so that a view can be linked to and "back" works.

export const views = ["summary", "icicle", "tables", "graph", "source", "treemap", "data", "profiles"] as const;
export type View = (typeof views)[number];
export const tableKinds = ["top-down", "callers", "flat"] as const;
export type TableKind = (typeof tableKinds)[number];
export const groupings = ["none", "file", "object"] as const;
export type Grouping = (typeof groupings)[number];

export interface State {
    view: View;
    metric: string; // empty: the report's first
    fn: number | null; // the function chosen
    node: number | null; // the context that the icicle begins with
    focus: boolean; // the icicle shows the chosen function's callers and callees
    hide: number[]; // functions that the icicle leaves out
    above: boolean; // what only starts the program is shown, too
    q: string; // what is searched for
    table: TableKind;
    group: Grouping;
    cols: string; // "SpLoss1:incl,Ir:self"; empty: the report's
    sort: string; // a column, or empty for the first
    up: boolean; // smallest first
    file: number | null;
    line: number | null;
    object: number | null; // the group of data objects chosen
}

const initial: State = {
    view: "summary",
    metric: "",
    fn: null,
    node: null,
    focus: false,
    hide: [],
    above: false,
    q: "",
    table: "top-down",
    group: "none",
    cols: "",
    sort: "",
    up: false,
    file: null,
    line: null,
    object: null,
};

export function parse(fragment: string): State {
    const [view = "", query = ""] = fragment.replace(/^#/, "").split("?");
    const given = new URLSearchParams(query);
    const number = (name: string): number | null => {
        const text = given.get(name);
        return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
    };
    const oneOf = <T extends string>(name: string, known: readonly T[], otherwise: T): T =>
        known.find((value) => value === given.get(name)) ?? otherwise;
    return {
        view: views.find((known) => known === view) ?? initial.view,
        metric: given.get("metric") ?? "",
        fn: number("fn"),
        node: number("node"),
        focus: given.has("focus"),
        hide: (given.get("hide") ?? "").split(".").filter((text) => /^\d{1,9}$/.test(text)).map(Number),
        above: given.has("above"),
        q: given.get("q") ?? "",
        table: oneOf("table", tableKinds, initial.table),
        group: oneOf("group", groupings, initial.group),
        cols: given.get("cols") ?? "",
        sort: given.get("sort") ?? "",
        up: given.has("up"),
        file: number("file"),
        line: number("line"),
        object: number("object"),
    };
}

export function fragment(state: State): string {
    const given = new URLSearchParams();
    const put = (name: string, value: string | number | null): void => {
        if (value !== null && value !== "") given.set(name, String(value));
    };
    put("metric", state.metric);
    put("fn", state.fn);
    put("node", state.node);
    if (state.focus) put("focus", 1);
    put("hide", state.hide.join("."));
    if (state.above) put("above", 1);
    put("q", state.q);
    if (state.table !== initial.table) put("table", state.table);
    if (state.group !== initial.group) put("group", state.group);
    put("cols", state.cols);
    put("sort", state.sort);
    if (state.up) put("up", 1);
    put("file", state.file);
    put("line", state.line);
    put("object", state.object);
    const query = given.toString();
    return `#${state.view}${query ? `?${query}` : ""}`;
}
