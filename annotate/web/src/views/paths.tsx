// SPDX-License-Identifier: GPL-2.0-or-later
//
// The controls for paths, in the icicle and in the tables: what is hidden, merged and collapsed.

import { usePage } from "../context";
import { css } from "../colours";
import { knowsLoops } from "../needs";
import type { Palette } from "../palette";
import { shortName, textOf } from "../whole";

export function PathButtons() {
    const { report, state, go } = usePage();
    const { fn } = state;
    return (
        <>
            <button
                type="button" disabled={fn === null} title="Leave the chosen function out, with all it calls"
                onClick={() => fn !== null && go({ hide: [...state.hide, fn], focus: false })}
            >
                Hide
            </button>
            <button
                type="button" disabled={fn === null}
                title="Give what the chosen function costs itself to its callers, and what it calls, too"
                onClick={() => fn !== null && go({ merge: [...state.merge, fn], focus: false })}
            >
                Merge
            </button>
            {knowsLoops(report.facts) && (
                <button
                    type="button" aria-pressed={state.loops}
                    title={"Loops and inlined functions stand between a function and what it calls from them (l); "
                        + "only a function that is on a single path has there what they cost themselves"}
                    onClick={() => go({ loops: !state.loops })}
                >
                    Loops
                </button>
            )}
            {!report.facts.tree?.folded && (
                <button
                    type="button" aria-pressed={state.collapse}
                    title="A function that is on a path already is the one there: each path has it once"
                    onClick={() => go({ collapse: !state.collapse })}
                >
                    Collapse recursion
                </button>
            )}
        </>
    );
}

const words = { hide: "without", merge: "merged", join: "joined" } as const;

// Buttons that undo each of these.
export function PathChanges() {
    const { report, state, go } = usePage();
    const lists = [["hide", "without", "Show it again"], ["merge", "merged", "Show it by itself again"]] as const;
    return (
        <>
            {lists.map(([name, word, title]) => state[name].map((fn) => (
                <button
                    type="button" class="hidden-fn" key={`${name}${fn}`} title={title}
                    onClick={() => go({ [name]: state[name].filter((other) => other !== fn) })}
                >
                    {word} {report.name(fn)}
                </button>
            )))}
            {state.whole.map((one) => (
                <button
                    type="button" class="hidden-fn" key={textOf(one)} title={`Show functions of ${one.name} again`}
                    onClick={() => go({ whole: state.whole.filter((other) => other !== one) })}
                >
                    {words[one.act]} all of {shortName(one)}
                </button>
            ))}
        </>
    );
}

export function PaletteLegend({ palette }: { palette: Palette }) {
    return (
        <span class="legend palette">
            {palette.entries.map(({ name, colour }) => (
                <span key={name} title={name}>
                    <span class="swatch" style={{ background: css(colour) }} aria-hidden="true" /> {name}
                </span>
            ))}
        </span>
    );
}
