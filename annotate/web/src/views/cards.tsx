// SPDX-License-Identifier: GPL-2.0-or-later
//
// What to change, by a profile without causes (--why): a card for each place that is worth it.

import { usePage } from "../context";
import type { Hint, HintData, Hints } from "../data";
import { bytes, percent } from "../format";
import { FunctionLink, PlaceLink, SourceLine } from "../parts";
import { Picture } from "./bytes";

export function Cards({ hints }: { hints: Hints }) {
    if (!hints.places.length && !hints.others.length) return null;
    return (
        <section class="repairs" data-cards={hints.places.length + hints.others.length}>
            <h2>What to change <small>as the numbers suggest, the most valuable first</small></h2>
            <ol class="hints">
                {hints.places.map((hint) => <Place key={hint.function} hint={hint} />)}
                {hints.others.map((one) => (
                    <li key={one.title}>
                        <h3>{one.title} <span class="tag">{percent(one.data.share)} of all never used</span></h3>
                        <Lost data={one.data} />
                        <Said sentences={one.sentences} />
                    </li>
                ))}
            </ol>
            <p class="note">
                How sure: the pattern is in the counts of this profile; what a change would save is an upper bound. A
                run with --why=yes --objects=yes computes it.
            </p>
        </section>
    );
}

function Place({ hint }: { hint: Hint }) {
    const [first] = hint.lines;
    return (
        <li data-card={hint.function}>
            <h3>
                <FunctionLink fn={hint.function} view="graph" />
                {first && <> <PlaceLink fn={hint.function} file={first[0]} line={first[1]} /></>}
                <span class="tag">
                    {hint.saved === null ? `${percent(hint.share)} of all never used`
                        : `saves at most ${percent(hint.saved)} of the estimated cycles`}
                </span>
            </h3>
            {hint.lines.map(([file, line, share]) => (
                <SourceLine key={`${file}.${line}`} fn={hint.function} file={file} line={line} share={share} />
            ))}
            <p><b>{sentence(hint.brief)}.</b></p>
            {hint.data.map((data) => <Lost key={data.group} data={data} />)}
            <Said sentences={hint.sentences} />
            <Context hint={hint} />
            <details class="numbers">
                <summary>What it looks like, and what helps</summary>
                <p><b>Looks like:</b> {hint.looks}.</p>
                <p><b>What helps:</b> {hint.helps}.</p>
                <p class="detail">
                    {bytes(hint.neverUsed)} never used ({percent(hint.unused)} of what it loads) ·{" "}
                    {hint.usedPerLine.toFixed(1)} of {hint.lineSize.toFixed(0)} bytes used of a line ·{" "}
                    {hint.accesses.toFixed(1)} accesses to a line, typically
                </p>
            </details>
        </li>
    );
}

// The callers and library functions that have a part in it.
function Context({ hint }: { hint: Hint }) {
    return (
        <>
            {hint.below !== null && (
                <p>
                    It has no symbol; the nearest caller with one is{" "}
                    <FunctionLink fn={hint.below} view="graph" />.
                </p>
            )}
            {hint.through !== null && (
                <p>Most of it is lost in <FunctionLink fn={hint.through} view="graph" />, a library function.</p>
            )}
            {hint.callers.length > 0 && (
                <p class="detail">
                    Callers differ, unused:{" "}
                    {hint.callers.map(([caller, share], index) => (
                        <span key={caller}>
                            {index > 0 && ", "}
                            <FunctionLink fn={caller} view="graph" /> {percent(share)}
                        </span>
                    ))}
                </p>
            )}
        </>
    );
}

// The data of a place, with its bytes.
export function Lost({ data }: { data: HintData }) {
    const { report, link } = usePage();
    const group = data.group === null ? undefined : report.facts.data?.groups[data.group];
    if (!group) return null;
    return (
        <div class="lost" data-lost={data.group}>
            <p class="detail"><a href={link({ view: "data", object: data.group })}>{group.label}</a></p>
            {group.layout && report.table("dataBytes") && <Picture layout={group.layout} type={group.type} brief />}
        </div>
    );
}

function Said({ sentences }: { sentences: string[] }) {
    if (!sentences.length) return null;
    return <ul class="evidence">{sentences.map((said) => <li key={said}>{said}</li>)}</ul>;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
