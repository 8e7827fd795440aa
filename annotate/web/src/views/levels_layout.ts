// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the call graph of several levels has its boxes and bands, in pixels.

import { leadsOn, type Around, type Rest } from "../around";
import type { Call } from "../calls";
import { layered } from "../layered";

export const wholeHeight = 110; // of a band with all that the program has
const box = { least: 124, most: 190, height: 50, restHeight: 26 };
const between = { least: 36, most: 90 }; // layers
const gap = 16; // between boxes
const edge = 22; // around the picture
const leastBoxed = 0.005; // of the program
const stub = 16; // length of what leads to what is left out

export interface Node {
    key: number;
    item: number;
    rest: Rest | null; // what is left out of its calls, in place of itself
    isCentre: boolean;
    layer: number;
    x: number;
    y: number;
    height: number;
}

export interface Line {
    call: Call | null; // null: to what is left out
    from: Node;
    to: Node;
    path: string;
    width: number; // pixels; 0: recursion, which is not as wide as what it costs
    value: number | null;
}

export interface Stub {
    node: Node;
    rest: Rest;
    path: string;
}

export interface Drawing {
    nodes: Node[];
    centre: Node;
    lines: Line[];
    stubs: Stub[];
    calls: readonly Call[];
    boxWidth: number;
    width: number;
    height: number;
}

interface Ends {
    whole: number; // of the program
    width: number; // that there is
    least: number; // of what gets a box
}

// What is left out has a box if it is as heavy as a call that has one, and no trifle; else, and beyond the last level,
// a stub.
export function drawing(found: Around, { whole, width, least }: Ends): Drawing {
    const thick = (value: number | null): number =>
        Math.max(1, whole ? Math.min(Math.abs(value ?? 0) / whole, 1) * wholeHeight : 0);
    const nodes: Node[] = Array.from(found.layers, ([item, layer]) => ({
        key: item, item, rest: null, isCentre: found.levels.get(item) === 0, layer, x: 0, y: 0, height: box.height,
    }));
    const nodeOf = new Map(nodes.map((node) => [node.item, node]));
    const isBoxed = (rest: Rest): boolean => !rest.isFarther && rest.weight >= Math.max(least, whole * leastBoxed);
    const boxed = found.rests.filter(isBoxed).map((rest, at): Node => ({
        key: -1 - at, item: rest.of, rest, isCentre: false, x: 0, y: 0, height: box.restHeight,
        layer: nodeOf.get(rest.of)!.layer + (rest.side === "callees" ? 1 : -1),
    }));
    nodes.push(...boxed);
    const on = found.calls.filter((call) => leadsOn(found, call));
    const lines: Line[] = [
        ...on.map((call): Line => ({
            call, from: nodeOf.get(call.caller)!, to: nodeOf.get(call.callee)!, path: "", value: call.value,
            width: call.costs ? thick(call.value) : 0,
        })),
        ...boxed.map((node): Line => {
            const { rest, item } = node;
            const [from, to] = rest!.side === "callees" ? [nodeOf.get(item)!, node] : [node, nodeOf.get(item)!];
            return { call: null, from, to, path: "", value: rest!.value, width: thick(rest!.value) };
        }),
    ];
    const stubs = found.rests.filter((rest) => !isBoxed(rest)).map((rest): Stub =>
        ({ node: nodeOf.get(rest.of)!, rest, path: "" }));

    // A box is as high as all that comes in, or goes out.
    const breadth = ({ width }: Line): number => width || 2;
    for (const node of nodes) {
        const sum = (end: "from" | "to", side: Rest["side"]): number =>
            lines.reduce((total, line) => total + (line[end] === node ? breadth(line) : 0), 0)
            + stubs.reduce((total, one) =>
                total + (one.node === node && one.rest.side === side ? thick(one.rest.value) : 0), 0);
        node.height = Math.max(node.height, 8 + Math.max(sum("from", "callees"), sum("to", "callers")));
    }
    const place = new Map(nodes.map((node, at) => [node, at]));
    const layout = layered(nodes, lines.map((line) => ({
        from: place.get(line.from)!, to: place.get(line.to)!, width: breadth(line),
    })), gap);

    const layers = nodes.map(({ layer }) => layer);
    const [first, last] = [Math.min(...layers), Math.max(...layers)];
    const columns = last - first + 1;
    const room = (width - 2 - 2 * edge) / columns;
    const boxWidth = Math.min(Math.max(Math.floor(room) - between.least, box.least), box.most);
    const step = boxWidth + Math.min(Math.max(Math.floor(room - boxWidth), between.least), between.most);
    const xOf = (layer: number): number => edge + (layer - first) * step;
    nodes.forEach((node, at) => {
        node.x = xOf(node.layer);
        node.y = edge + layout.tops[at]!;
    });
    trace(nodes, lines, stubs, layout.routes, { boxWidth, xOf, thick, breadth });
    const back = found.calls.filter((call) => !leadsOn(found, call)).map((call): Line => {
        const [from, to] = [nodeOf.get(call.caller)!, nodeOf.get(call.callee)!];
        return { call, from, to, path: backwards(from, to, boxWidth), value: null, width: 0 };
    });
    return {
        nodes, lines: [...lines, ...back], stubs, calls: found.calls, boxWidth,
        centre: nodes.find(({ isCentre }) => isCentre)!,
        width: Math.max(2 * edge + (columns - 1) * step + boxWidth, width - 2),
        height: 2 * edge + layout.height + (back.length ? gap : 0),
    };
}

