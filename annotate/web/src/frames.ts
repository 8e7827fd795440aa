// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops and inlined functions: their names, their places, and which of them is in which.

import type { Column, Table } from "./data";
import { baseName, grouped, times } from "./format";
import type { Report } from "./report";

const kinds = ["inlined", "loop", "irreducible region"] as const;

export class Frames {
    private readonly ofFunction = new Map<number, number[]>();
    private readonly within = new Map<number, number[]>();
    private readonly at = new Map<string, number[]>();

    constructor(private readonly report: Report, private readonly table: Table<"frames">) {
        const put = <T>(map: Map<T, number[]>, key: T, row: number): void => {
            const known = map.get(key);
            if (known) known.push(row);
            else map.set(key, [row]);
        };
        const [functions, parents, files, lines] = (["function", "parent", "file", "line"] as const).map((name) =>
            table.column(name));
        for (let row = 0; row < table.rows; ++row) {
            if (parents![row]) put(this.within, parents![row]! - 1, row);
            else put(this.ofFunction, functions![row]!, row);
            put(this.at, `${files![row]} ${lines![row]}`, row);
        }
    }

    get size(): number {
        return this.table.rows;
    }

    // The row of the frame around each frame, from 1; 0 if it is directly in its function.
    get parents(): Column {
        return this.table.column("parent");
    }

    get functions(): Column {
        return this.table.column("function");
    }

    // A column of costs; undefined: these costs of frames are unknown.
    costs(name: string): Column | undefined {
        return this.table.columns.get(name);
    }

    // The outermost frames of a function.
    of(fn: number): readonly number[] {
        return this.ofFunction.get(fn) ?? [];
    }

    inside(row: number): readonly number[] {
        return this.within.get(row) ?? [];
    }

    atLine(file: number, line: number): readonly number[] {
        return this.at.get(`${file} ${line}`) ?? [];
    }

    get(name: "function" | "file" | "line" | "entries" | "iterations", row: number): number {
        return this.table.column(name)[row]!;
    }

    kind(row: number): (typeof kinds)[number] {
        return kinds[this.table.column("kind")[row]!] ?? "loop";
    }

    name(row: number): string {
        const kind = this.kind(row);
        const inlined = this.report.facts.inlined[this.table.column("name")[row]!] ?? "";
        if (kind === "inlined") return inlined || "(inlined)";
        return `${kind} ${this.get("line", row) ? this.place(row) : inlined}`;
    }

    place(row: number): string {
        return `${baseName(this.report.facts.files[this.get("file", row)] ?? "")}:${this.get("line", row)}`;
    }

    // What the numbers of a frame on a path include.
    onPath(row: number, hasOwn: boolean): string {
        const what = this.kind(row) === "inlined" ? "inlined function" : this.kind(row);
        return hasOwn ? `${what}: itself and what is called from it`
            : `${what}: only what is called from it on this path; what it costs itself is in the function around it`;
    }

    // How often a frame was entered, and how often it iterated.
    told(row: number): string {
        const entries = this.get("entries", row);
        const iterations = this.get("iterations", row);
        const entered = `entered ${times(entries, "time")}`;
        if (this.kind(row) === "inlined") return `inlined at ${this.place(row)}, ${entered}`;
        return iterations && entries ? `${entered}, ${grouped(iterations / entries)} iterations each` : entered;
    }
}
