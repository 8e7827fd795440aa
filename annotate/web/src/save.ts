// SPDX-License-Identifier: GPL-2.0-or-later
//
// Saves what is shown as text: to the clipboard or to a file.

import type { Cell } from "./flame";

// Falls back to execCommand if the browser denies pages on the disk the clipboard.
export async function copy(text: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = document.createElement("textarea");
        area.value = text;
        area.setAttribute("aria-hidden", "true");
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
}

export function save(name: string, kind: string, text: string): void {
    const url = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// CSV as spreadsheets read it. Text that one of them could take for a formula gets an apostrophe, as names cannot be
// trusted.
export function csv(rows: readonly (readonly (string | number | null)[])[]): string {
    const field = (value: string | number | null): string => {
        if (value === null) return "";
        if (typeof value === "number") return String(value);
        const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
        return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

const mostStacks = 200_000;

// A line for each path, as flame graph scripts read it: names from the outermost on, then the self cost. above: the
// names that all paths begin with. upside: cells are below their callees.
export function folded(
    { tops, above, upside }: { tops: readonly Cell[]; above: readonly string[]; upside: boolean },
    label: (cell: Cell) => string, own: (cell: Cell) => number,
): string {
    const named = (text: string): string => text.replace(/[;\n\r]/g, ":");
    const lines: string[] = [];
    const waiting = [...tops].reverse().map((cell) => ({ cell, path: [...above, label(cell)].map(named).join(";") }));
    for (let next = waiting.pop(); next && lines.length < mostStacks; next = waiting.pop()) {
        const { cell, path } = next;
        const cost = Math.round(own(cell));
        if (cost > 0) lines.push(`${path} ${cost}\n`);
        for (const child of [...cell.children()].reverse()) {
            const name = named(label(child));
            waiting.push({ cell: child, path: upside ? `${name};${path}` : `${path};${name}` });
        }
    }
    return lines.join("");
}
