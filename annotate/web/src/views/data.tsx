// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects: what was loaded for each, who loaded it, and which of its bytes and fields were used. Where two
// profiles are compared, what changed is in the list, and all else is of the one after.

import { css, shareColour } from "../colours";
import { usePage, useSize } from "../context";
import { SumCosts, change, metricValue, sides, type Costs } from "../costs";
import type { DataGroup, DataType, Metric } from "../data";
import { baseName, bytes, count, grouped, inSentence, percent, times } from "../format";
import { Empty, FunctionLink, LongList, SearchBox, ShareBar, Unread, Value, matcher } from "../parts";
import { DataCurve } from "./curves";
import { columnName, type MetricColumn, type Report } from "../report";

const rowHeight = 26;
const shownLoaders = 20;
const shownHere = 3;
const columnNames = ["Loaded1", "SpLoss1", "Unused1", "AccLine1", "D1m", "LLm"];
const comparedNames = ["Loaded1", "SpLoss1", "Unused1", "LLm"]; // each has its change beside it
const cell = { width: 13, height: 20, gap: 5, group: 8, left: 44, rowGap: 8 };

// What is known of data; the other metrics are of code.
function dataColumns(report: Report): MetricColumn[] {
    const { events, data } = report.facts;
    const isKnown = (metric: Metric): boolean =>
        events.every((event, at) =>
            !(metric.numerator[at] || metric.denominator?.[at]) || data!.events.includes(event));
    return (report.comparing ? comparedNames : columnNames).flatMap((name): MetricColumn[] => {
        const metric = report.metric(name);
        return metric && isKnown(metric) ? [{ metric, kind: "self" }] : [];
    });
}

interface Listed {
    number: number;
    group: DataGroup;
    costs: Costs;
}

export function Data() {
    const { report, state, go } = usePage();
    if (!report.facts.data) {
        return <Empty>The profile does not tell data apart: run the program with --objects=yes.</Empty>;
    }
    if (!report.isReady(state)) return <Unread what="the data objects" />;
    const columns = dataColumns(report);
    const by = columns.find((column) => columnName(column) === state.sort)
        ?? columns.find(({ metric }) => metric.name === "SpLoss1") ?? columns[0];
    const match = matcher(state.q);
    const all = report.facts.data.groups.map((group, number): Listed =>
        ({ number, group, costs: report.costs("data", number) }));
    const loaded = all.filter(({ costs }) => columns.some(({ metric }) =>
        metric.numerator.some((weight, event) => weight && sides.some((side) => costs.cost("self", event, side)))));
    const key = ({ costs }: Listed): number => {
        if (!by) return 0;
        if (!report.comparing) return metricValue(by.metric, costs, "self") ?? -Infinity;
        return Math.abs(change(by.metric, costs, "self") ?? 0);
    };
    const shown = loaded
        .filter(({ group }) => !match || match(group.label))
        .sort((one, other) => (state.up ? key(one) - key(other) : key(other) - key(one)) || one.number - other.number);
    const chosen = all[state.object ?? shown[0]?.number ?? -1];
    const at = shown.findIndex(({ number }) => number === chosen?.number);
    const onKeyDown = (event: KeyboardEvent): void => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const next = step && shown[at + step];
        if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        go({ object: next.number }, true);
    };
    return (
        <div class={report.comparing ? "data comparing" : "data"}>
            <div class="bar"><SearchBox placeholder="Filter data" /></div>
            <p class="note">
                {report.comparing
                    ? "What is loaded for data of each kind, and what changed: heap blocks are the same if the same "
                        + "functions allocate them in the same lines. What stands below is of the profile after."
                    : "What was loaded for data of each kind. All rows together are all that the program loaded."}
            </p>
            {shown.length === 0 ? <Empty>No data matches.</Empty> : (
                <div class="grid" onKeyDown={onKeyDown}>
                    <LongList
                        className="rows" label="Table of data: arrow keys move" rows={shown.length + 1}
                        height={rowHeight} focusRow={at < 0 ? null : at + 1}
                        render={(index) => index === 0
                            ? <Head key="head" columns={columns} by={by} />
                            : (
                                <Row
                                    key={shown[index - 1]!.number} listed={shown[index - 1]!} columns={columns}
                                    isChosen={index - 1 === at}
                                />
                            )}
                    />
                    <p class="note">{times(shown.length, "row")} · arrow keys move</p>
                </div>
            )}
            {chosen && <Details key={chosen.number} listed={chosen} columns={columns} />}
        </div>
    );
}

