// SPDX-License-Identifier: GPL-2.0-or-later
//
// What bd_annotate put into the page: facts as JSON, counts as tables of columns. bdannotate/html writes them; here
// they are unpacked, each table when a view first needs it.

export interface Metric {
    name: string;
    heading: string;
    title: string;
    numerator: number[]; // a weight per event
    denominator: number[] | null;
    isShare: boolean;
    moreIsBetter: boolean;
}

export interface Part {
    source: string;
    creator: string;
    pid: string;
    command: string;
    part: string;
    thread: string;
    descriptions: [string, string][];
}

export interface Hint {
    function: number;
    share: number;
    looks: string;
    helps: string;
    unused: number;
    neverUsed: number;
    usedPerLine: number;
    lineSize: number;
    accesses: number;
    loads: number;
    line: [number, number, number] | null; // file, line, share
    through: number | null; // the library function that has most of it
    below: number | null; // of a function without a name, the nearest caller that has one
    callers: [number, number][];
}

export interface Verdict {
    cycles: number;
    instructions: number; // shares of the estimated cycles, as those below
    l1Data: number;
    l1Code: number;
    lastLevel: number;
    fitsLastLevel: boolean;
    first: "L1" | "code" | "LL" | "instructions";
    wasted: number | null; // what bytes never used cost at the first level, if that makes it the first
}

export interface Facts {
    verdict: Verdict | null;
    version: number;
    generator: string;
    matched: number;
    above: number[]; // functions that only start the program
    sides: Part[][]; // of the profile; where two are compared: after, before
    totals: number[][];
    members: { label: string; totals: number[] }[];
    events: string[];
    metrics: Metric[];
    columns: [string, boolean][]; // metric, inclusive
    objects: string[];
    files: string[];
    functions: [string, number, number, number, string?][]; // name, object, file, line, and the name that is shown
    cycles: number[][];
    unknown: { objects: string[]; share: number; hasSymbols: boolean } | null; // code without symbols or lines
    hints: Hint[];
    tables: Record<string, { rows: number; columns: string[] }>;
    codeTexts: string[];
    frames: (number | string)[]; // a function, or the name of a root
    places: [number, number][]; // file or -1, line
    tree: { folded: boolean; height: number } | null;
    sourceNotes: Record<string, string>;
    hasSources: boolean;
}

export interface SourceText {
    file: number;
    path: string;
    newer: boolean;
    text: string;
}

export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export class Table {
    constructor(
        readonly rows: number,
        readonly columns: ReadonlyMap<string, Column>,
    ) {}

    column(name: string): Column {
        const found = this.columns.get(name);
        if (!found) throw new Error(`the page has no column ${name}`);
        return found;
    }
}

export function decodeTable(bytes: Uint8Array, rows: number, names: readonly string[]): Table {
    const columns = new Map<string, Column>();
    let at = bytes.byteOffset;
    for (const name of names) {
        const width = bytes[at - bytes.byteOffset] ?? 0;
        at += 8;
        columns.set(name, decodeColumn(bytes.buffer as ArrayBuffer, at, rows, width));
        at += Math.ceil((rows * width) / 8) * 8;
    }
    return new Table(rows, columns);
}

function decodeColumn(buffer: ArrayBuffer, at: number, rows: number, width: number): Column {
    switch (width) {
        case 1:
            return new Uint8Array(buffer, at, rows);
        case 2:
            return new Uint16Array(buffer, at, rows);
        case 4:
            return new Uint32Array(buffer, at, rows);
        case 8: {
            const halves = new Uint32Array(buffer, at, 2 * rows);
            const values = new Float64Array(rows);
            for (let i = 0; i < rows; ++i) values[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32;
            return values;
        }
        default:
            throw new Error(`a column has the unknown width ${width}`);
    }
}

async function unpack(base64: string): Promise<Uint8Array> {
    const text = atob(base64);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function block(id: string): Promise<Uint8Array> {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no ${id}`);
    const bytes = await unpack(element.textContent ?? "");
    element.remove(); // it is as large as what it has become
    return bytes;
}

async function json<T>(id: string): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await block(id))) as T;
}

export const readFacts = (): Promise<Facts> => json<Facts>("facts");
export const readSources = (): Promise<SourceText[]> => json<SourceText[]>("sources");

export async function readTable(facts: Facts, name: string): Promise<Table | null> {
    const shape = facts.tables[name];
    return shape ? decodeTable(await block(`table-${name}`), shape.rows, shape.columns) : null;
}
