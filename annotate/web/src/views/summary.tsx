// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is wasted, where, and what to do about it.

import { usePage } from "../context";
import { change, metricValue } from "../costs";
import type { Metric, Part, Verdict } from "../data";
import { bytes, count, cssPercent, grouped, inSentence, metricText, percent, signed } from "../format";
import { Change, FunctionLink, PlaceLink, ShareBar, SourceLine } from "../parts";
import { Cards } from "./cards";
import { Curves } from "./curves";
import { HotLines } from "./hotlines";
import { Repairs } from "./repairs";

const places = 10;
const leastPlaces = 3;
const worthALine = 0.001;

export function Summary() {
    const { report } = usePage();
    const { why, verdict, hints } = report.facts;
    const isLittle = verdict?.first === "instructions" && !report.comparing;
    const rest = (
        <>
            <HotLines />
            <TopPlaces />
            {why && <Curves why={why} />}
        </>
    );
    return (
        <div class="summary">
            <Headline />
            {why?.repairs && <Repairs repairs={why.repairs} />}
            {!report.comparing && <Cards hints={hints} />}
            {verdict && !report.comparing && <Cycles verdict={verdict} />}
            <div class="cards">
                <CacheCard level={0} title="First-level cache" />
                <CacheCard level={1} title="Last-level cache" />
                <WorkCard />
            </div>
            {isLittle ? (
                <details class="anyway">
                    <summary>Where the small cost of misses arises</summary>
                    {rest}
                </details>
            ) : rest}
            <Words />
            <Run />
        </div>
    );
}

const bytesOf = { data: "of data ", code: "of code ", all: "" } as const;

function Headline() {
    const { report } = usePage();
    const { facts } = report;
    const { loaded, lost, share } = report.use(0);
    const of = bytesOf[facts.use.of];
    const first = report.comparing ? null : facts.first;
    const now = share ? metricValue(share, report.totals, "self") : null;
    if (!first && (now === null || !loaded)) return null;
    const total = loaded ? metricValue(loaded, report.totals, "self") ?? 0 : 0;
    if (report.comparing && lost) {
        const before = metricValue(lost, report.totals, "self", "before:") ?? 0;
        const after = metricValue(lost, report.totals, "self") ?? 0;
        return (
            <p class="headline">
                Before, <strong>{bytes(before)}</strong> {of}were loaded into the first-level cache and never used; now
                it is{" "}
                <strong>{bytes(after)}</strong>
                {before > 0 && after !== before
                    ? `, ${percent(Math.abs(after - before) / before)} ${after < before ? "less" : "more"}` : ""}.
            </p>
        );
    }
    return (
        <div class="headline">
            {first && (
                <p data-first>
                    <span class="first-word">Look first at</span> <strong>{first.says}</strong>
                    {first.place && first.place[2] > 0 && (
                        <>
                            {" "}
                            <small>
                                <FunctionLink fn={first.place[0]} view="graph" />{" "}
                                <PlaceLink fn={first.place[0]} file={first.place[1]} line={first.place[2]} />
                            </small>
                        </>
                    )}
                </p>
            )}
            {first?.place && <SourceLine fn={first.place[0]} file={first.place[1]} line={first.place[2]} />}
            {now !== null && (
                <p class={first ? "second" : ""}>
                    <strong>{percent(now)}</strong> of the {bytes(total)} {of}loaded into the first-level cache were
                    never used.
                </p>
            )}
        </div>
    );
}

