// SPDX-License-Identifier: GPL-2.0-or-later
//
// A group of data: its heap blocks and where they were allocated, its used bytes and fields, and the code that loaded
// it.

import { usePage } from "../context";
import { baseName, bytes, grouped } from "../format";
import { FunctionLink } from "../parts";
import type { MetricColumn } from "../report";
import { Picture } from "./bytes";
import { DataCurve } from "./curves";
import type { Listed } from "./data_columns";
import { Fields, Uses } from "./data_fields";
import { Loaders, Where } from "./loaders";

export function Details({ listed: { number, group }, columns }: { listed: Listed; columns: MetricColumn[] }) {
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
