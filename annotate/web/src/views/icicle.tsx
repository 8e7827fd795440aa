// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calling context tree as a picture: width shows cost; colour, the share never used, or where the code is.

import { useEffect, useMemo, useState } from "preact/hooks";
import { usePage, useSize } from "../context";
import { picture, tops, wholeWindow, widths } from "../flame";
import type { Found } from "../find";
import { inSentence } from "../format";
import { Palette } from "../palette";
import { Empty, FullTree, Unread, foldsStart } from "../parts";
import { isShaped, useTree } from "../shaped";
import type { ContextTree } from "../tree";
import { IcicleBar, IciclePath, useFrameMatches } from "./icicle_bar";
import { Canvas } from "./icicle_canvas";
import type { Painting } from "./icicle_paint";
import { Minimap } from "./minimap";

export function Icicle() {
    const { report, state, link } = usePage();
    const tree = useTree();
    if (!report.isReady(state)) return <Unread what="the calling contexts" />;
    if (!tree) {
        return (
            <div class="explain">
                <h2>This profile has no calling contexts</h2>
                <p>
                    It has the cost of each call between two functions, but not the paths: an icicle drawn from it would
                    be a guess where paths meet. Run the program with <code>--context-tree=yes</code>, and
                    this view shows every path with its exact cost.
                </p>
                <p>
                    Until then, see <a href={link({ view: "graph" })}>callers and callees</a> or{" "}
                    <a href={link({ view: "tables", table: "callers" })}>the table of callers</a>: both are exact.
                </p>
            </div>
        );
    }
    return <IcicleOf tree={tree} />;
}

function IcicleOf({ tree }: { tree: ContextTree }) {
    const { report, state, dark } = usePage();
    const metric = report.sizeMetricOf("tree", state.metric);
    const upside = state.upside && !state.focus;
    const sandwich = state.focus ? state.fn : null;
    const matches = useFrameMatches(tree);
    const fold = foldsStart(report, state);
    const values = useMemo(
        () => widths(tree, metric, report.comparing, upside ? "self" : "incl"), [tree, metric, upside],
    );
    const [element, { width }] = useSize<HTMLDivElement>();
    const [found, setFound] = useState<Found>({ count: 0, at: -1, choose: () => undefined });
    const exact = tree.otherFrame !== null && !isShaped(state, report) ? { report, metric } : null;
    const node = state.node === null ? null : tree.shaped(state.node);
    const start = useMemo(
        () => tops(tree, values, { node, sandwich, upside, fold, exact }),
        [values, node, sandwich, fold, exact !== null],
    );
    const [window, setWindow] = useState(wholeWindow);
    useEffect(() => setWindow(wholeWindow), [start]);
    const shown = useMemo(() => (width ? picture(start, width, window) : null), [start, width, window]);
    const colour = report.comparing ? "share" : state.colour;
    const palette = useMemo(
        () => (colour === "share" ? null : new Palette(report, metric, colour)), [colour, metric],
    );
    const painting: Painting = {
        report, metric, share: report.shareFor(metric), palette, matches, chosen: state.fn, dark, kind: values.kind,
    };
    return (
        <div class="icicle">
            <IcicleBar found={found} painting={painting} start={start} width={width} />
            <IciclePath tree={tree} sandwich={sandwich} fold={fold} upside={upside} matches={matches} />
            <FullTree metric={metric} />
            <div class="picture" ref={element}>
                {shown && shown.levels.length > 0 ? (
                    <>
                        <Minimap start={start} width={width} painting={painting} window={window} look={setWindow} />
                        <Canvas
                            tree={tree} shown={shown} width={width} painting={painting} upside={upside}
                            setFound={setFound} window={window} look={setWindow}
                        />
                    </>
                ) : shown && <Empty>Nothing here has any {inSentence(metric.title)}.</Empty>}
            </div>
            <p class="note">
                Width: {inSentence(metric.title)}{upside && ", of the functions themselves; below each who called it"}
                {report.comparing
                    ? ": increases and decreases, added up; blue is less, red is more" : ""}. A click chooses, a
                double click or Enter zooms in, Ctrl and the wheel look closer, the right button has more; ? lists
                all keys.
            </p>
        </div>
    );
}
