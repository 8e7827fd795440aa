// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bytes of an element of data, as a picture.

import { css, shareColour } from "../colours";
import { usePage, useSize } from "../context";
import type { BytesUsed, DataGroup, DataType } from "../data";
import { count, grouped, percent, runsText } from "../format";

const cell = { width: 13, height: 20, gap: 5, group: 8, left: 44, rowGap: 8 };
// Below the bytes, where it is known which threads use them.
const userRow = 18;

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
    const users = brief ? [] : layout.users;
    const userOf = new Map(users.flatMap((user) => everyByte(user).map((at) => [at, user] as const)));
    // Of each row, and of the end.
    const tops = [0];
    for (let row = 0; row < rows; ++row) {
        const hasUsers = Array.from({ length: perRow }, (_, at) => row * perRow + at).some((at) => userOf.has(at));
        tops.push(tops[row]! + cell.height + cell.rowGap + (hasUsers ? userRow : 0));
    }
    const topOf = (at: number): number => tops[Math.floor(at / perRow)]!;
    const xOf = (at: number): number => {
        const column = at % perRow;
        return cell.left + column * cell.width + Math.floor(column / cell.group) * cell.gap;
    };
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
                    width={widthOf(perRow)} height={tops[rows]} role="img"
                    aria-label={users.length ? `${told}. The letters below are explained behind the picture.` : told}
                    data-bytes={layout.size}
                >
                    {Array.from({ length: rows }, (_, row) => (
                        <text
                            key={row} class="offset" x={cell.left - 10} y={tops[row]! + 15}
                            text-anchor="end"
                        >
                            {row * perRow}
                        </text>
                    ))}
                    {loaded!.map((times, at) => {
                        const x = xOf(at);
                        const y = topOf(at);
                        const user = userOf.get(at);
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
                                            ? `used in ${percent(share)} of ${grouped(times)} loads` : "never loaded"}`
                                            + (user ? `; ${user.by}` : "")}
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
                    {users.flatMap((user) => pieces(user.bytes, perRow).map(([first, last]) => (
                        <g key={first} data-letter={user.letter} data-first={first} data-last={last}>
                            <rect
                                class={user.isWritten ? "user" : "user only-read"} x={xOf(first) + 0.5}
                                y={topOf(first) + cell.height + 1.5}
                                width={xOf(last) + cell.width - 2 - xOf(first)} height={userRow - 4} rx={3}
                            />
                            <text
                                class="letter" x={(xOf(first) + xOf(last) + cell.width - 1) / 2} text-anchor="middle"
                                y={topOf(first) + cell.height + 12.5}
                            >
                                {user.letter}
                            </text>
                        </g>
                    )))}
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
            {users.length > 0 && <Users users={users} />}
        </>
    );
}

// What the letters in the picture mean.
function Users({ users }: { users: BytesUsed[] }) {
    const { userTitle } = usePage().report.facts.data!;
    return (
        <>
            <h3>{userTitle}</h3>
            <p class="key">
                <span><span class="swatch framed" aria-hidden="true" /> written</span>
                <span><span class="swatch framed only-read" aria-hidden="true" /> only read</span>
            </p>
            <ul class="users">
                {users.map((user) => (
                    <li key={user.bytes[0]![0]} data-user={user.letter}>
                        <b>{user.letter}</b>{" "}
                        {user.bytes.length === 1 && user.bytes[0]![0] === user.bytes[0]![1] ? "byte" : "bytes"}{" "}
                        {runsText(user.bytes)}
                        {user.fields.length > 0 && `, ${user.fields.join(", ")}`}: {user.by}
                    </li>
                ))}
            </ul>
        </>
    );
}

const everyByte = ({ bytes }: BytesUsed): number[] =>
    bytes.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));

// Runs of bytes, cut where a row of the picture ends.
export function pieces(runs: [number, number][], perRow: number): [number, number][] {
    return runs.flatMap(([first, last]) => {
        const rows = Math.floor(last / perRow) - Math.floor(first / perRow) + 1;
        return Array.from({ length: rows }, (_, row): [number, number] => {
            const begin = (Math.floor(first / perRow) + row) * perRow;
            return [Math.max(first, begin), Math.min(last, begin + perRow - 1)];
        });
    });
}
