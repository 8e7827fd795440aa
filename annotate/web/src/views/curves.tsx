// SPDX-License-Identifier: GPL-2.0-or-later
//
// The curves of misses in caches of other sizes, for the program, code and data, with their knees.

import { useEffect, useState } from "preact/hooks";
import { usePage, useSize } from "../context";
import type { CodeCurves, Curve, Why } from "../data";
import { bytes, cacheSize, count, percent } from "../format";
import { Plot, missesAt } from "../plot";

interface Line {
    name: string;
    style: string; // the name of a class
    curve: Curve;
}

const height = 250;
const labelRoom = 64; // for a size below the axis
const leastKnee = 26; // pixels that the label of a knee needs

export function Curves({ why }: { why: Why }) {
    if (!why.program.misses[0]) return null;
    return (
        <section class="curves">
            <h2>
                Other cache sizes{" "}
                <small>
                    data misses of fully associative caches, from D1's size up
                </small>
            </h2>
            <div class="two">
                <Chart
                    title="The program" why={why} says={why.program.says}
                    lines={[{ name: "all", style: "self", curve: why.program }]}
                />
                {why.functions.length > 0 && <OfCode why={why} />}
            </div>
        </section>
    );
}

// The curves of a loop, or of the chosen function or the one with most misses.
function OfCode({ why }: { why: Why }) {
    const { report, state, go } = usePage();
    const [loop, setLoop] = useState<number | null>(null);
    const chosen = why.functions.find((one) => one.function === state.fn);
    const shown = loop !== null ? why.loops[loop]! : chosen ?? why.functions[0]!;
    useEffect(() => setLoop(null), [state.fn]);
    const pick = (event: Event): void => {
        const [kind, number] = (event.target as HTMLSelectElement).value.split(" ");
        if (kind === "loop") return setLoop(Number(number));
        setLoop(null);
        go({ fn: Number(number) }, true);
    };
    const misses = ({ self, incl }: CodeCurves): string => count((incl ?? self).misses[0]!);
    const picker = (
        <label class="picker grow">
            <span>Code</span>
            <select value={loop !== null ? `loop ${loop}` : `function ${shown.function}`} onChange={pick}>
                <optgroup label="Functions">
                    {why.functions.map((one) => (
                        <option key={one.function} value={`function ${one.function}`}>
                            {report.name(one.function)} ({misses(one)})
                        </option>
                    ))}
                </optgroup>
                {why.loops.length > 0 && (
                    <optgroup label="Loops">
                        {why.loops.map((one, number) => (
                            <option key={number} value={`loop ${number}`}>
                                {one.name} in {report.name(one.function)} ({misses(one)})
                            </option>
                        ))}
                    </optgroup>
                )}
            </select>
        </label>
    );
    const lines: Line[] = [{ name: "itself", style: "self", curve: shown.self }];
    if (shown.incl) lines.unshift({ name: "with what it calls", style: "incl", curve: shown.incl });
    const hasNone = loop === null && state.fn !== null && !chosen;
    return (
        <Chart
            title={picker} why={why} says={lines[0]!.curve.says} lines={lines}
            note={hasNone ? `${report.name(state.fn!)} has too few misses for a curve.` : ""}
        />
    );
}

// The curve of a group of data; nothing if it has hardly any misses.
export function DataCurve({ group }: { group: number }) {
    const { report } = usePage();
    const why = report.facts.why;
    const found = why?.data.find((one) => one.group === group);
    if (!why || !found) return null;
    return (
        <div class="curves" data-curve-of={group}>
            <h3>Other cache sizes</h3>
            <Chart
                title="" why={why} says={found.curve.says}
                lines={[{ name: "all", style: "self", curve: found.curve }]}
            />
        </div>
    );
}

function Chart({ title, why, lines, says, note = "" }: {
    title: string | preact.JSX.Element;
    why: Why;
    lines: Line[];
    says: string;
    note?: string;
}) {
    const [box, { width }] = useSize<HTMLDivElement>();
    const [at, setAt] = useState<number | null>(null);
    const frame = { width, height, left: 52, right: 58, top: 24, bottom: 34 };
    const plot = new Plot(frame, why.sizes, lines.map(({ curve }) => curve));
    const read = Math.min(at ?? 0, plot.last);
    const ofD1 = (curve: Curve): number => missesAt(curve, why.sizes.indexOf(why.d1));
    const move = (event: PointerEvent): void =>
        setAt(plot.nearest(event.clientX - (event.currentTarget as Element).getBoundingClientRect().left));
    const step = (event: KeyboardEvent): void => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!by) return;
        event.preventDefault();
        setAt((now) => Math.min(Math.max((now ?? 0) + by, 0), plot.last));
    };
    return (
        <figure class="curve">
            {title && <figcaption>{typeof title === "string" ? <h3>{title}</h3> : title}</figcaption>}
            {note && <p class="detail">{note}</p>}
            <div
                class="curve-box" ref={box} tabIndex={0} role="img" onKeyDown={step}
                aria-label={`Misses by the size of the cache. ${says}`}
            >
                {width > 0 && (
                    <svg width={width} height={height} onPointerMove={move} onPointerLeave={() => setAt(null)}>
                        <Axes plot={plot} why={why} />
                        <Knees plot={plot} curve={lines[0]!.curve} />
                        {lines.map(({ name, style, curve }) => (
                            <polyline key={name} class={`curve-line ${style}`} points={plot.points(curve)} />
                        ))}
                        <Fits plot={plot} curve={lines[0]!.curve} />
                        {at !== null && <Reader plot={plot} lines={lines} at={read} />}
                    </svg>
                )}
            </div>
            <p class="readout" aria-live="polite">
                <b>{cacheSize(why.sizes[read]!)}</b>:{" "}
                {lines.map(({ name, style, curve }, number) => (
                    <span key={name}>
                        {number > 0 && "; "}
                        {lines.length > 1 && <><span class={`swatch ${style}`} aria-hidden="true" /> {name} </>}
                        {count(missesAt(curve, read))} misses, {bytes(missesAt(curve, read) * why.line)},{" "}
                        {percent(missesAt(curve, read) / Math.max(ofD1(curve), 1))} of D1's
                    </span>
                ))}
            </p>
            <p class="says">{says}</p>
            <Numbers why={why} plot={plot} lines={lines} />
        </figure>
    );
}

