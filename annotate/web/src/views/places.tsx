// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions that cost most; in a comparison, those that changed most.

import { usePage } from "../context";
import { change, metricValue } from "../costs";
import { inSentence, metricText, percent, signed } from "../format";
import { FunctionLink, Interval, ShareBar } from "../parts";

export const places = 10;

const leastPlaces = 3;
const worthALine = 0.001;

export function TopPlaces() {
    const { report, link } = usePage();
    const unknown = report.facts.unknown;
    const metric = report.defaultMetric;
    const total = metricValue(metric, report.totals, "self") ?? 0;
    const ranked = report.ranked(metric, "self");
    const changes = ranked.reduce((sum, { value }) => sum + Math.abs(value), 0);
    const listed = ranked.filter(({ value }, rank) =>
        rank < places && (rank < leastPlaces || Math.abs(value) >= worthALine * total));
    const share = report.shareFor(metric);
    return (
        <section>
            <h2>
                {report.comparing ? "What changed most" : "Where it happens"}{" "}
                <small>{inSentence(metric.title)}, by function</small>
            </h2>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Top places">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">function</th>
                            <th scope="col" class="n">itself</th>
                            <th scope="col">{report.comparing ? "share of all changes" : "share of all"}</th>
                            <th scope="col" class="n">with what it calls</th>
                            {share && <th scope="col" class="n">unused</th>}
                        </tr>
                    </thead>
                    <tbody>
                        {listed.map(({ fn, value }) => {
                            const costs = report.functionCosts(fn);
                            const own = metricValue(metric, costs, "self") ?? 0;
                            const part = report.comparing ? Math.abs(value) / changes : total ? own / total : 0;
                            const inclusive = (report.comparing ? change : metricValue)(metric, costs, "incl");
                            return (
                                <tr key={fn} data-function={report.fullName(fn)}>
                                    <td>
                                        <FunctionLink fn={fn} view="graph" /> <small>{report.where(fn)}</small>
                                    </td>
                                    <td class="n" data-exact={own}>
                                        {report.comparing ? signed(metricText(metric, value), value)
                                            : metricText(metric, own)}
                                        <Interval metric={metric} costs={costs} />
                                    </td>
                                    <td>
                                        <ShareBar share={part} label={percent(part)} /> {percent(part)}
                                    </td>
                                    <td class="n">
                                        {report.comparing
                                            ? signed(metricText(metric, inclusive), inclusive)
                                            : metricText(metric, inclusive)}
                                        <Interval metric={metric} costs={costs} kind="incl" />
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
                        <a href={link({ view: "data" })}>Which data</a>
                    </>
                )}
            </p>
        </section>
    );
}
