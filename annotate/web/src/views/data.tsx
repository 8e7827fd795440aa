// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects: what was loaded for each, who loaded it, and which of its bytes and fields were used. Where two
// profiles are compared, what changed is in the list, and all else is of the one after.

import { usePage } from "../context";
import { SearchBox, useMatch } from "../find";
import { LongList } from "../list";
import { SumCosts, change, metricValue, sides, type Costs } from "../costs";
import type { DataGroup, DataType } from "../data";
import { baseName, bytes, count, grouped, inSentence, percent, times } from "../format";
import { Empty, FunctionLink, ShareBar, Shortened, Unread, Value } from "../parts";
import { Picture } from "./bytes";
import { DataCurve } from "./curves";
import { columnName, type MetricColumn, type Report } from "../report";

const rowHeight = 26;
const shownLoaders = 20;
const shownHere = 3;
const mostCompared = 4; // each has its change beside it

function dataColumns(report: Report): MetricColumn[] {
    const { columns } = report.facts.data!;
    return columns.flatMap((name, at): MetricColumn[] => {
        const metric = report.metric(name);
        const isShown = !report.comparing || at < mostCompared - 1 || at === columns.length - 1;
        return metric && isShown ? [{ metric, kind: "self" }] : [];
    });
}

// What data is ranked by: what it loses.
const ranksBy = (columns: MetricColumn[]): MetricColumn | undefined => columns[1] ?? columns[0];

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
        ?? ranksBy(columns);
    const match = useMatch();
    const all = report.facts.data.groups.map((group, number): Listed =>
        ({ number, group, costs: report.costs("data", number) }));
    const loaded = all.filter(({ costs }) => columns.some(({ metric }) =>
        metric.numerator.some((weight, event) => weight && sides.some((side) => costs.cost("self", event, side)))));
    const key = ({ costs }: Listed): number => {
        if (!by) return 0;
        if (!report.comparing) return metricValue(by.metric, costs, "self") ?? -Infinity;
        return change(by.metric, costs, "self") ?? 0;
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
            <div class="bar">
                <SearchBox
                    placeholder="Filter data"
                    found={{
                        count: match ? shown.length : 0, at,
                        choose: (number) => go({ object: shown[number]!.number }, true),
                    }}
                />
            </div>
            <p class="note">
                {report.comparing
                    ? "What is loaded for data of each kind, and what changed: heap blocks are the same if the same "
                        + "functions allocate them in the same lines. What stands below is of the profile after."
                    : "What was loaded for data of each kind. All rows together are all that the program loaded."}
            </p>
            {shown.length === 0 ? <Empty>No data matches.</Empty> : (
                <div class="grid" onKeyDown={onKeyDown}>
                    <LongList
                        className="rows" label="Table of data: arrow keys move" rows={shown.length}
                        height={rowHeight} focusRow={at < 0 ? null : at}
                        active={at < 0 ? undefined : `data${shown[at]!.number}`}
                        head={<Head columns={columns} by={by} />}
                        render={(index) => (
                            <Row
                                key={shown[index]!.number} listed={shown[index]!} columns={columns} index={index}
                                isChosen={index === at}
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
        <div class="row head" role="row" aria-rowindex={1}>
            <span class="cell name" role="columnheader">data</span>
            {columns.map((column) => {
                const isBy = column.metric === by?.metric;
                return (
                    <span
                        key={columnName(column)} class="cell n" role="columnheader"
                        aria-sort={!isBy ? "none" : state.up ? "ascending" : "descending"}
                    >
                        <button
                            type="button" title={`${column.metric.title}: click sorts`}
                            onClick={() => go({ sort: columnName(column), up: isBy && !state.up })}
                        >
                            {isBy && <span class={`glyph ${state.up ? "up" : "down"}`} aria-hidden="true" />}
                            {column.metric.heading}
                        </button>
                    </span>
                );
            })}
            <span class="cell n" role="columnheader">blocks</span>
            <span class="cell n" role="columnheader">allocated</span>
        </div>
    );
}

function Row({ listed: { number, group, costs }, columns, index, isChosen }: {
    listed: Listed;
    columns: MetricColumn[];
    index: number;
    isChosen: boolean;
}) {
    const { report, go, link } = usePage();
    const state = report.facts.data!.changes[number];
    return (
        <div
            class={`row${isChosen ? " chosen cursor" : ""}`} data-group={number} id={`data${number}`} role="row"
            aria-rowindex={index + 2} aria-selected={isChosen}
            onClick={() => go({ object: number }, true)}
        >
            <span class="cell name" role="rowheader">
                <a class="fn" href={link({ object: number })} title={group.label} tabIndex={-1}>
                    <Shortened text={group.label} />
                </a>
                {state && <span class="tag">{state}</span>}
            </span>
            {columns.map((column) => (
                <span class="cell n" role="gridcell" key={columnName(column)}>
                    <Value column={column} costs={costs} />
                </span>
            ))}
            <span class="cell n" role="gridcell">{group.blocks ? count(group.blocks.number) : ""}</span>
            <span class="cell n" role="gridcell">{group.blocks ? bytes(group.blocks.bytes) : ""}</span>
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
                    {bytes(blocks.bytes)} in all, at most {bytes(blocks.mostAlive)} alive at once,{" "}
                    {grouped(blocks.freed)}{" "}
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
            {!hasUse && <p class="note">Its used bytes were not recorded.</p>}
            {fields.length > 0 && (
                <div class="scroll-x fields" tabIndex={0} role="region" aria-label={`Fields of ${type.name}`}>
                    <table class="top">
                        <thead>
                            <tr>
                                <th scope="col">field</th>
                                {hasUse && (
                                    <>
                                        <th scope="col" title="The share of its loads in which any byte was used">
                                            used in
                                        </th>
                                        <th
                                            scope="col" class="n"
                                            title="How often bytes of it were loaded with a line of D1, per element"
                                        >
                                            times loaded
                                        </th>
                                    </>
                                )}
                                <th scope="col" class="n">offset</th>
                                <th scope="col" class="n">size</th>
                                {parts.length > 0 && (
                                    <th scope="col" class="n" title="The array that it should be in, see below">
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
                            <th scope="col" class="n" title="A line has one part for each block in it">
                                parts of lines
                            </th>
                            <th scope="col" title="With the share of the parts that contain them">fields used</th>
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
    const [groups, functions, files, lines] = (["group", "function", "file", "line"] as const).map(
        (name) => table.column(name),
    );
    const first = ranksBy(columns);
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

// What a line of code loads, beside its text.
export function LoadedData({ file, line }: { file: number; line: number }) {
    const { report, state, link } = usePage();
    const table = report.table("dataRows");
    const data = report.facts.data;
    if (!table || !data) return null;
    const metric = report.sizeMetric(state.metric);
    const [groups, files, lines] = (["group", "file", "line"] as const).map((name) => table.column(name));
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
