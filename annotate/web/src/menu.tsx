// SPDX-License-Identifier: GPL-2.0-or-later
//
// The menu of the right mouse button, with actions on a function or on a path to it.

import { useEffect, useRef } from "preact/hooks";
import { linkTo, usePage, type Page } from "./context";
import type { Report } from "./report";
import { copy } from "./save";
import { initialPaths, type State } from "./state";
import { folderOf, shortName, type Whole } from "./whole";

export interface Chosen {
    x: number;
    y: number;
    fn: number | null;
    node: number | null; // its number in links
    stack: string[]; // the names on the path to it, the outermost first
}

interface Item {
    name: string;
    act: () => void;
}

function items(page: Page, { fn, node, stack }: Chosen): Item[] {
    const { report, state, go } = page;
    const to = (patch: Partial<State>) => () => go(patch);
    const found: Item[] = [];
    const add = (name: string, act: () => void, isThere = true): void => {
        if (isThere) found.push({ name, act });
    };
    const hasTree = report.facts.tree !== null;
    if (node !== null) {
        add("Zoom in here", to({ view: "icicle", node, fn, focus: false, upside: false }));
    }
    if (fn !== null) {
        add("Callers and callees", to({ view: "icicle", fn, focus: true, node: null }), hasTree);
        add("Call graph", to({ view: "graph", fn }));
        add("Source", to({ view: "source", fn, file: null, line: null }));
        add("Hide, with all it calls", to({ hide: [...state.hide, fn], focus: false }), hasTree);
        add("Merge into its callers", to({ merge: [...state.merge, fn], focus: false }), hasTree);
        for (const one of hasTree ? wholesOf(report, fn) : []) {
            const name = shortName(one);
            const change = (act: Whole["act"]) => to({ whole: [...state.whole, { act, ...one }], focus: false });
            add(`Hide all of ${name}`, change("hide"));
            add(`Merge all of ${name}`, change("merge"));
            add(`Join all of ${name} in one frame`, change("join"));
        }
        add("Copy the name", () => void copy(report.fullName(fn)));
    }
    add("Copy the stack", () => void copy(`${[...stack].reverse().join("\n")}\n`), stack.length > 0);
    const patch: Partial<State> = { ...(fn === null ? {} : { fn }), ...(node === null ? {} : { node }) };
    add("Copy a link to this", () =>
        void copy(location.href.replace(/#.*$/, "") + linkTo(report, state, patch)));
    add("Show all again", to(initialPaths), 
        state.hide.length + state.merge.length + state.whole.length > 0 || state.collapse);
    return found;
}

// What it is one of.
function wholesOf(report: Report, fn: number): Pick<Whole, "of" | "name">[] {
    if (report.above.has(fn)) return [];
    const [object, folder] = [report.object(fn), folderOf(report.file(fn))];
    const found: Pick<Whole, "of" | "name">[] = [];
    if (object && object !== "???") found.push({ of: "object", name: object });
    if (folder) found.push({ of: "folder", name: folder });
    return found;
}

export function Menu({ chosen, close }: { chosen: Chosen; close: () => void }) {
    const page = usePage();
    const element = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const before = document.activeElement as HTMLElement | null;
        element.current?.querySelector("button")?.focus();
        const outside = (event: Event): void => {
            if (!element.current?.contains(event.target as Node)) close();
        };
        addEventListener("pointerdown", outside);
        addEventListener("resize", close);
        return () => {
            removeEventListener("pointerdown", outside);
            removeEventListener("resize", close);
            if (before?.isConnected) before.focus({ preventScroll: true });
        };
    }, []);
    const onKeyDown = (event: KeyboardEvent): void => {
        const buttons = Array.from(element.current!.querySelectorAll("button"));
        const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
        if (to !== undefined) buttons.at(to % buttons.length)?.focus();
        else if (event.key === "Escape" || event.key === "Tab") close();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const listed = items(page, chosen);
    const height = 30 * listed.length + 56;
    return (
        <div
            class="menu" role="menu" ref={element} onKeyDown={onKeyDown}
            aria-label={chosen.fn === null ? "What to do here" : `What to do with ${page.report.name(chosen.fn)}`}
            style={{
                left: `${Math.max(4, Math.min(chosen.x, window.innerWidth - 300))}px`,
                top: `${Math.max(4, Math.min(chosen.y, window.innerHeight - height))}px`,
            }}
        >
            {chosen.fn !== null && <b aria-hidden="true">{page.report.name(chosen.fn)}</b>}
            {listed.map(({ name, act }) => (
                <button
                    type="button" role="menuitem" key={name} tabIndex={-1} onClick={() => { close(); act(); }}
                >
                    {name}
                </button>
            ))}
        </div>
    );
}
