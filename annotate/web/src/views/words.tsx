// SPDX-License-Identifier: GPL-2.0-or-later
//
// The meanings of words.

import { usePage } from "../context";

// A word, the metric that it is about, and its meaning.
const words: [string, "" | "lost" | "perLine" | "misses", string][] = [
    ["Line", "", "Caches hold memory in lines, mostly of 64 bytes. An access to one byte loads the whole line."],
    ["Never used", "lost",
        "Bytes of a line that were loaded and not touched until the line left the cache. They cost bandwidth and room, "
        + "for nothing."],
    ["First-level, last-level", "lost",
        "The cache next to the processor (L1, for instructions I1 and for data D1), and the one before memory (LL)."],
    ["Miss", "misses",
        "An access to a line that is not in the cache. A miss of the last level waits for memory: hundreds of cycles."],
    ["Accesses per line", "perLine",
        "How often a line was touched while it was cached. With few accesses, it was hardly worth loading."],
    ["Itself, self", "",
        "What the instructions of a function caused. A line's waste belongs to the instruction that loaded it."],
    ["Inclusive", "",
        "The same, plus everything that happened in calls from there: it shows which caller is to blame."],
    ["Context", "",
        "A path of calls, from the program's start to a function. The same function has other costs in other "
        + "contexts."],
];

export function Words() {
    const { report } = usePage();
    return (
        <details class="words" >
            <summary>What the words mean</summary>
            <dl>
                {words.filter(([, needs]) => !needs || report.use(0)[needs]).map(([word, , meaning]) => (
                    <div key={word}>
                        <dt>{word}</dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
        </details>
    );
}
