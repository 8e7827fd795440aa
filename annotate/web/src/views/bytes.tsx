// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bytes of an element of data, as a picture.

import { css, shareColour } from "../colours";
import { usePage, useSize } from "../context";
import type { DataGroup, DataType } from "../data";
import { count, grouped, percent } from "../format";

const cell = { width: 13, height: 20, gap: 5, group: 8, left: 44, rowGap: 8 };

// The bytes of an element: the darker a byte, the more often it was loaded in vain.
// brief: without a title and explanations.
export function Picture({ layout, type, brief = false }: {
    layout: NonNullable<DataGroup["layout"]>;
    type: DataType | null;
    brief?: boolean;
}) {
    const { report } = usePage();
    const { always, sample } = report.facts.data!;
    const [element, { width }] = useSize<HTMLDivElement>();
    const table = report.table("dataBytes")!;
    const [loaded, used, borders] = (["loaded", "used", "borders"] as const).map((name) =>
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
    const told = `${grouped(usedBytes)} ${usedBytes === 1 ? "byte was" : "bytes were"} used in at least one load, `
        + `${grouped(loadedBytes - usedBytes)} in none, `
        + `${grouped(layout.size - loadedBytes)} never loaded`;
    return (
        <>
            {!brief && <h3>
                An element of {grouped(layout.size)} {layout.size === 1 ? "byte" : "bytes"}{" "}
                <small>{layout.reason}</small>
            </h3>}
            <p class="detail">{brief && `Of an element of ${grouped(layout.size)} bytes: `}{told}.</p>
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
            {!brief && <p class="note">
                Pale: used whenever it was loaded; dark: never; an outline: not even loaded; low: padding.
                {layout.knowsBorders
                    ? " A solid line marks where a cache line always begins, a dotted one where one sometimes does."
                    : " Where cache lines begin is not known: they are longer than 64 bytes."}
                {layout.cut > 0 && ` In ${percent(layout.cut / layout.loads)} of the loads, only part of the element `
                    + "was loaded: the rest lies in another line."}
                {layout.unmapped > 0 && ` ${count(layout.unmapped)} parts of evicted lines are not in the picture.`}
                {sample && ` ${sample}`}
            </p>}
        </>
    );
}
