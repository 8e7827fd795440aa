// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops and inlined functions: what they are called, and where they are.

import type { Table } from "./data";
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

    // The outermost ones of a function.
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
        return kind === "inlined" ? inlined || "(inlined)" : `${kind} ${this.place(row)}`;
    }

    place(row: number): string {
        return `${baseName(this.report.facts.files[this.get("file", row)] ?? "")}:${this.get("line", row)}`;
    }

    // What is known beside its costs.
    told(row: number): string {
        const entries = this.get("entries", row);
        const iterations = this.get("iterations", row);
        const entered = `entered ${times(entries, "time")}`;
        if (this.kind(row) === "inlined") return `inlined at ${this.place(row)}, ${entered}`;
        return iterations && entries ? `${entered}, ${grouped(iterations / entries)} iterations each` : entered;
    }
}
