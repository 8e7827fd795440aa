// SPDX-License-Identifier: GPL-2.0-or-later
//
// Colours that the colour-blind can distinguish: pale to dark for a share (lightness alone tells the order),
// blue to red by way of grey for a change.

type Rgb = readonly [number, number, number];

const shareScale: Rgb[] = [
    [222, 226, 216],
    [240, 214, 150],
    [240, 166, 84],
    [214, 96, 60],
    [142, 36, 60],
];
const changeScale: Rgb[] = [
    [33, 102, 172],
    [122, 176, 214],
    [214, 214, 214],
    [239, 138, 98],
    [178, 24, 43],
];
// Pictures have at least so many pixels for each pixel of the page, so that they print sharply.
export const leastScale = 2;
export const plain: Rgb = [184, 196, 206];
export const dimmed: Rgb = [128, 134, 140];

function at(scale: Rgb[], share: number): Rgb {
    const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
    const below = Math.min(Math.floor(place), scale.length - 2);
    const part = place - below;
    const [from, to] = [scale[below]!, scale[below + 1]!];
    return [0, 1, 2].map((i) => Math.round(from[i]! + part * (to[i]! - from[i]!))) as unknown as Rgb;
}

// 0: all used, 1: nothing used.
export const shareColour = (share: number | null): Rgb => (share === null ? plain : at(shareScale, share));
// -1: gone, 0: unchanged, 1: new.
export const changeColour = (change: number): Rgb => at(changeScale, (change + 1) / 2);

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

function luminance(colour: Rgb): number {
    const [r, g, b] = colour.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

// The contrast of two colours as WCAG defines it: 1 to 21; small text needs 4.5.
export function contrast(one: Rgb, other: Rgb): number {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light! + 0.05) / (dark! + 0.05);
}

// Black or white, whichever is easier to read. One of them always has enough contrast; dark grey would not.
export function textOn(colour: Rgb): string {
    return contrast(colour, [0, 0, 0]) >= contrast(colour, [255, 255, 255]) ? "#000000" : "#ffffff";
}

export function gradient(kind: "share" | "change"): string {
    const scale = kind === "share" ? shareScale : changeScale;
    return `linear-gradient(to right, ${scale.map(css).join(", ")})`;
}
