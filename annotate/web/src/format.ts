// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers as bd_annotate writes them: three digits and a unit.

import type { Metric } from "./data";

const leastShown = 0.0005; // of shares

// For a width in a style.
export const cssPercent = (share: number): string => `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(2)}%`;

const units: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];

export function count(value: number): string {
    const size = Math.abs(value);
    if (size < 10_000) return Number.isInteger(value) || size >= 1000 ? grouped(value) : value.toFixed(1);
    for (const [unit, suffix] of units) {
        if (size >= unit * 0.9995) {
            const scaled = size / unit;
            const digits = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
            return `${value < 0 ? "−" : ""}${scaled.toFixed(digits)}${suffix}`;
        }
    }
    return grouped(value);
}

export function grouped(value: number): string {
    const digits = String(Math.abs(Math.round(value))).replace(/\B(?=(\d{3})+$)/g, ",");
    return (value < 0 ? "−" : "") + digits;
}

// A share that is not 0 is not shown as 0.
export function percent(share: number): string {
    if (share !== 0 && Math.abs(share) < leastShown) return share > 0 ? "<0.1%" : "\u2212<0.1%";
    return `${(100 * share).toFixed(1)}%`.replace("-", "\u2212");
}

const timeUnits: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
const picosecond = 1e-12;

// Seconds with three digits, such as 1.23 s or 45.6 ms.
export function seconds(value: number): string {
    const size = Math.abs(value);
    const sign = value < 0 ? "\u2212" : "";
    for (const [unit, name] of timeUnits) {
        if (size >= unit * 0.9995) {
            const scaled = size / unit;
            const digits = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
            return `${sign}${digits ? scaled.toFixed(digits) : grouped(scaled)} ${name}`;
        }
    }
    return value ? `${sign}${Math.round(size * 1e9)} ns` : "0";
}

// The text of a count, or of a time in picoseconds.
export const costText = (isTime: boolean, value: number): string =>
    (isTime ? seconds(value * picosecond) : count(value));

export function metricText(metric: Metric, value: number | null): string {
    if (value === null) return "–";
    if (metric.isTime) return seconds(value * picosecond);
    if (metric.isShare) return percent(value);
    if ("isFormula" in metric && metric.denominator && value && Math.abs(value) < 1) {
        return value.toPrecision(3).replace("-", "\u2212");
    }
    const isSmall = metric.denominator && Math.abs(value) < 10_000;
    return isSmall ? value.toFixed(1).replace("-", "\u2212") : count(value);
}

export function exactText(metric: Metric, value: number | null): string {
    if (value === null) return "nothing to divide by";
    if (metric.isTime) return `${grouped(value / 1000)} ns`;
    return metric.denominator ? `${metric.isShare ? percent(value) : value.toFixed(3)}` : grouped(value);
}

// The error of a value as a share of it, such as ±5% or ±0.5%; "?" if it is unknown.
export function plusMinus(value: number | null, width: number | null | undefined): string {
    if (width === undefined || !value) return "";
    if (width === null) return "?";
    const share = (100 * width) / Math.abs(value);
    return `±${share.toFixed(share < 1 ? 1 : 0)}%`;
}

export function signed(text: string, value: number | null): string {
    return value !== null && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

export function bytes(value: number): string {
    return `${count(value)}B`.replace(/([kMGT])B/, " $1B").replace(/(\d)B/, "$1 B");
}

const binary: [number, string][] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

// The size of a cache in bytes as text, such as 32 KiB or 1.2 MiB.
export function cacheSize(value: number): string {
    for (const [unit, name] of binary) {
        if (value >= unit) return `${(value / unit).toFixed(value < 10 * unit && value % unit ? 1 : 0)} ${name}`;
    }
    return `${value} B`;
}

// A title as it is written within a sentence.
export function inSentence(title: string): string {
    return /^[A-Z][a-z]/.test(title) ? title[0]!.toLowerCase() + title.slice(1) : title;
}

export function times(value: number, what: string): string {
    return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

export function baseName(path: string): string {
    return path.slice(path.lastIndexOf("/") + 1);
}

// Shortens a name until it fits. It is cut in the middle, as names differ at their ends. fits: whether a text does.
export function fitted(text: string, fits: (text: string) => boolean): string {
    if (fits(text)) return text;
    let low = 0; // characters that fit
    let high = text.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (fits(withMiddleCut(text, middle))) low = middle;
        else high = middle - 1;
    }
    return low > 1 ? withMiddleCut(text, low) : "";
}

function withMiddleCut(text: string, kept: number): string {
    const end = kept > 8 ? kept >> 1 : 0;
    return `${text.slice(0, kept - end)}…${text.slice(text.length - end)}`;
}

// Runs of numbers, each with its first and its last one.
export const runsText = (runs: [number, number][]): string =>
    runs.map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`)).join(", ");
