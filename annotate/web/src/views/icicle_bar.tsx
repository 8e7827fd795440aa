// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bars above the icicle: how paths are shown, what can be saved, and the current place in the tree.

import { useMemo } from "preact/hooks";
import { usePage } from "../context";
import { metricValue } from "../costs";
import { picture, type Cell, type Tops } from "../flame";
import { SearchBox, useMatch, type Found } from "../find";
import { percent } from "../format";
import { SvgPainter } from "../painter";
import { AboveButton, Legend, SizePicker } from "../parts";
import { Popup } from "../popup";
import { copy, folded, save } from "../save";
import { colourings, initialPaths, type Colouring } from "../state";
import type { ContextTree } from "../tree";
import { PaletteLegend, PathButtons, PathChanges } from "./paths";
import { paintRows, rowHeight, rowsOf, type Painting } from "./icicle_paint";

const colourNames = { share: "share never used", object: "object file", file: "source file" } as const;

export function IcicleBar({ found, painting, start, width }: {
    found: Found;
    painting: Painting;
    start: Tops;
    width: number;
}) {
    const { report, state, go } = usePage();
    const isInitial = state.node === null && !state.focus && !state.upside && !state.q && !state.hide.length
        && !state.merge.length && !state.whole.length && !state.collapse && !state.loops;
    return (
        <div class="bar">
            <SizePicker of="tree" />
            <SearchBox placeholder="Search functions" found={found} />
            <button type="button" aria-pressed={state.focus} disabled={state.fn === null}
                title="The chosen function, its callers above it and its callees below, over all paths"
                onClick={() => go({ focus: !state.focus, node: null })}
            >
                Callers and callees
            </button>
            <button type="button" aria-pressed={state.upside}
                title="Begin with the functions that cost most themselves; below each who called it"
                onClick={() => go({ upside: !state.upside, focus: false, node: null })}
            >
                Bottom-up
            </button>
            <PathButtons />
            <AboveButton />
            {!report.comparing && (
                <label class="picker">
                    <span>Colour</span>
                    <select
                        value={state.colour}
                        onChange={(event) => go({ colour: (event.target as HTMLSelectElement).value as Colouring })}
                    >
                        {colourings.map((name) => <option key={name} value={name}>{colourNames[name]}</option>)}
                    </select>
                </label>
            )}
            <Saving painting={painting} start={start} width={width} />
            <button type="button" disabled={isInitial}
                onClick={() => go({
                    node: null, focus: false, upside: false, loops: false, q: "", ...initialPaths,
                })}
            >
                Reset
            </button>
            {painting.palette ? <PaletteLegend palette={painting.palette} />
                : <Legend kind={report.comparing ? "change" : "share"} share={painting.share} />}
        </div>
    );
}

function Saving({ painting, start, width }: { painting: Painting; start: Tops; width: number }) {
    const { report } = usePage();
    const { metric } = painting;
    const label = (cell: Cell): string => report.label(cell.name);
    const stacks = (): string => folded(
        { tops: start.down, above: start.above.map(label), upside: painting.kind === "self" }, label,
        (cell) => {
            if (painting.kind === "incl") return metricValue(metric, cell.costs, "self") ?? 0;
            // Bottom-up: the cost that no caller below has.
            return cell.size - cell.children().reduce((sum, child) => sum + child.size, 0);
        },
    );
    const svg = (): string => {
        const rows = rowsOf(picture(start, width), width);
        const painter = new SvgPainter(width, rows.rows.length * rowHeight);
        paintRows(painter, painting, rows, { top: 0, height: rows.rows.length * rowHeight, width });
        return painter.text();
    };
    return (
        <Popup title="Save">
            <p>
                <button type="button" onClick={() => save("icicle.svg", "image/svg+xml", svg())}>Picture as SVG</button>
            </p>
            <p>
                <button type="button" onClick={() => save("stacks.txt", "text/plain", stacks())}>
                    Folded stacks
                </button>{" "}
                <button type="button" onClick={() => void copy(stacks())}>Copy folded stacks</button>
            </p>
            <p class="note">Of {metric.heading}, what is shown here: a line for each path, for flame graph scripts.</p>
        </Popup>
    );
}

// The path from the root to the first cell of the picture, and what is left out.
export function IciclePath({ tree, sandwich, fold, upside, matches }: {
    tree: ContextTree;
    sandwich: number | null;
    fold: boolean;
    upside: boolean;
    matches: Uint8Array | null;
}) {
    const { report, state, go } = usePage();
    const node = state.node === null ? null : tree.shaped(state.node);
    const start = node === null ? [] : tree.path(node);
    const crumbs = fold && !(start.length && tree.isStart(start.at(-1)!))
        ? start.filter((at) => !tree.isStart(at)) : start;
    return (
        <nav class="crumbs" aria-label="Path">
            {sandwich !== null ? (
                <span>{report.name(sandwich)}: callers above, callees below, over all paths</span>
            ) : upside ? <span>functions by what they cost themselves, below each its callers</span> : (
                <>
                    <button type="button" class="crumb" onClick={() => go({ node: null })}>all</button>
                    {crumbs.map((at) => (
                        <button type="button" class="crumb" key={at} onClick={() => go({ node: tree.original(at) })}>
                            {report.label(tree.frames[tree.frame[at]!]!)}
                        </button>
                    ))}
                </>
            )}
            <PathChanges />
            {matches && <MatchShare tree={tree} matches={matches} />}
        </nav>
    );
}

// For each frame, whether it matches the search.
export function useFrameMatches(tree: ContextTree): Uint8Array | null {
    const { report } = usePage();
    const match = useMatch();
    return useMemo(
        () => match && Uint8Array.from(tree.frames, (frame) =>
            ((typeof frame === "number" ? report.matches(match, frame) : match(frame)) ? 1 : 0)),
        [match, tree],
    );
}

// The share of the cost on paths with a match.
export function MatchShare({ tree, matches }: { tree: ContextTree; matches: Uint8Array }) {
    const { report, state } = usePage();
    const metric = report.sizeMetricOf("tree", state.metric);
    const share = useMemo(() => {
        const own = tree.selfSum(metric.numerator, "");
        const inside = new Uint8Array(tree.size);
        let found = 0;
        let all = 0;
        for (let node = 0; node < tree.size; ++node) {
            const above = tree.above(node);
            all += own[node]!;
            inside[node] = (above !== null && inside[above]) || matches[tree.frame[node]!] ? 1 : 0;
            if (inside[node]) found += own[node]!;
        }
        return all ? found / all : 0;
    }, [tree, matches, metric]);
    return <span class="tag" data-matched={share}>{percent(share)} in what matches</span>;
}
