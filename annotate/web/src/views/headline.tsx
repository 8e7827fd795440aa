// SPDX-License-Identifier: GPL-2.0-or-later
//
// The beginning of the summary: what to look at first, and how much is never used.

import { usePage } from "../context";
import { metricValue } from "../costs";
import { bytes, percent } from "../format";
import { FunctionLink, Interval, PlaceLink, SourceLine } from "../parts";

const bytesOf = { data: "of data ", code: "of code ", all: "" } as const;

export function Headline() {
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
                                <FunctionLink fn={first.place[0]} view="graph" />
                                {report.sourceLine(first.place[1], first.place[2]) === null && (
                                    <>
                                        {" "}
                                        <PlaceLink fn={first.place[0]} file={first.place[1]} line={first.place[2]} />
                                    </>
                                )}
                            </small>
                        </>
                    )}
                </p>
            )}
            {first?.place && <SourceLine fn={first.place[0]} file={first.place[1]} line={first.place[2]} />}
            {now !== null && (
                <p class={first ? "second" : ""}>
                    <strong>{percent(now)}</strong> of the {bytes(total)}
                    {loaded && <Interval metric={loaded} costs={report.totals} />} {of}loaded into the first-level cache
                    were never used.
                </p>
            )}
        </div>
    );
}
