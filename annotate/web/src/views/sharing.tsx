// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines that threads take from each other: of each data object the bytes of the line that moves most, by thread.

import { usePage } from "../context";
import type { CoreLoads, LastLevel, LoadedData, SharedData, Sharing, SharingCore } from "../data";
import { count, cssPercent, grouped, percent, runsText, times } from "../format";
import { FunctionLink, PlaceLink } from "../parts";

const cell = { width: 9, height: 16, gap: 4, group: 8 };

// On the summary, where there is something to gain.
export function SharingNote() {
    const { report, link } = usePage();
    const says = report.facts.sharing?.says;
    if (!says) return null;
    return (
        <section class="repairs" data-sharing>
            <h2>Lines that threads take from each other</h2>
            <p>{says} <a href={link({ view: "sharing" })}>which bytes each thread uses</a></p>
        </section>
    );
}

export function SharingView() {
    const { report } = usePage();
    const sharing = report.facts.sharing;
    if (!sharing) {
        return <p class="empty">Lines that threads share are recorded by a run with --cores=threads.</p>;
    }
    return (
        <>
            {sharing.transfers
                ? <Transfers sharing={sharing} />
                : <p class="empty">No core took a line that another core had modified.</p>}
            {sharing.lastLevel && <Shares last={sharing.lastLevel} />}
            {sharing.loads && <Loads loads={sharing.loads} />}
        </>
    );
}

function Transfers({ sharing }: { sharing: Sharing }) {
    return (
        <section class="shared" data-transfers={sharing.transfers}>
            <h2>
                Lines that threads take from each other{" "}
                <small>{times(sharing.transfers, "transfer")}; most first</small>
            </h2>
            <p class="key">
                <span><span class="swatch written" aria-hidden="true" /> written</span>
                <span><span class="swatch read" aria-hidden="true" /> only read</span>
            </p>
            <ol class="hints">
                {sharing.data.map((data) => <Data key={data.label} data={data} sharing={sharing} />)}
            </ol>
            {sharing.more > 0 && <p class="note">And {grouped(sharing.more)} more.</p>}
            {sharing.rest > 0 && (
                <p class="note">
                    {times(sharing.rest, "more transfer")} {sharing.rest === 1 ? "is" : "are"} of lines that moved fewer
                    than four times each, or that there was no room to record.
                </p>
            )}
        </section>
    );
}

function Shares({ last }: { last: LastLevel }) {
    if (!last.rows.length) return null;
    return (
        <section data-last-level>
            <h2>How cores share the last level</h2>
            {last.says.map((one) => <p key={one}>{one}</p>)}
            <div class="scroll-x" tabIndex={0} role="region" aria-label="The last level by core">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">who</th>
                            {last.heads.map((head) => <th key={head} scope="col" class="n">{head}</th>)}
                        </tr>
                    </thead>
                    <tbody>
                        {last.rows.map(([who, values]) => (
                            <tr key={who}>
                                <td>{who}</td>
                                {values.map((value, at) => <td key={at} class="n">{value}</td>)}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="note">{last.key}</p>
        </section>
    );
}

function Loads({ loads }: { loads: CoreLoads }) {
    const [moreTouches, moreAgain] = loads.more;
    return (
        <>
            {loads.touches.length > 0 && (
                <section data-touches>
                    <h2>Pages that one core touches first, and others load</h2>
                    <p>{loads.says}</p>
                    <Loaded data={loads.touches} more={moreTouches} />
                </section>
            )}
            {loads.again.length > 0 && (
                <section data-again>
                    <h2>Lines that several cores load</h2>
                    <Loaded data={loads.again} more={moreAgain} />
                </section>
            )}
        </>
    );
}

function Loaded({ data, more }: { data: LoadedData[]; more: number }) {
    const { link } = usePage();
    return (
        <>
            <ol class="hints">
                {data.map((one, at) => (
                    <li key={at}>
                        <h3>
                            {one.group === null
                                ? one.label : <a href={link({ view: "data", object: one.group })}>{one.label}</a>}
                        </h3>
                        <p>{one.says}.</p>
                    </li>
                ))}
            </ol>
            {more > 0 && <p class="note">And {grouped(more)} more.</p>}
        </>
    );
}

function Data({ data, sharing }: { data: SharedData; sharing: Sharing }) {
    const { link } = usePage();
    const isBetter = data.after < data.transfers;
    return (
        <li data-shared={data.kind}>
            <h3>
                {data.group === null
                    ? data.label : <a href={link({ view: "data", object: data.group })}>{data.label}</a>}
                <span class="tag">{data.kind}</span>
            </h3>
            <p>
                {times(data.lines, "line")}, {times(data.transfers, "transfer")}{" "}
                ({percent(data.transfers / sharing.transfers)} of all)
                {data.atomics > 0 && `, ${count(data.atomics)} by atomic instructions`}
                {isBetter && `; ${data.after ? `about ${count(data.after)}` : "none"} with each thread's bytes `
                    + `aligned to ${sharing.line}`}.
            </p>
            {isBetter && (
                <div
                    class="left-bar" role="img"
                    aria-label={`${percent(data.after / data.transfers)} of the transfers are left`}
                >
                    <span style={{ width: cssPercent(data.after / data.transfers) }} />
                </div>
            )}
            <div class="scroll-x" tabIndex={0} role="region" aria-label={`Bytes of ${data.label}`}>
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">who</th>
                            <th scope="col">bytes 0 to {sharing.line - 1} of the line that moves most</th>
                            <th scope="col" class="n">transfers</th>
                            <th scope="col">where</th>
                        </tr>
                    </thead>
                    <tbody>
                        {data.cores.map((core) => (
                            <tr key={core.name}>
                                <td>{core.name}</td>
                                <td>
                                    <Line core={core} size={sharing.line} />
                                    <Fields core={core} />
                                </td>
                                <td class="n" data-exact={core.transfers}>{count(core.transfers)}</td>
                                <td>
                                    {core.places.map(([fn, file, line], at) => (
                                        <span key={at}>
                                            {at > 0 && ", "}
                                            <FunctionLink fn={fn} view="graph" />{" "}
                                            <PlaceLink fn={fn} file={file} line={line} />
                                        </span>
                                    ))}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </li>
    );
}

const has = (runs: [number, number][], byte: number): boolean =>
    runs.some(([first, last]) => first <= byte && byte <= last);

// Where the type of the data is known.
function Fields({ core }: { core: SharingCore }) {
    const uses = [["writes", core.fieldsWritten], ["reads", core.fieldsRead]] as const;
    const known = uses.filter(([, fields]) => fields.length > 0);
    if (!known.length) return null;
    return <div data-fields>{known.map(([verb, fields]) => `${verb} ${fields.join(", ")}`).join("; ")}</div>;
}

function Line({ core, size }: { core: SharingCore; size: number }) {
    const x = (byte: number): number => byte * cell.width + Math.floor(byte / cell.group) * cell.gap;
    const label = [
        core.written.length ? `writes bytes ${runsText(core.written)}` : "",
        core.read.length ? `reads bytes ${runsText(core.read)}` : "",
    ].filter(Boolean).join(", ") || "bytes not known";
    return (
        <svg width={x(size)} height={cell.height} role="img" aria-label={label}>
            <title>{label}</title>
            {Array.from({ length: size }, (_, byte) => (
                <rect
                    key={byte} x={x(byte)} y={1} width={cell.width - 1} height={cell.height - 2}
                    class={`byte ${has(core.written, byte) ? "written" : has(core.read, byte) ? "read" : "absent"}`}
                />
            ))}
        </svg>
    );
}
