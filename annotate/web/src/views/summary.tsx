// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is wasted, where it happens, and what to do about it.

import { usePage } from "../context";
import { Cards } from "./cards";
import { Curves } from "./curves";
import { Headline } from "./headline";
import { HotLines } from "./hotlines";
import { TopPlaces } from "./places";
import { RanksNote } from "./ranks";
import { Repairs } from "./repairs";
import { SharingNote } from "./sharing";
import { Run } from "./run";
import { CacheCard, Cycles, WorkCard } from "./totals";
import { Words } from "./words";

export function Summary() {
    const { report } = usePage();
    const { why, verdict, hints } = report.facts;
    const isLittle = verdict?.first === "instructions" && !report.comparing;
    const misses = (
        <>
            <HotLines />
            {!isLittle && <TopPlaces />}
            {why && <Curves why={why} />}
        </>
    );
    return (
        <div class="summary">
            <Headline />
            {why?.repairs && <Repairs repairs={why.repairs} />}
            {!report.comparing && <Cards hints={hints} />}
            <RanksNote />
            <SharingNote />
            {verdict && !report.comparing && <Cycles verdict={verdict} />}
            <div class="cards">
                {report.facts.use.levels.map(({ title }, level) => (
                    <CacheCard key={title} level={level} title={title} />
                ))}
                <WorkCard />
            </div>
            {isLittle && <TopPlaces />}
            {isLittle ? (
                <details class="anyway">
                    <summary>Costliest lines and other cache sizes</summary>
                    {misses}
                </details>
            ) : misses}
            <Words />
            <Run />
        </div>
    );
}
