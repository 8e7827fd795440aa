// SPDX-License-Identifier: GPL-2.0-or-later
//
// The call graph of several levels as SVG. All colours are attributes, so that it also works as a file.

import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { changeColour, css, shareColour } from "../colours";
import { usePage, type Page } from "../context";
import { change, metricValue } from "../costs";
import type { Match } from "../find";
import { fitted, metricText, percent, signed } from "../format";
import type { Items } from "../items";
import type { Drawing, Line, Node } from "./levels_layout";

const inside = 8; // between a box's edge and its text

export function textOf(
    { report, state }: Pick<Page, "report" | "state">, items: Items, { item, rest }: Node, whole: number,
): string {
    const metric = report.sizeMetric(state.metric);
    const share = (value: number): string => percent(whole ? value / whole : 0);
    if (rest) return report.comparing ? signed(metricText(metric, rest.value), rest.value) : share(rest.value);
    const costs = items.costs(item);
    if (report.comparing) {
        const value = change(metric, costs, "incl");
        return signed(metricText(metric, value), value);
    }
    const [incl, own] = (["incl", "self"] as const).map((kind) => metricValue(metric, costs, kind));
    return `${share(incl ?? 0)}, self ${share(own ?? 0)}`;
}

export function Drawn({ drawn, items, whole, match, cursor, element }: {
    drawn: Drawing;
    items: Items;
    whole: number;
    match: Match | null;
    cursor: number | null;
    element: RefObject<SVGSVGElement | null>;
}) {
    const page = usePage();
    const { report, state } = page;
    const metric = report.sizeMetric(state.metric);
    const unused = report.shareFor(metric);
    const { nodes, lines, stubs, boxWidth, width, height } = drawn;
    const colourOf = ({ call, value }: Line): string => {
        if (report.comparing) return css(changeColour(Math.sign(value ?? 0) * 0.8));
        return css(shareColour(unused && call?.costs ? metricValue(unused, call.costs, "incl") : null));
    };
    const room = boxWidth - 2 * inside;
    const texts = useMemo(() => nodes.map((node) => {
        const { rest, item } = node;
        const name = rest ? `${rest.count} more · ${textOf(page, items, node, whole)}` : items.shortName(item);
        return fitted(name, (part) => widthOf(part, rest ? 400 : 600) <= room);
    }), [drawn, metric]);
    // With another than the one in the middle chosen, its calls are seen best; of recursion always only those of one.
    const own = state.fn === null ? null : items.of(state.fn);
    const chosen = nodes.find(({ item, rest, isCentre }) => item === own && !rest && !isCentre) ?? null;
    const opacity = ({ from, to, width }: Line): number => {
        const first = chosen ?? drawn.centre;
        if (from === first || to === first) return 0.85;
        return width ? (chosen ? 0.35 : 0.85) : 0.3;
    };
    return (
        <svg
            ref={element} xmlns="http://www.w3.org/2000/svg" width={width} height={height} aria-hidden="true"
            viewBox={`0 0 ${width} ${height}`} font-size="12" data-bands={lines.length}
        >
            <rect width={width} height={height} fill="var(--paper)" />
            {lines.map((line, at) => (line.width ? (
                <path
                    key={at} d={line.path} fill={colourOf(line)} opacity={opacity(line)}
                    data-call={line.call?.row} data-band={line.width}
                />
            ) : (
                <g key={at} data-call={line.call?.row} fill="none">
                    <path d={line.path} stroke="transparent" stroke-width="9" />
                    <path
                        d={line.path} stroke="var(--soft)" stroke-width="1.2" stroke-dasharray="4 3"
                        opacity={opacity(line)} data-recursive=""
                    />
                </g>
            )))}
            {stubs.map(({ node, rest, path }) => (
                <path
                    key={`${node.key} ${rest.side}`} d={path} fill="var(--used)" opacity="0.7" data-rest={rest.count}
                />
            ))}
            {nodes.map((node, at) => {
                const { key, item, rest, isCentre, x, y } = node;
                const costs = rest ? null : items.costs(item);
                const isFound = match !== null && !rest && items.matches(match, item);
                const stroke = isCentre ? "var(--accent)" : key === chosen?.key ? "var(--ink)"
                    : rest ? "var(--soft)" : "var(--rule)";
                return (
                    <g
                        key={key} data-node={key} data-function={rest ? undefined : items.fullName(item)}
                        data-found={isFound ? "" : undefined} cursor="pointer"
                    >
                        <rect
                            x={x} y={y} width={boxWidth} height={node.height} rx="7" stroke={stroke}
                            fill={isFound ? "var(--chosen)" : rest ? "var(--ground)" : "var(--paper)"}
                            stroke-width={isCentre || key === chosen?.key ? 2 : 1}
                            {...(rest ? { "stroke-dasharray": "3 3" } : {})}
                        />
                        {key === cursor && (
                            <rect
                                x={x - 3} y={y - 3} width={boxWidth + 6} height={node.height + 6} rx="9" fill="none"
                                stroke="var(--accent)" stroke-width="1.5" data-cursor=""
                            />
                        )}
                        <text
                            x={x + inside} y={y + (rest ? node.height / 2 + 4 : 17)} fill="var(--ink)"
                            font-weight={rest ? 400 : 600}
                        >
                            {texts[at]}
                        </text>
                        {costs && (
                            <>
                                <text x={x + inside} y={y + 32} fill="var(--soft)" font-size="11">
                                    {textOf(page, items, node, whole)}
                                </text>
                                {!report.comparing && (
                                    <Shares
                                        x={x + inside} y={y + 39} width={room} whole={whole}
                                        incl={metricValue(metric, costs, "incl") ?? 0}
                                        own={metricValue(metric, costs, "self") ?? 0}
                                    />
                                )}
                            </>
                        )}
                    </g>
                );
            })}
        </svg>
    );
}

// The self and the inclusive cost of the function, as parts of the program.
function Shares({ x, y, width, whole, incl, own }: {
    x: number;
    y: number;
    width: number;
    whole: number;
    incl: number;
    own: number;
}) {
    if (!whole) return null;
    const [all, self] = [Math.min(incl / whole, 1) * width, Math.min(own / whole, 1) * width];
    return (
        <>
            <rect x={x} y={y} width={width} height="5" fill="var(--hover)" />
            <rect x={x} y={y} width={all} height="5" fill="var(--used)" />
            <rect x={x} y={y} width={own > 0 ? Math.max(self, 1) : 0} height="5" fill="var(--lost)" />
        </>
    );
}

let measure: { context: CanvasRenderingContext2D; family: string } | null = null;

function widthOf(text: string, weight: number): number {
    measure ??= {
        context: document.createElement("canvas").getContext("2d")!,
        family: getComputedStyle(document.body).fontFamily,
    };
    measure.context.font = `${weight} 12px ${measure.family}`;
    return measure.context.measureText(text).width;
}
