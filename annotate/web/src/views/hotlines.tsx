// SPDX-License-Identifier: GPL-2.0-or-later
//
// The costliest lines of the program with their texts; lines that a reader can change come first.

import { usePage } from "../context";
import { metricValue } from "../costs";
import type { ColumnName } from "../data";
import { costText, inSentence, metricText, percent } from "../format";
import { FunctionLink, Interval, IntervalOf, PlaceLink, ShareBar } from "../parts";

const shownLines = 12;

export function HotLines() {
    const { report } = usePage();
    const table = report.table("hotLines");
    const hottest = report.facts.hottest;
    if (!table || !table.rows || !hottest || report.comparing) return null;
    const share = report.use(0).share;
    const misses = report.use(0).misses;
    const at = (name: ColumnName<"hotLines">, row: number): number => table.column(name)[row]!;
    const widths = report.table("hotLineWidths");
    const rankedWidth = (row: number): number | null | undefined => {
        if (!report.isEstimate) return undefined;
        const known = report.range ? 0 : widths?.column("ranked")[row];
        return known ? known - 1 : null;
    };
    const hasText = report.sources !== null && report.sources.size > 0;
    const rows = Array.from({ length: Math.min(table.rows, shownLines) }, (_, row) => row);
    return (
        <section>
            <h2>Costliest lines <small>{inSentence(hottest.title)}</small></h2>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Costliest lines">
                <table class="top lines">
                    <thead>
                        <tr>
                            <th scope="col">line</th>
                            <th scope="col" class="n">{hottest.heading}</th>
                            <th scope="col">share of all</th>
                            {share && <th scope="col" class="n">{share.heading}</th>}
                            {misses && <th scope="col" class="n">{misses.heading}</th>}
                            {hasText && <th scope="col">text</th>}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => {
                            const [fn, file, line] = [at("function", row), at("file", row), at("line", row)];
                            const part = hottest.total ? at("ranked", row) / hottest.total : 0;
                            const costs = report.costs("hotLines", row);
                            const text = line ? report.sourceLine(file, line) : null;
                            return (
                                <tr key={row} data-line={`${report.facts.files[file]}:${line}`}>
                                    <td>
                                        <PlaceLink fn={fn} file={file} line={line} />{" "}
                                        <small><FunctionLink fn={fn} view="graph" /></small>
                                    </td>
                                    <td class="n" data-exact={at("ranked", row)}>
                                        {costText(hottest.isTime, at("ranked", row))}
                                        <IntervalOf value={at("ranked", row)} width={rankedWidth(row)} />
                                    </td>
                                    <td><ShareBar share={part} label={percent(part)} /> {percent(part)}</td>
                                    {share && <td class="n">{metricText(share, metricValue(share, costs, "self"))}</td>}
                                    {misses && (
                                        <td class="n">
                                            {metricText(misses, metricValue(misses, costs, "self"))}
                                            <Interval metric={misses} costs={costs} />
                                        </td>
                                    )}
                                    {hasText && <td class="text">{text !== null && <code>{text.trim()}</code>}</td>}
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