function CacheCard({ level, title }: { level: 0 | 1; title: string }) {
    const { report } = usePage();
    const { loaded, lost, share, perLine, misses: missed } = report.use(level);
    const of_ = report.facts.use.of;
    const of = (metric: Metric | undefined): number | null =>
        (metric ? metricValue(metric, report.totals, "self") : null);
    if (!loaded && !missed) return null;
    const unused = of(share);
    return (
        <section class="card">
            <h2>{title}{of_ !== "all" && `: ${of_}`}</h2>
            {loaded && lost && unused !== null && (
                <>
                    <p class="big" data-metric={loaded.name} data-exact={of(loaded)!}>
                        {bytes(of(loaded)!)} <small>loaded</small>
                    </p>
                    <div class="used-bar" role="img" aria-label={`${percent(unused)} never used`}>
                        <span class="used" style={{ width: cssPercent(1 - unused) }} />
                        <span class="unused" style={{ width: cssPercent(unused) }} />
                    </div>
                    <dl class="facts">
                        <dt>never used</dt>
                        <dd data-metric={lost.name} data-exact={of(lost)!}>
                            {bytes(of(lost)!)} · {percent(unused)}{" "}
                            {report.comparing && <Change metric={lost} kind="self" costs={report.totals} />}
                        </dd>
                        {perLine && (
                            <>
                                <dt>accesses per line</dt>
                                <dd>{metricText(perLine, of(perLine))}</dd>
                            </>
                        )}
                    </dl>
                </>
            )}
            {missed && (
                <dl class="facts">
                    <dt>misses</dt>
                    <dd data-metric={missed.name} data-exact={of(missed)!}>
                        {count(of(missed)!)}{" "}
                        {report.comparing && <Change metric={missed} kind="self" costs={report.totals} />}
                    </dd>
                </dl>
            )}
        </section>
    );
}

function WorkCard() {
    const { report } = usePage();
    const rows = ["Ir", "DRefs", "D1rate", "LLrate", "Bm", "CEst"].flatMap((name) => report.metric(name) ?? []);
    return (
        <section class="card">
            <h2>The run</h2>
            <dl class="facts">
                {rows.map((metric) => {
                    const value = metricValue(metric, report.totals, "self");
                    return (
                        <>
                            <dt title={metric.title}>{metric.name === "Ir" ? "instructions" : metric.heading}</dt>
                            <dd data-metric={metric.name} data-exact={value ?? ""}>
                                {metricText(metric, value)}{" "}
                                {report.comparing && <Change metric={metric} kind="self" costs={report.totals} />}
                            </dd>
                        </>
                    );
                })}
                <dt>functions</dt>
                <dd>{grouped(report.facts.functions.length)}</dd>
            </dl>
        </section>
    );
}

const whereFirst: Record<Verdict["first"], string> = {
    L1: "Look first at the data that is loaded into the first-level cache and never used: the places below.",
    code: "Look first at the code: most of the cost comes from instructions that are not in the cache.",
    LL: "Look first at the misses of the last level: each waits for memory.",
    "out of order": "Look first at the data that is visited out of order: the program waits for each miss.",
    "in order": "Look first at the data that is visited in order: only less of it, or more work per visit, helps.",
    "first touches": "Most of the cost comes from data that is loaded for the first time: only less data would help.",
    instructions: "Misses cost little here: look first at the instructions executed.",
};

// What misses cost of the time, roughly.
function Cycles({ verdict }: { verdict: Verdict }) {
    const waits = verdict.waits;
    const parts: [string, number, string][] = waits ? [
        ["instructions", verdict.instructions, "used"],
        ["misses out of order", waits.outOfOrder, "unused"],
        ["misses in order", waits.inOrder, "in-order-part"],
        ["first touches", waits.firstTouches, "last-part"],
        ["misses of code", verdict.l1Code, "code-part"],
    ] : [
        ["instructions", verdict.instructions, "used"],
        ["L1 misses of data", verdict.l1Data, "unused"],
        ["L1 misses of code", verdict.l1Code, "code-part"],
        ["LL misses", verdict.lastLevel, "last-part"],
    ];
    return (
        <section>
            <h2>
                Is it worth it?{" "}
                <small>
                    {count(verdict.cycles)} estimated cycles,{" "}
                    {waits ? "by the order of addresses" : "without overlap and prefetching"}
                </small>
            </h2>
            <div
                class="used-bar" role="img"
                aria-label={parts.map(([name, share]) => `${name} ${percent(share)}`).join(", ")}
            >
                {parts.map(([name, share, style]) => (
                    <span
                        key={name} class={style} style={{ width: cssPercent(share) }}
                        title={`${name}: ${percent(share)}`}
                    />
                ))}
            </div>
            <p class="key">
                {parts.map(([name, share, style]) => (
                    <span key={name}>
                        <span class={`swatch ${style}`} aria-hidden="true" /> {name} {percent(share)}
                    </span>
                ))}
            </p>
            <p class="more">
                {whereFirst[verdict.first]}
                {verdict.wasted !== null
                    && ` Bytes that are loaded there and never used cost ${percent(verdict.wasted)} of the cycles.`}
                {verdict.fitsLastLevel && " All data fits the last-level cache."}
            </p>
        </section>
    );
}