function Head({ columns, by }: { columns: MetricColumn[]; by: MetricColumn | undefined }) {
    const { state, go } = usePage();
    return (
        <div class="row head">
            <span class="cell name">data</span>
            {columns.map((column) => (
                <button
                    type="button" key={columnName(column)} class="cell n" title={column.metric.title}
                    aria-label={`Sort by ${column.metric.title}`}
                    onClick={() => go({ sort: columnName(column), up: column.metric === by?.metric && !state.up })}>
                    {column.metric === by?.metric ? (state.up ? "▲ " : "▼ ") : ""}{column.metric.heading}
                </button>
            ))}
            <span class="cell n">blocks</span>
            <span class="cell n">allocated</span>
        </div>
    );
}

function Row({ listed: { number, group, costs }, columns, isChosen }: {
    listed: Listed;
    columns: MetricColumn[];
    isChosen: boolean;
}) {
    const { report, go, link } = usePage();
    const state = report.facts.data!.changes[number];
    return (
        <div
            class={`row${isChosen ? " chosen cursor" : ""}`} data-group={number}
            onClick={() => go({ object: number }, true)}
        >
            <span class="cell name">
                <a class="fn" href={link({ object: number })} title={group.label} tabIndex={-1}>{group.label}</a>
                {state && <span class="tag">{state}</span>}
            </span>
            {columns.map((column) => (
                <span class="cell n" key={columnName(column)}><Value column={column} costs={costs} /></span>
            ))}
            <span class="cell n">{group.blocks ? count(group.blocks.number) : ""}</span>
            <span class="cell n">{group.blocks ? bytes(group.blocks.bytes) : ""}</span>
        </div>
    );
}

function Details({ listed: { number, group }, columns }: { listed: Listed; columns: MetricColumn[] }) {
    const { report } = usePage();
    const isGone = report.facts.data!.changes[number] === "gone";
    const { blocks } = group;
    const size = blocks && (blocks.smallest === blocks.largest
        ? grouped(blocks.smallest) : `${grouped(blocks.smallest)} to ${grouped(blocks.largest)}`);
    return (
        <section class="card details" data-details={number}>
            <h2>{group.label}</h2>
            {isGone && <p class="note">It is gone: this is what it was before.</p>}
            {blocks && (
                <p>
                    {grouped(blocks.number)} {blocks.number === 1 ? "block" : "blocks"} of {size} bytes:{" "}
                    {bytes(blocks.bytes)} in all, {bytes(blocks.mostAlive)} alive at most, {grouped(blocks.freed)}{" "}
                    freed.
                </p>
            )}
            {group.size > 0 && <p>{grouped(group.size)} bytes in {baseName(group.object)}.</p>}
            {group.places.length > 0 && (
                <>
                    <h3>
                        Allocated{" "}
                        {group.function !== null && <>by <FunctionLink fn={group.function} view="graph" />, called</>}
                        {" "}from
                    </h3>
                    <ol class="places">
                        {group.places.map(([fn, file, line]) => (
                            <li key={`${fn}.${file}.${line}`}><Where fn={fn} file={file} line={line} /></li>
                        ))}
                    </ol>
                </>
            )}
            {group.layout && <Picture layout={group.layout} type={group.type} />}
            {group.type && <Fields type={group.type} />}
            {group.type && group.type.uses.length > 0 && <Uses type={group.type} />}
            {!isGone && <DataCurve group={number} />}
            {!isGone && <Loaders number={number} columns={columns} />}
        </section>
    );
}

