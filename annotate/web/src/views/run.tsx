// SPDX-License-Identifier: GPL-2.0-or-later
//
// The program that ran, and the profiler.

import { usePage } from "../context";
import type { Part } from "../data";

export function Run() {
    const { report } = usePage();
    return (
        <section>
            <h2>What was run</h2>
            {report.facts.sides.map((parts, side) => (
                <RunFacts key={side} parts={parts} title={report.comparing ? (side ? "before" : "after") : ""} />
            ))}
            <p class="detail">
                Written by {report.facts.generator}.
                {report.comparing && report.facts.matched > 0
                    && ` ${report.facts.matched} functions are now in another source or object file, and were `
                        + "matched by name."}
            </p>
        </section>
    );
}

function RunFacts({ parts, title }: { parts: Part[]; title: string }) {
    const first = parts[0]!;
    const sources = [...new Set(parts.map((part) => part.source))];
    const texts = new Map<string, Set<string>>();
    for (const part of parts) {
        for (const [name, text] of part.descriptions) {
            if (text && name !== "Timerange" && text !== "Program termination") {
                texts.set(name, (texts.get(name) ?? new Set()).add(text));
            }
        }
    }
    const rows: [string, string][] = [
        ["Command", first.command],
        ["Profile", sources.slice(0, 4).join(", ") + (sources.length > 4 ? ` and ${sources.length - 4} more` : "")],
        ["By", [
            first.creator, first.pid && `process ${first.pid}`, parts.length > 1 && `${parts.length} parts`,
        ].filter(Boolean).join(", ")],
        ...Array.from(texts, ([name, known]): [string, string] => [name, [...known].slice(0, 4).join("; ")]),
    ];
    return (
        <>
            {title && <h3>{title}</h3>}
            <dl class="facts wide">
                {rows.filter(([, text]) => text).map(([name, text]) => (
                    <>
                        <dt>{name}</dt>
                        <dd>{text}</dd>
                    </>
                ))}
            </dl>
        </>
    );
}
