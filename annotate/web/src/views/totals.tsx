// SPDX-License-Identifier: GPL-2.0-or-later
//
// The caches and the run in numbers, and whether misses cost enough to look further.

import { usePage } from "../context";
import { metricValue } from "../costs";
import type { Metric, Verdict } from "../data";
import { bytes, count, cssPercent, grouped, metricText, percent, seconds } from "../format";
import { Change, Interval } from "../parts";

export function CacheCard({ level, title }: { level: number; title: string }) {
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
                        {bytes(of(loaded)!)}<Interval metric={loaded} costs={report.totals} /> <small>loaded</small>
                    </p>
                    <div class="used-bar" role="img" aria-label={`${percent(unused)} never used`}>
                        <span class="used" style={{ width: cssPercent(1 - unused) }} />
                        <span class="unused" style={{ width: cssPercent(unused) }} />
                    </div>
                    <dl class="facts">
                        <dt>never used</dt>
                        <dd data-metric={lost.name} data-exact={of(lost)!}>
                            {bytes(of(lost)!)}<Interval metric={lost} costs={report.totals} /> · {percent(unused)}{" "}
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
                        {count(of(missed)!)}<Interval metric={missed} costs={report.totals} />{" "}
                        {report.comparing && <Change metric={missed} kind="self" costs={report.totals} />}
                    </dd>
                </dl>
            )}
        </section>
    );
}

export function WorkCard() {
    const { report } = usePage();
    const rows = ["Ir", "DRefs", "D1rate", "LLrate", "Bm", "CEst", "TEst"].flatMap((name) => report.metric(name) ?? []);
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
                                {metricText(metric, value)}<Interval metric={metric} costs={report.totals} />{" "}
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
    L2: "Look first at the misses of the second-level cache: each waits for the last level, or for memory.",
    LL: "Look first at the misses of the last level: each waits for memory.",
    "out of order": "Look first at the data that is visited out of order: the program waits for each miss.",
    "in order": "Look first at the data that is visited in order: only less of it, or more work per visit, helps.",
    "first touches": "Most of the cost comes from data that is loaded for the first time: only less data would help.",
    instructions: "Misses cost little here: look first at the instructions executed.",
};

// The rough share of the time that misses cost.
export function Cycles({ verdict }: { verdict: Verdict }) {
    const { waits, time } = verdict;
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
        ...(verdict.l2 === null ? [] : [["L2 misses", verdict.l2, "in-order-part"] as [string, number, string]]),
        ["LL misses", verdict.lastLevel, "last-part"],
    ];
    return (
        <section>
            <h2>
                Is it worth it?{" "}
                <small data-time={time?.seconds}>
                    {time
                        ? `about ${seconds(time.seconds)} ${time.what.replace(/^Estimated time /, "")} `
                            + `(${seconds(time.least)} to ${seconds(time.most)}), by the order of addresses`
                        : `${count(verdict.cycles)} estimated cycles, without overlap and prefetching`}
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
