// SPDX-License-Identifier: GPL-2.0-or-later
//
// Object files, source files and functions as tiles, sized by cost.

import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from "d3-hierarchy";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changeColour, css, leastScale, plain, shareColour, textOn } from "../colours";
import { usePage, useSize } from "../context";
import { SumCosts, change, metricValue, type Costs } from "../costs";
import { baseName, fitted, inSentence, metricText, percent, signed } from "../format";
import { SearchBox, useMatch } from "../find";
import { Empty, Interval, Legend, SizePicker } from "../parts";

interface Item {
    name: string;
    fn: number | null;
    costs: Costs | null;
    value: number;
    children?: Item[];
}

// The smaller functions of a file share a tile.
const mostTiles = 4000;

export function Treemap() {
    const { report, state, go, dark } = usePage();
    const [element, { width }] = useSize<HTMLDivElement>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [cursor, setCursor] = useState<{
        tile: HierarchyRectangularNode<Item>; x: number; y: number; byKey: boolean;
    } | null>(null);
    const metric = report.sizeMetric(state.metric);
    const share = report.shareFor(metric);
    const height = Math.max(360, window.innerHeight - 230);
    const match = useMatch();
    const size = (costs: Costs): number =>
        report.comparing ? Math.abs(change(metric, costs, "self") ?? 0) : (metricValue(metric, costs, "self") ?? 0);
    const root = useMemo(() => {
        if (!width) return null;
        const objects = new Map<string, Map<string, Item[]>>();
        const ranked = report.ranked(metric, "self");
        ranked.forEach(({ fn }, rank) => {
            const costs = report.functionCosts(fn);
            const files = objects.get(report.object(fn)) ?? new Map<string, Item[]>();
            objects.set(report.object(fn), files);
            const items = files.get(report.file(fn)) ?? [];
            files.set(report.file(fn), items);
            if (rank < mostTiles) items.push({ name: report.name(fn), fn, costs, value: size(costs) });
            else {
                let rest = items[items.length - 1];
                if (!rest || rest.fn !== null) {
                    items.push((rest = { name: "(smaller ones)", fn: null, costs: null, value: 0 }));
                }
                rest.value += size(costs);
            }
        });
        const data: Item = {
            name: "all", fn: null, costs: null, value: 0,
            children: Array.from(objects, ([object, files]): Item => ({
                name: baseName(object) || "(unknown object)", fn: null, costs: null, value: 0,
                children: Array.from(files, ([file, items]): Item => ({
                    name: !file || file === "???" ? "(unknown file)" : baseName(file), fn: null, value: 0,
                    children: items,
                    costs: new SumCosts(items.flatMap((item) => item.costs ?? [])),
                })),
            })),
        };
        const summed = hierarchy(data).sum((item) => (item.children ? 0 : item.value))
            .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
        return treemap<Item>().tile(treemapSquarify).size([width, height])
            .paddingTop((node) => (node.depth === 0 || node.x1 - node.x0 < 50 || node.y1 - node.y0 < 40 ? 0 : 17))
            .paddingInner(1).round(true)(summed);
    }, [metric, width, height]);
    const tiles = useMemo(
        () => root?.leaves().filter((tile) => tile.x1 - tile.x0 >= 1 && tile.y1 - tile.y0 >= 1) ?? [],
        [root],
    );

    const most = tiles.reduce((all, { data: { costs } }) =>
        Math.max(all, costs ? Math.abs(change(metric, costs, "self") ?? 0) : 0), 0);
    const isFound = ({ data: { fn, name } }: HierarchyRectangularNode<Item>): boolean =>
        match !== null && (fn === null ? match(name) : report.matches(match, fn));
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!canvas.current || !context || !root) return;
        const scale = Math.max(window.devicePixelRatio || 1, leastScale);
        canvas.current.width = Math.round(width * scale);
        canvas.current.height = Math.round(height * scale);
        context.scale(scale, scale);
        context.textBaseline = "middle";
        root.each((tile) => {
            const [w, h] = [tile.x1 - tile.x0, tile.y1 - tile.y0];
            if (w < 1 || h < 1 || tile.depth === 0) return;
            if (tile.children) {
                context.fillStyle = dark
                    ? (tile.depth === 1 ? "#2b323b" : "#3a434e") : tile.depth === 1 ? "#cfd6dd" : "#e3e8ec";
                context.fillRect(tile.x0, tile.y0, w, h);
                if (w < 50 || h < 40) return;
                context.fillStyle = dark ? "#e8ecf0" : "#16191d";
                context.font = tile.depth === 1 ? "bold 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
                write(context, tile.data.name, tile.x0 + 4, tile.y0 + 9, w - 8);
                return;
            }
            const costs = tile.data.costs;
            const colour = report.comparing
                ? changeColour(costs ? strength(change(metric, costs, "self") ?? 0, most) : 0)
                : share && costs ? shareColour(metricValue(share, costs, "self")) : plain;
            context.globalAlpha = match && !isFound(tile) ? 0.25 : 1;
            context.fillStyle = css(colour);
            context.fillRect(tile.x0, tile.y0, w, h);
            if (w > 44 && h > 14) {
                context.fillStyle = textOn(colour);
                context.font = "11px system-ui, sans-serif";
                const by = costs && report.comparing ? change(metric, costs, "self") : null;
                const name = by === null ? tile.data.name : `${tile.data.name} ${signed(metricText(metric, by), by)}`;
                write(context, name, tile.x0 + 4, tile.y0 + Math.min(10, h / 2), w - 8);
            }
            context.globalAlpha = 1;
            if (tile.data.fn !== null && (tile.data.fn === state.fn || tile === cursor?.tile)) {
                context.strokeStyle = dark ? "#ffffff" : "#000000";
                context.lineWidth = 2;
                context.strokeRect(tile.x0 + 1, tile.y0 + 1, Math.max(w - 2, 1), Math.max(h - 2, 1));
            }
        });
    }, [root, width, state.fn, match, cursor?.tile, dark]);

    const found = useMemo(() => tiles.filter(isFound), [tiles, match]);
    const choose = (tile: HierarchyRectangularNode<Item> | undefined): void => {
        const bounds = canvas.current?.getBoundingClientRect();
        if (!tile || !bounds) return;
        setCursor({ tile, x: bounds.left + tile.x0, y: bounds.top + tile.y1, byKey: true });
    };
    const find = (event: MouseEvent): HierarchyRectangularNode<Item> | null => {
        const bounds = canvas.current!.getBoundingClientRect();
        const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
        return tiles.find((tile) => x >= tile.x0 && x < tile.x1 && y >= tile.y0 && y < tile.y1) ?? null;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const at = cursor ? tiles.indexOf(cursor.tile) : -1;
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
            event.preventDefault();
            choose(tiles[Math.max(0, Math.min(tiles.length - 1, at + step))]);
        } else if (event.key === "Enter" && cursor?.tile.data.fn != null) {
            go({ view: "graph", fn: cursor.tile.data.fn });
        }
    };
    const tip = cursor?.tile.data;
    const changed = tip?.costs ? change(metric, tip.costs, "self") : null;
    const total = metricValue(metric, report.totals, "self") ?? 0;
    return (
        <div class="treemap">
            <div class="bar">
                <SizePicker />
                <SearchBox
                    placeholder="Search functions"
                    found={{
                        count: found.length, at: cursor ? found.indexOf(cursor.tile) : -1,
                        choose: (number) => choose(found[number]),
                    }}
                />
                <Legend kind={report.comparing ? "change" : "share"} share={report.shareFor(metric)} />
            </div>
            <div ref={element} class="picture" tabIndex={0} role="application" onKeyDown={onKeyDown}
                aria-label={"Treemap of objects, files and functions: arrow keys move, Enter shows the call graph; "
                    + "the flat table has the same numbers as text"}>
                {root && !root.value ? (
                    <Empty>Nothing has any {inSentence(metric.title)}{report.comparing ? " that changed" : ""}.</Empty>
                ) : (
                    <canvas
                        ref={canvas} style={{ height: `${height}px` }} data-cells={tiles.length}
                        onMouseMove={(event) => {
                            const tile = find(event);
                            setCursor(tile && { tile, x: event.clientX, y: event.clientY, byKey: false });
                        }}
                        onMouseLeave={() => setCursor(null)}
                        onClick={(event) => {
                            const tile = find(event);
                            if (tile?.data.fn != null) go({ fn: tile.data.fn }, true);
                        }}
                        onDblClick={(event) => {
                            const tile = find(event);
                            if (tile?.data.fn != null) go({ view: "graph", fn: tile.data.fn });
                        }}
                    />
                )}
            </div>
            {cursor && tip && (
                <div
                    class="tip"
                    style={{
                        left: `${Math.max(4, Math.min(cursor.x + 14, window.innerWidth - 330))}px`,
                        top: `${Math.min(cursor.y + 16, window.innerHeight - 120)}px`,
                    }}
                    aria-live="polite"
                >
                    <b>{tip.name}</b>
                    {tip.fn !== null && <small>{report.where(tip.fn)}</small>}
                    <p>
                        {report.comparing && tip.costs
                            ? signed(metricText(metric, changed), changed)
                            : metricText(metric, tip.value)}
                        {!report.comparing && tip.costs && <Interval metric={metric} costs={tip.costs} />}
                        {!(report.comparing && tip.costs) && ` · ${percent(total ? tip.value / total : 0)} of all`}
                        {share && tip.costs
                            && ` · ${share.heading} ${metricText(share, metricValue(share, tip.costs, "self"))}`}
                    </p>
                </div>
            )}
            <p class="note">
                Area: {report.comparing ? "change of " : ""}{inSentence(metric.title)}, of the function itself. Click
                chooses a function; a double click or Enter shows its calls.
            </p>
        </div>
    );
}

// Changes are scaled by the largest one, so that small ones stay visible.
const strength = (by: number, most: number): number => (most ? Math.sign(by) * Math.sqrt(Math.abs(by) / most) : 0);

function write(context: CanvasRenderingContext2D, text: string, x: number, y: number, width: number): void {
    context.fillText(fitted(text, (part) => context.measureText(part).width <= width), x, y);
}
