// SPDX-License-Identifier: GPL-2.0-or-later
//
// What to change, the best first: where, by what evidence, and what that saves.

import { usePage } from "../context";
import type { Repair } from "../data";
import { baseName, bytes, count, cssPercent, percent, seconds } from "../format";
import { FunctionLink, SourceLine } from "../parts";
import { Lost } from "./cards";

// Smaller changes of LL misses are not shown.
const worthSaying = 0.05;

export function Repairs({ repairs }: { repairs: Repair[] }) {
    const [first, ...others] = repairs;
    if (!first) return null;
    const remedies = repairs.map(({ remedy }) => remedy).join(" ");
    if (first.remedy === "none") {
        return (
            <section class="repairs" data-remedies={remedies}>
                <h2>{sentence(first.what)}</h2>
                <Evidence repair={first} />
                {others.length > 0 && <List repairs={others} />}
            </section>
        );
    }
    return (
        <section class="repairs" data-remedies={remedies}>
            <h2>
                What to change <small>before and after are computed from what was recorded</small>
            </h2>
            <List repairs={repairs} />
            {repairs.filter(({ remedy }) => remedy === "none").map((repair) => (
                <p key={repair.what} class="detail" data-remedy="none">
                    <FunctionLink fn={repair.function} view="graph" /><Places repair={repair} />: {repair.what}.
                </p>
            ))}
        </section>
    );
}

function List({ repairs }: { repairs: Repair[] }) {
    return (
        <ol class="hints">
            {repairs.filter(({ remedy }) => remedy !== "none")
                .map((repair, rank) => <One key={rank} repair={repair} />)}
        </ol>
    );
}

function One({ repair }: { repair: Repair }) {
    const { verdict, sharing } = usePage().report.facts;
    const time = verdict?.time;
    return (
        <li data-remedy={repair.remedy}>
            <h3>
                {sentence(repair.what)}
                <span class="tag">{repair.remedy}</span>
                <span class="tag">
                    saves {percent(repair.share)} of the estimated time
                    {repair.transfers
                        ? `, at ${seconds(sharing?.cost ?? 0)} a transfer`
                        : time && `, ${seconds(repair.share * time.seconds)}`}
                </span>
            </h3>
            <p class="detail">
                <FunctionLink fn={repair.function} view="graph" />
                <Places repair={repair} />
                {repair.data && repair.group === null && ` · ${repair.data}`}
            </p>
            {repair.places.map(([file, line]) => (
                <SourceLine key={`${file}.${line}`} fn={repair.function} file={file} line={line} />
            ))}
            <div class="repair">
                <Savings repair={repair} />
                <div>
                    <Evidence repair={repair} />
                    {repair.code.length > 0 && (
                        <pre class="sketch" tabIndex={0} aria-label="How the source would change">
                            {repair.code.join("\n")}
                        </pre>
                    )}
                    {repair.group !== null && <Lost data={{ group: repair.group, share: 0 }} />}
                    {repair.unknown && <p class="detail">Not known: {repair.unknown}.</p>}
                    {repair.alternatives.map((text) => <p key={text} class="detail">Or {text}.</p>)}
                </div>
            </div>
        </li>
    );
}

function Places({ repair }: { repair: Repair }) {
    const { report, link } = usePage();
    return (
        <>
            {repair.places.map(([file, line]) => (
                <>
                    {" · "}
                    <a key={line} href={link({ view: "source", fn: repair.function, file, line })}>
                        {baseName(report.facts.files[file] ?? "")}:{line}
                    </a>
                </>
            ))}
        </>
    );
}

function Evidence({ repair }: { repair: Repair }) {
    return (
        <ul class="evidence">
            {repair.evidence.map((text) => <li key={text}>{sentence(text)}.</li>)}
        </ul>
    );
}

function Savings({ repair }: { repair: Repair }) {
    const { report } = usePage();
    const line = report.facts.why!.line;
    const rows: [string, [number, number], number][] = [];
    if (repair.walks) rows.push(["page walks", repair.walks, 0]);
    else if (repair.transfers) rows.push(["transfers", repair.transfers, 0]);
    else {
        rows.push(["L1 misses", repair.l1, line]);
        const [before, after] = repair.ll;
        if (Math.abs(before - after) >= worthSaying * before && before) rows.push(["LL misses", repair.ll, line]);
    }
    return (
        <table class="savings">
            <thead>
                <tr>
                    <td />
                    <th scope="col" class="n">before</th>
                    <th scope="col" class="n">after, about</th>
                </tr>
            </thead>
            <tbody>
                {rows.map(([name, [before, after], size]) => (
                    <>
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td class="n" data-before={name} data-exact={before}>{count(before)}</td>
                            <td class="n" data-after={name} data-exact={after}>
                                {before === after ? "unchanged" : count(after)}
                            </td>
                        </tr>
                        {size > 0 && (
                            <tr>
                                <th scope="row"><small>bytes</small></th>
                                <td class="n"><small>{bytes(before * size)}</small></td>
                                <td class="n"><small>{bytes(after * size)}</small></td>
                            </tr>
                        )}
                        <tr>
                            <td colSpan={3}>
                                <div
                                    class="left-bar" role="img"
                                    aria-label={`${percent(before ? after / before : 0)} of the ${name} are left`}
                                >
                                    <span style={{ width: cssPercent(before ? after / before : 0) }} />
                                </div>
                            </td>
                        </tr>
                    </>
                ))}
            </tbody>
        </table>
    );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
