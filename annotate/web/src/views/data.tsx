// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects: what was loaded for each. Where two profiles are compared, what changed is in the list, and all else
// is of the one after.

import { usePage } from "../context";
import { change, metricValue, sides } from "../costs";
import { SearchBox, useMatch } from "../find";
import { bytes, count, times } from "../format";
import { LongList } from "../list";
import { Empty, Shortened, Unread, Value } from "../parts";
import { columnName, type MetricColumn } from "../report";
import { dataColumns, ranksBy, type Listed } from "./data_columns";
import { Details } from "./data_details";

const rowHeight = 26;

export function Data() {
    const { report, state, go } = usePage();
    if (!report.facts.data) {
        return <Empty>The profile has no data objects: run the program with --objects=yes.</Empty>;
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
                    ? "What is loaded for data of each kind, and what changed: heap blocks count as the same if the "
                        + "same functions allocate them in the same lines. The details below are of the profile after."
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