// Bands leave and reach a box one below the other, in the order of where they go to.
function trace(
    nodes: readonly Node[], lines: readonly Line[], stubs: readonly Stub[], routes: readonly number[][],
    { boxWidth, xOf, thick, breadth }: {
        boxWidth: number; xOf: (layer: number) => number; thick: (value: number | null) => number;
        breadth: (line: Line) => number;
    },
): void {
    const middle = ({ y, height }: Node): number => y + height / 2;
    const ends = new Map<Line, { from: number; to: number }>(lines.map((line) => [line, { from: 0, to: 0 }]));
    const route = new Map(lines.map((line, at) => [line, routes[at]!.map((y) => y + edge)]));
    for (const node of nodes) {
        for (const end of ["from", "to"] as const) {
            const [otherEnd, side] = end === "from" ? (["to", "callees"] as const) : (["from", "callers"] as const);
            const towards = (line: Line): number =>
                (end === "from" ? route.get(line)![0] : route.get(line)!.at(-1)) ?? middle(line[otherEnd]);
            const own = lines.filter((line) => line[end] === node)
                .map((line) => ({ line, at: towards(line) })).sort((one, other) => one.at - other.at);
            const left = stubs.filter((one) => one.node === node && one.rest.side === side);
            const total = own.reduce((sum, { line }) => sum + breadth(line), 0)
                + left.reduce((sum, { rest }) => sum + thick(rest.value), 0);
            let y = middle(node) - total / 2;
            for (const { line } of own) {
                ends.get(line)![end] = y + breadth(line) / 2;
                y += breadth(line);
            }
            for (const one of left) {
                const height = thick(one.rest.value);
                const x = end === "from" ? node.x + boxWidth : node.x;
                one.path = `M${x},${round(y)}h${end === "from" ? stub : -stub}`
                    + `l${end === "from" ? 4 : -4},${round(height / 2)}`
                    + `l${end === "from" ? -4 : 4},${round(height / 2)}H${x}Z`;
                y += height;
            }
        }
    }
    for (const line of lines) {
        const { from, to } = ends.get(line)!;
        const points: [number, number][] = [[line.from.x + boxWidth, from]];
        route.get(line)!.forEach((y, at) => {
            const x = xOf(line.from.layer + 1 + at);
            points.push([x, y], [x + boxWidth, y]);
        });
        points.push([line.to.x, to]);
        const half = line.width / 2;
        line.path = half ? `M${curve(points, -half)}L${curve([...points].reverse(), half)}Z` : `M${curve(points, 0)}`;
    }
}

const round = (value: number): number => Math.round(value * 10) / 10;

function curve(points: readonly [number, number][], by: number): string {
    return points.map(([x, y], at) => {
        const here = `${round(x)},${round(y + by)}`;
        if (!at) return here;
        const [before, above] = points[at - 1]!;
        const bend = round((before + x) / 2);
        return `C${bend},${round(above + by)} ${bend},${round(y + by)} ${here}`;
    }).join("");
}

// From below the one to below the other.
function backwards(from: Node, to: Node, boxWidth: number): string {
    const [x, y] = [from.x + boxWidth - 18, from.y + from.height];
    const [toX, toY] = [from === to ? x - 22 : to.x + 18, to.y + to.height];
    const down = from === to ? 14 : 16 + Math.min(Math.abs(toX - x) / 20, 24);
    return `M${x},${round(y)}C${x},${round(y + down)} ${toX},${round(toY + down)} ${toX},${round(toY + 3)}`;
}

// The one beside it in its layer, or the heaviest caller or callee.
export function neighbourOf(
    { nodes, lines }: Drawing, node: Node, to: "Left" | "Right" | "Up" | "Down",
): Node | null {
    if (to === "Up" || to === "Down") {
        const layer = nodes.filter((one) => one.layer === node.layer).sort((one, other) => one.y - other.y);
        return layer[layer.indexOf(node) + (to === "Up" ? -1 : 1)] ?? null;
    }
    const [here, there] = to === "Right" ? (["from", "to"] as const) : (["to", "from"] as const);
    let best: Line | null = null;
    for (const line of lines) {
        const leads = line[here] === node && (to === "Right" ? line.to.x > node.x : line.from.x < node.x);
        const weight = ({ call, width }: Line): number => call?.weight ?? width;
        const isMore = !best || line.width > best.width
            || (line.width === best.width && weight(line) > weight(best));
        if (leads && isMore) best = line;
    }
    return best?.[there] ?? null;
}
