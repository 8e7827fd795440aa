// SPDX-License-Identifier: GPL-2.0-or-later
//
// A box that lists all keys and mouse actions; `?` opens it.

import { useEffect, useRef } from "preact/hooks";

const groups: [string, [string, string][]][] = [
    ["Everywhere", [
        ["?", "show this"], ["/", "go to the search; there Enter and Shift Enter step, Escape ends it"],
        ["right button, Menu key", "what can be done with a function or a path"],
    ]],
    ["Icicle", [
        ["arrow keys", "move"], ["click", "choose"], ["Enter, double click", "zoom in"],
        ["Backspace", "zoom out by one"], ["Escape", "all the way"],
        ["Ctrl wheel, + and −", "look closer, or from farther away"],
        ["drag, Shift wheel, Shift arrows", "move what is looked at"], ["0", "look at all of it"],
        ["f", "callers and callees over all paths"], ["b", "bottom-up"], ["x", "hide the function, with all it calls"],
        ["m", "merge the function into its callers"], ["r", "collapse recursion"], ["a", "show all again"],
        ["l", "loops and inlined functions as frames, if the run had --structure=yes"],
    ]],
    ["Tables", [
        ["arrow keys", "move, open and close"], ["Page Up, Page Down, Home, End", "move far"],
        ["h", "follow the hot path"], ["Enter", "show the call graph"],
        ["on a column's head: Alt arrows, drag", "move the column"],
        ["on a column's head: Shift arrows, drag its edge", "make it wider or narrower"],
    ]],
    ["Call graph of several levels", [
        ["arrow keys", "move"], ["click, Space", "choose"], ["Enter, double click", "put the function in the middle"],
        ["Escape", "go back to the middle"],
    ]],
    ["Treemap", [["arrow keys", "move"], ["Enter, double click", "show the call graph"]]],
    ["Data", [["arrow keys", "move"]]],
    ["Curves", [["arrow keys", "read the curve"]]],
    ["Ranks", [["arrow keys, Home, End", "move from rank to rank, and from row to row"]]],
];

export function isTyping({ target }: Event): boolean {
    return target instanceof HTMLInputElement || target instanceof HTMLSelectElement
        || target instanceof HTMLTextAreaElement;
}

export function KeysButton() {
    const dialog = useRef<HTMLDialogElement>(null);
    const show = (): void => { if (!dialog.current?.open) dialog.current?.showModal(); };
    useEffect(() => {
        const onKeyDown = (event: KeyboardEvent): void => {
            if (event.key !== "?" || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            show();
        };
        addEventListener("keydown", onKeyDown);
        return () => removeEventListener("keydown", onKeyDown);
    }, []);
    return (
        <>
            <button type="button" class="theme" onClick={show} aria-label="? Keys" title="Keys (?)">?</button>
            <dialog
                class="keys" ref={dialog} aria-label="Keys"
                onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}
            >
                <div>
                    <h2>Keys</h2>
                    {groups.map(([title, keys]) => (
                        <section key={title}>
                            <h3>{title}</h3>
                            <dl>
                                {keys.map(([key, what]) => (
                                    <div key={key}>
                                        <dt><kbd>{key}</kbd></dt>
                                        <dd>{what}</dd>
                                    </div>
                                ))}
                            </dl>
                        </section>
                    ))}
                    <button type="button" onClick={() => dialog.current?.close()}>Close</button>
                </div>
            </dialog>
        </>
    );
}
