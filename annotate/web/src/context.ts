// SPDX-License-Identifier: GPL-2.0-or-later
//
// What every view gets: the report, the state, and functions that change the state.

import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Memory } from "./memory";
import type { Report } from "./report";
import { patched, fragment, type State } from "./state";

export interface Page {
    report: Report;
    state: State;
    // Changes the state. Unless it is a detail, the browser's "back" undoes it.
    go(patch: Partial<State>, detail?: boolean): void;
    link(patch: Partial<State>): string;
    dark: boolean;
    memory: Memory;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
    const page = useContext(PageContext);
    if (!page) throw new Error("no page around this view");
    return page;
}

export const linkTo = (report: Report, state: State, patch: Partial<State>): string =>
    fragment(patched(state, patch), report.links);

// The width and height of an element, kept current.
export function useSize<T extends HTMLElement>(): [preact.RefObject<T | null>, { width: number; height: number }] {
    const element = useRef<T>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        const observed = element.current;
        if (!observed) return;
        const measure = (): void => setSize({ width: observed.clientWidth, height: observed.clientHeight });
        const observer = new ResizeObserver(measure);
        observer.observe(observed);
        measure();
        return () => observer.disconnect();
    }, []);
    return [element, size];
}