// Its fields, and what would become of them if each array had what is used together.
function Fields({ type }: { type: DataType }) {
    const { fields, hasUse, parts } = type;
    return (
        <>
            <h3>{type.name}, {grouped(type.size)} bytes <small>{type.reason}</small></h3>
            {!hasUse && <p class="note">Nobody has seen which bytes of it are used.</p>}
            {fields.length > 0 && (
                <div class="scroll-x fields" tabIndex={0} role="region" aria-label={`Fields of ${type.name}`}>
                    <table class="top">
                        <thead>
                            <tr>
                                <th scope="col">field</th>
                                {hasUse && (
                                    <>
                                        <th scope="col" title="Of the times loaded, those in which any byte was used">
                                            used in
                                        </th>
                                        <th
                                            scope="col" class="n"
                                            title="How often bytes of it came with a line of D1, for each element in it"
                                        >
                                            times loaded
                                        </th>
                                    </>
                                )}
                                <th scope="col" class="n">offset</th>
                                <th scope="col" class="n">size</th>
                                {parts.length > 0 && (
                                    <th scope="col" class="n" title="In which array it had better be, see below">
                                        array
                                    </th>
                                )}
                            </tr>
                        </thead>
                        <tbody>
                            {fields.map(([name, kind, offset, size, loaded, used], at) => (
                                <tr key={at} data-field={`${offset} ${name}`} data-loaded={loaded} data-used={used}>
                                    <td class="field">
                                        {kind ? <b>{name}</b> : <span class="detail">{name}</span>}{" "}
                                        <small>{kind}</small>
                                    </td>
                                    {hasUse && (
                                        <>
                                            <td class="used-in">
                                                {loaded > 0 && <UsedIn share={used / loaded} />}
                                            </td>
                                            <td class="n">{count(loaded)}</td>
                                        </>
                                    )}
                                    <td class="n">{grouped(offset)}</td>
                                    <td class="n">{grouped(size)}</td>
                                    {parts.length > 0 && (
                                        <td class="n">{1 + parts.findIndex((part) => part.includes(at)) || ""}</td>
                                    )}
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {type.advice.map((sentence) => <p class="advice" key={sentence}>{sentence}</p>)}
        </>
    );
}

function UsedIn({ share }: { share: number }) {
    return (
        <>
            <span class="n">{percent(share)}</span> <ShareBar share={share} label={`used in ${percent(share)}`} />
        </>
    );
}

// By each line of code that loads it.
function Uses({ type }: { type: DataType }) {
    const { always } = usePage().report.facts.data!;
    return (
        <>
            <h3>Which code uses what it loads</h3>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Which code uses which fields">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">code</th>
                            <th scope="col" class="n" title="Each block in a line has a part of it">
                                parts of lines
                            </th>
                            <th scope="col" title="With the share of the parts that came with them">fields used</th>
                        </tr>
                    </thead>
                    <tbody>
                        {type.uses.slice(0, shownLoaders).map(([[fn, file, line], parts, fields]) => (
                            <tr key={`${fn}.${file}.${line}`} data-use={parts}>
                                <td><Where fn={fn} file={file} line={line} /></td>
                                <td class="n">{count(parts)}</td>
                                <td class="fields-used">
                                    {fields.length === 0 ? "none" : fields
                                        .map(([field, loaded, used]) => ({ field, share: used / loaded }))
                                        .sort((one, other) => other.share - one.share || one.field - other.field)
                                        .map(({ field, share }, index) => (
                                            <span key={field}>
                                                {index > 0 && ", "}{type.fields[field]![0]}
                                                {share < always && <small> {percent(share)}</small>}
                                            </span>
                                        ))}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {type.uses.length > shownLoaders
                && <p class="note">and {grouped(type.uses.length - shownLoaders)} more places</p>}
        </>
    );
}

function Where({ fn, file, line }: { fn: number; file: number; line: number }) {
    const { report, link } = usePage();
    return (
        <>
            {line > 0 && (
                <a href={link({ view: "source", fn, file, line })}>{baseName(report.facts.files[file] ?? "")}:{line}</a>
            )}{" "}
            <FunctionLink fn={fn} view="graph" />
        </>
    );
}

// The lines of code that loaded it.
function Loaders({ number, columns }: { number: number; columns: MetricColumn[] }) {
    const { report } = usePage();
    const table = report.table("dataRows")!;
    const [groups, functions, files, lines] = ["group", "function", "file", "line"].map((name) => table.column(name));
    const first = columns.find(({ metric }) => metric.name === "SpLoss1") ?? columns[0];
    const found: { row: number; costs: Costs; value: number }[] = [];
    for (let row = 0; row < table.rows; ++row) {
        if (groups![row] !== number) continue;
        const costs = report.costs("dataRows", row);
        found.push({ row, costs, value: first ? (metricValue(first.metric, costs, "self") ?? 0) : 0 });
    }
    found.sort((one, other) => other.value - one.value || one.row - other.row);
    return (
        <>
            <h3>Loaded by</h3>
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Who loaded it">
                <table class="top">
                    <thead>
                        <tr>
                            <th scope="col">code</th>
                            {columns.map((column) => (
                                <th scope="col" class="n" key={columnName(column)} title={column.metric.title}>
                                    {column.metric.heading}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {found.slice(0, shownLoaders).map(({ row, costs }) => (
                            <tr key={row} data-loader={row}>
                                <td><Where fn={functions![row]!} file={files![row]!} line={lines![row]!} /></td>
                                {columns.map((column) => (
                                    <td class="n" key={columnName(column)}>
                                        <Value column={column} costs={costs} alone />
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {found.length > shownLoaders && <p class="note">and {grouped(found.length - shownLoaders)} more places</p>}
        </>
    );
}

// The bytes of an element: how dark a byte is tells how often it was loaded in vain.
function Picture({ layout, type }: { layout: NonNullable<DataGroup["layout"]>; type: DataType | null }) {
    const { report } = usePage();
    const { always, sample } = report.facts.data!;
    const [element, { width }] = useSize<HTMLDivElement>();
    const table = report.table("dataBytes")!;
    const [loaded, used, borders] = ["loaded", "used", "borders"].map((name) =>
        Array.from(table.column(name).subarray(layout.first, layout.first + layout.size)));
    const widthOf = (perRow: number): number => cell.left + perRow * cell.width + (perRow / cell.group) * cell.gap;
    const perRow = [64, 32, 16].find((perRow) => widthOf(perRow) <= width) ?? 16;
    const rows = Math.ceil(layout.size / perRow);
    const [usedBytes, loadedBytes] = [used!, loaded!].map((values) =>
        values.filter((value) => value > 0).length) as [number, number];
    const fieldAt = (at: number): string =>
        (type?.size === layout.size ? type.fields : [])
            .flatMap(([name, , offset, size]) => (offset <= at && at < offset + size ? [` of ${name}`] : []))[0] ?? "";
    const isPadding = (at: number): boolean => fieldAt(at) === " of (padding)";
    const told = `${grouped(usedBytes)} ${usedBytes === 1 ? "byte was" : "bytes were"} used, `
        + `${grouped(loadedBytes - usedBytes)} loaded and never used, `
        + `${grouped(layout.size - loadedBytes)} never loaded`;
    return (
        <>
            <h3>
                An element of {grouped(layout.size)} {layout.size === 1 ? "byte" : "bytes"}{" "}
                <small>{layout.reason}</small>
            </h3>
            <p class="detail">{told}.</p>
            <div class="layout" ref={element}>
                <svg
                    width={widthOf(perRow)} height={rows * (cell.height + cell.rowGap)} role="img" aria-label={told}
                    data-bytes={layout.size}
                >
                    {Array.from({ length: rows }, (_, row) => (
                        <text
                            key={row} class="offset" x={cell.left - 10} y={row * (cell.height + cell.rowGap) + 15}
                            text-anchor="end"
                        >
                            {row * perRow}
                        </text>
                    ))}
                    {loaded!.map((times, at) => {
                        const column = at % perRow;
                        const x = cell.left + column * cell.width + Math.floor(column / cell.group) * cell.gap;
                        const y = Math.floor(at / perRow) * (cell.height + cell.rowGap);
                        const share = times ? used![at]! / times : 0;
                        return (
                            <g key={at}>
                                <rect
                                    class={times ? "byte" : "byte absent"} x={x} y={y + 2}
                                    width={cell.width - 1} height={isPadding(at) ? cell.height / 3 : cell.height - 4}
                                    fill={times ? css(shareColour(1 - share)) : "none"}
                                    data-loaded={times} data-used={used![at]}
                                >
                                    <title>
                                        {`byte ${at}${fieldAt(at)}: ${times
                                            ? `used in ${percent(share)} of ${grouped(times)} loads` : "never loaded"}`}
                                    </title>
                                </rect>
                                {borders![at]! > 0 && (
                                    <line
                                        class={borders![at]! >= always * times ? "border" : "border at-times"}
                                        x1={x - 2} x2={x - 2} y1={y - 1} y2={y + cell.height + 1}
                                    />
                                )}
                            </g>
                        );
                    })}
                </svg>
            </div>
            <p class="note">
                Pale: used whenever it was loaded; dark: never; an outline: not even loaded; low: padding.
                {layout.knowsBorders
                    ? " A line stands where a cache line always begins, a dotted one where one does at times."
                    : " Where cache lines begin is not known, as they are longer than 64 bytes."}
                {layout.cut > 0 && ` In ${percent(layout.cut / layout.loads)} of the loads, only a part of the element `
                    + "came, as the rest lies in another line."}
                {layout.unmapped > 0 && ` ${count(layout.unmapped)} parts of evicted lines are not in the picture.`}
                {sample && ` ${sample}`}
            </p>
        </>
    );
}

// What a line of code loads, beside its text.
export function LoadedData({ file, line }: { file: number; line: number }) {
    const { report, state, link } = usePage();
    const table = report.table("dataRows");
    const data = report.facts.data;
    if (!table || !data) return null;
    const metric = report.sizeMetric(state.metric);
    const [groups, files, lines] = ["group", "file", "line"].map((name) => table.column(name));
    const found = new Map<number, Costs[]>();
    for (let row = 0; row < table.rows; ++row) {
        if (files![row] !== file || lines![row] !== line) continue;
        found.set(groups![row]!, [...(found.get(groups![row]!) ?? []), report.costs("dataRows", row)]);
    }
    const listed = Array.from(found, ([group, costs]) =>
        ({ group, value: metricValue(metric, new SumCosts(costs), "self") ?? 0 }))
        .filter(({ value }) => value > 0)
        .sort((one, other) => other.value - one.value || one.group - other.group);
    if (!listed.length) return null;
    return (
        <p class="note loaded-data">
            Line {line}, {inSentence(metric.title)}:{" "}
            {listed.slice(0, shownHere).map(({ group, value }, index) => (
                <span key={group} data-group={group} data-exact={value}>
                    {index > 0 && ", "}
                    {count(value)} for <a href={link({ view: "data", object: group })}>{data.groups[group]!.label}</a>
                </span>
            ))}
            {listed.length > shownHere && ` and ${listed.length - shownHere} more`}
        </p>
    );
}