function Axes({ plot, why }: { plot: Plot; why: Why }) {
    const { left, right, top, bottom, width } = plot.frame;
    const floor = height - bottom;
    const inside = why.ll > why.d1 && why.ll < plot.sizes[plot.last]!;
    return (
        <g class="axes">
            {plot.missTicks().map((misses) => (
                <g key={misses}>
                    <line x1={left} x2={width - right} y1={plot.y(misses)} y2={plot.y(misses)} class="rule" />
                    <text x={left - 6} y={plot.y(misses) + 4} text-anchor="end">{count(misses)}</text>
                    <text x={width - right + 6} y={plot.y(misses) + 4}>{bytes(misses * why.line)}</text>
                </g>
            ))}
            <text x={left - 6} y={11} text-anchor="end">misses</text>
            <text x={width - right + 6} y={11}>loaded</text>
            {plot.sizeTicks(labelRoom).map((size) => (
                <g key={size}>
                    <line x1={plot.x(size)} x2={plot.x(size)} y1={floor} y2={floor + 5} class="tick" />
                    <text x={plot.x(size)} y={floor + 18} text-anchor="middle">{cacheSize(size)}</text>
                </g>
            ))}
            {inside && (
                <g>
                    <line x1={plot.x(why.ll)} x2={plot.x(why.ll)} y1={top} y2={floor} class="level" />
                    <text x={plot.x(why.ll) + 4} y={floor - 6}>LL</text>
                </g>
            )}
            <line x1={left} x2={width - right} y1={floor} y2={floor} class="tick" />
        </g>
    );
}

// Bands between the sizes where many misses end.
function Knees({ plot, curve }: { plot: Plot; curve: Curve }) {
    const { top, bottom } = plot.frame;
    return (
        <g class="knees">
            {curve.knees.map(([before, after]) => {
                const [from, to] = [plot.x(plot.sizes[before]!), plot.x(plot.sizes[after]!)];
                const gone = 1 - missesAt(curve, after) / missesAt(curve, before);
                return (
                    <g key={before} data-knee={`${plot.sizes[before]} ${plot.sizes[after]}`}>
                        <rect x={from} y={top} width={to - from} height={height - top - bottom} />
                        <text
                            x={Math.max((from + to) / 2, plot.frame.left + leastKnee / 2)} y={top - 4}
                            text-anchor="middle"
                        >
                            −{(100 * gone).toFixed(0)}%
                        </text>
                    </g>
                );
            })}
        </g>
    );
}

function Fits({ plot, curve }: { plot: Plot; curve: Curve }) {
    if (curve.fits === null || curve.fits > plot.last) return null;
    const [x, y] = [plot.x(plot.sizes[curve.fits]!), plot.y(missesAt(curve, curve.fits))];
    const isLeft = x > plot.frame.width / 2;
    return (
        <g class="fits" data-fits={plot.sizes[curve.fits]}>
            <circle cx={x} cy={y} r={4} />
            <text x={x + (isLeft ? -7 : 7)} y={y - 8} text-anchor={isLeft ? "end" : "start"}>
                fits {cacheSize(plot.sizes[curve.fits]!)}
            </text>
        </g>
    );
}

function Reader({ plot, lines, at }: { plot: Plot; lines: Line[]; at: number }) {
    const x = plot.x(plot.sizes[at]!);
    return (
        <g class="reader">
            <line x1={x} x2={x} y1={plot.frame.top} y2={height - plot.frame.bottom} />
            {lines.map(({ name, style, curve }) => (
                <circle key={name} class={style} cx={x} cy={plot.y(missesAt(curve, at))} r={3.5} />
            ))}
        </g>
    );
}

// The same as a table, at powers of two: for readers who cannot see the picture, and for exact numbers.
function Numbers({ why, plot, lines }: { why: Why; plot: Plot; lines: Line[] }) {
    const rows = why.sizes.slice(0, plot.last + 1).map((size, at) => ({ size, at }))
        .filter(({ size, at }) => at === 0 || Number.isInteger(Math.log2(size)));
    return (
        <details class="numbers">
            <summary>As a table</summary>
            <table class="top">
                <thead>
                    <tr>
                        <th scope="col">cache</th>
                        {lines.map(({ name }) => (
                            <>
                                <th scope="col" class="n">{lines.length > 1 ? `${name}, misses` : "misses"}</th>
                                <th scope="col" class="n">loaded</th>
                            </>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map(({ size, at }) => (
                        <tr key={size} data-size={size}>
                            <td>{cacheSize(size)}</td>
                            {lines.map(({ curve }) => (
                                <>
                                    <td class="n" data-exact={missesAt(curve, at)}>{count(missesAt(curve, at))}</td>
                                    <td class="n">{bytes(missesAt(curve, at) * why.line)}</td>
                                </>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </details>
    );
}