function TopPlaces() {
    const { report, link } = usePage();
    const unknown = report.facts.unknown;
    const metric = report.defaultMetric;
    const total = metricValue(metric, report.totals, "self") ?? 0;
    const ranked = report.ranked(metric, "self");
    const listed = ranked.filter(({ value }, rank) =>
        rank < places && (rank < leastPlaces || Math.abs(value) >= worthALine * total));
    const share = report.shareFor(metric);
    return (
        <section>
            <h2>
                {report.comparing ? "What changed most" : "Where it happens"}{" "}
                <small>{inSentence(metric.title)}, by the function that loaded them</small>
            </h2>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Top places">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">function</th>
                            <th scope="col" class="n">itself</th>
                            <th scope="col">share of all</th>
                            <th scope="col" class="n">with what it calls</th>
                            {share && <th scope="col" class="n">unused</th>}
                        </tr>
                    </thead>
                    <tbody>
                        {listed.map(({ fn, value }) => {
                            const costs = report.functionCosts(fn);
                            const own = metricValue(metric, costs, "self") ?? 0;
                            const inclusive = metricValue(metric, costs, "incl");
                            return (
                                <tr key={fn} data-function={report.fullName(fn)}>
                                    <td>
                                        <FunctionLink fn={fn} view="graph" /> <small>{report.where(fn)}</small>
                                    </td>
                                    <td class="n" data-exact={own}>
                                        {report.comparing ? signed(count(value), value) : count(own)}
                                    </td>
                                    <td>
                                        <ShareBar
                                            share={total ? own / total : 0} label={percent(total ? own / total : 0)}
                                        />{" "}
                                        {percent(total ? own / total : 0)}
                                    </td>
                                    <td class="n">
                                        {metricText(
                                            metric, report.comparing ? change(metric, costs, "incl") : inclusive,
                                        )}
                                    </td>
                                    {share && <td class="n">{metricText(share, metricValue(share, costs, "self"))}</td>}
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
            {unknown && (
                <p class="note">
                    {percent(unknown.share)} of what is never used is lost in code without{" "}
                    {unknown.hasSymbols ? "lines" : "symbols"} ({unknown.objects.join(", ")}): compile it with -g,
                    install the distribution's debug packages, or set DEBUGINFOD_URLS for the run (Valgrind 3.19 or
                    newer).
                </p>
            )}
            <p class="more">
                <a href={link({ view: "tables", table: "flat" })}>All functions</a>
                {report.facts.tree && (
                    <>
                        {" · "}
                        <a href={link({ view: "icicle" })}>Which calls led there</a>
                    </>
                )}
                {report.facts.data && (
                    <>
                        {" · "}
                        <a href={link({ view: "data" })}>Which data it was</a>
                    </>
                )}
            </p>
        </section>
    );
}

// A word, the metric of the page that it is about, and what it means.
const words: [string, "" | "lost" | "perLine" | "misses", string][] = [
    ["Line", "", "Caches hold memory in lines, mostly of 64 bytes. An access to one byte loads the whole line."],
    ["Never used", "lost",
        "Bytes of a line that were loaded and not touched until the line left the cache. They cost bandwidth and room, "
        + "for nothing."],
    ["First-level, last-level", "lost",
        "The cache next to the processor (L1, for instructions I1 and for data D1), and the one before memory (LL)."],
    ["Miss", "misses",
        "An access to a line that is not in the cache. A miss of the last level waits for memory: hundreds of cycles."],
    ["Accesses per line", "perLine",
        "How often a line was touched while it was cached. With few accesses, it was hardly worth loading."],
    ["Itself, self", "",
        "What the instructions of a function caused. A line's waste belongs to the instruction that loaded it."],
    ["Inclusive", "",
        "The same, plus everything that happened in calls from there: it shows which caller is to blame."],
    ["Context", "",
        "A path of calls, from the program's start to a function. The same function has other costs in other "
        + "contexts."],
];

function Words() {
    const { report } = usePage();
    return (
        <details class="words" >
            <summary>What the words mean</summary>
            <dl>
                {words.filter(([, needs]) => !needs || report.use(0)[needs]).map(([word, , meaning]) => (
                    <div key={word}>
                        <dt>{word}</dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
        </details>
    );
}

function Run() {
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
