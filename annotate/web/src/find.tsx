// SPDX-License-Identifier: GPL-2.0-or-later
//
// Search: the same box in each view. The text is plain, unless the switch makes it a regular expression.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { usePage } from "./context";
import { grouped } from "./format";
import { isTyping } from "./keys";
import type { State } from "./state";

export type Match = (name: string) => boolean;

// null: the text is empty. A text that is no valid regular expression matches nothing.
export function matcher({ q, re }: Pick<State, "q" | "re">): Match | null {
    if (!q) return null;
    const pattern = re ? expression(q) : null;
    if (re) return (name) => pattern !== null && pattern.test(name);
    const text = q.toLowerCase();
    return (name) => name.toLowerCase().includes(text);
}

export function expression(q: string): RegExp | null {
    try {
        return new RegExp(q, "i");
    } catch {
        return null;
    }
}

export function useMatch(): Match | null {
    const { q, re } = usePage().state;
    return useMemo(() => matcher({ q, re }), [q, re]);
}

// The matches of a search: their count, the number of the chosen one (from 0; -1 for none), and how to choose another.
export interface Found {
    count: number;
    at: number;
    choose: (number: number) => void;
}

export function SearchBox({ placeholder, found }: { placeholder: string; found: Found }) {
    const { state, go } = usePage();
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => {
        const focus = (event: KeyboardEvent): void => {
            if (event.key !== "/" || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            input.current?.focus();
            input.current?.select();
        };
        addEventListener("keydown", focus);
        return () => removeEventListener("keydown", focus);
    }, []);
    const step = (by: number): void => {
        if (!found.count) return;
        const from = found.at < 0 && by < 0 ? 0 : found.at;
        found.choose((from + by + found.count) % found.count);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
        else if (event.key === "Escape") go({ q: "" }, true);
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const isWrong = state.re && state.q !== "" && !expression(state.q);
    const told = isWrong ? "not a regular expression"
        : found.at < 0 ? grouped(found.count) : `${grouped(found.at + 1)} of ${grouped(found.count)}`;
    return (
        <span class="find" role="search">
            <input
                ref={input} class="search" type="search" aria-label={placeholder} placeholder={`${placeholder} ( / )`}
                aria-invalid={isWrong} value={state.q} onKeyDown={onKeyDown}
                onInput={(event) => go({ q: (event.target as HTMLInputElement).value }, true)}
            />
            <button
                type="button" aria-pressed={state.re} title="Regular expressions"
                onClick={() => go({ re: !state.re }, true)}
            >
                .*
            </button>
            {state.q !== "" && (
                <>
                    <button
                        type="button" class="glyph before" aria-label="Previous" title="Previous (Shift Enter)"
                        disabled={!found.count} onClick={() => step(-1)}
                    />
                    <button
                        type="button" class="glyph after" aria-label="Next" title="Next (Enter)"
                        disabled={!found.count} onClick={() => step(1)}
                    />
                    <span class="found-count" role="status">{told}</span>
                </>
            )}
        </span>
    );
}
