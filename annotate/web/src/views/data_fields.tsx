// SPDX-License-Identifier: GPL-2.0-or-later
//
// The fields of a type of data, with how often they were used, and by which code.

import { usePage } from "../context";
import type { DataType } from "../data";
import { count, grouped, percent } from "../format";
import { ShareBar } from "../parts";
import { shownLoaders, Where } from "./loaders";

// The fields, and the arrays into which they could be split so that each has fields that are used together.
export function Fields({ type }: { type: DataType }) {
    const { fields, hasUse, parts, users } = type;
    const { userTitle } = usePage().report.facts.data!;
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
                                {users.length > 0 && <th scope="col" title={userTitle}>used by</th>}
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
                                    {users.length > 0 && <td class="users-of">{users[at]}</td>}
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

// The use of fields by each line of code that loads the data.
export function Uses({ type }: { type: DataType }) {
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
