// SPDX-License-Identifier: GPL-2.0-or-later
//
// What bd_annotate put into the page: facts as JSON, counts as tables of columns. bdannotate/html writes them; here
// they are unpacked, each column when a view first needs it.

export interface Metric {
    name: string;
    heading: string;
    title: string;
    numerator: number[]; // a weight per event
    denominator: number[] | null;
    isShare: boolean;
    moreIsBetter: boolean;
    share: string | null; // the metric that tells which share of the same lines was never used
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

// Data that a place loads in vain: a group, and its share of all that is never used.
export interface HintData {
    group: number | null;
    share: number;
}

export interface Hint {
    function: number;
    share: number; // of all that is never used
    saved: number | null; // at most, of the estimated cycles
    brief: string;
    looks: string;
    helps: string;
    unused: number;
    neverUsed: number;
    usedPerLine: number;
    lineSize: number;
    accesses: number;
    loads: number;
    lines: [number, number, number][]; // file, line, share of its own; the costliest first
    through: number | null; // the library function that has most of it
    below: number | null; // of a function without a name, the nearest caller that has one
    callers: [number, number][];
    data: HintData[];
    sentences: string[]; // on the data
}

export interface Hints {
    places: Hint[];
    others: { data: HintData; title: string; sentences: string[] }[]; // data of which no place has most
}

export interface Verdict {
    cycles: number;
    instructions: number; // shares of the estimated cycles, as those below
    l1Data: number;
    l1Code: number;
    lastLevel: number;
    fitsLastLevel: boolean;
    first: "L1" | "code" | "LL" | "out of order" | "in order" | "first touches" | "instructions";
    wasted: number | null; // what bytes never used cost at the first level, if that makes it the first
    // Shares of the cycles by the order of addresses, where the run noted that; then those of levels are 0.
    waits: { firstTouches: number; inOrder: number; outOfOrder: number } | null;
}

// A change of the program. Where two numbers stand together, they are before and after it.
export interface Repair {
    remedy: string;
    what: string; // to do, and where
    function: number;
    places: [number, number][]; // file, line
    data: string;
    group: number | null; // of the data
    l1: [number, number]; // misses
    ll: [number, number];
    walks: [number, number] | null; // page walks, if it is about these
    share: number; // of the estimated time
    evidence: string[];
    code: string[];
    unknown: string;
    alternatives: string[];
}

// Misses by the size of the cache.
export interface Curve {
    misses: number[]; // at the sizes that all curves have; at those that follow, as at the last
    firstTouches: number;
    knees: [number, number][]; // between which sizes many go
    fits: number | null; // the size from which on hardly any more go
    says: string;
}

export interface CodeCurves {
    function: number;
    self: Curve;
    incl: Curve | null;
}

export interface Why {
    line: number; // bytes
    d1: number; // bytes of the cache
    ll: number;
    repairs: Repair[] | null; // the first saves most time
    sizes: number[];
    program: Curve;
    // Of code, itself and with all that it calls, where the run has kept paths; what has most misses first.
    functions: CodeCurves[];
    loops: (CodeCurves & { name: string })[];
    data: { group: number; curve: Curve }[];
}

// Data objects that are not told apart.
export interface DataGroup {
    kind: string;
    label: string;
    object: string; // of code, a variable or a file
    size: number; // of a variable, in bytes
    function: number | null; // whose frames; the function called to allocate
    places: Place[]; // where that was called, the innermost first
    blocks: {
        number: number; bytes: number; freed: number; mostAlive: number; smallest: number; largest: number;
    } | null;
    // Of an element; first is its bytes' first row.
    layout: {
        size: number; reason: string; first: number; unmapped: number; knowsBorders: boolean;
        loads: number; cut: number; // how often one came with a line, and only a part of it
    } | null;
    type: DataType | null;
}

export type Place = [number, number, number]; // function, file, line

// Of the elements of data; of a variable, of the variable or its elements.
export interface DataType {
    name: string;
    size: number;
    reason: string;
    hasUse: boolean; // whether anybody has seen which bytes are used
    // Name, type, offset, size, how often bytes of it came with a line, and in how many of these any was used. A gap
    // has no type.
    fields: [string, string, number, number, number, number][];
    // Which code loaded how many parts of lines, one for each block in a line, and of these as above for each field,
    // by its number, that was used.
    uses: [Place, number, [number, number, number][]][];
    parts: number[][]; // fields that had better be in an array of their own
    advice: string[];
}

// The metrics of a cache level that speak of the bytes that the page is about.
export interface Use {
    of: "code" | "data" | "all";
    levels: { loaded: string; lost: string; share: string; perLine: string; misses: string }[];
}

// What to look at first, as the text report says it, and the line that has most of it.
export interface First {
    says: string;
    place: Place | null;
}

export interface Facts {
    use: Use;
    verdict: Verdict | null;
    first: First | null;
    hottest: { heading: string; title: string; total: number } | null; // what the costliest lines are ranked by
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
    hints: Hints;
    why: Why | null; // lines were loaded, where the run noted that
    tables: Record<string, { rows: number; columns: string[] }>;
    inlined: string[]; // names of inlined functions
    codeTexts: string[];
    frames: (number | string)[]; // a function, or the name of a root
    places: [number, number][]; // file or -1, line
    // Where two profiles are compared, changes has which groups are new or gone. Those that are gone are as before.
    data: {
        columns: string[]; // metrics; what it loses comes second
        always: number; // what holds for this share of the loads of a byte holds always
        sample: string; // a sentence where which bytes were used is known of some lines only; else empty
        events: string[];
        groups: DataGroup[];
        changes: ("new" | "gone" | null)[];
    } | null;
    // other: the frame of the paths that the tree has no room for, if there are such.
    tree: { folded: boolean; height: number; other: number | null } | null;
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

// The columns of a table that have been unpacked so far.
export class Table {
    constructor(
        readonly rows: number,
        readonly columns: Map<string, Column>,
    ) {}

    column(name: string): Column {
        const found = this.columns.get(name);
        if (!found) throw new Error(`column ${name} is not there`);
        return found;
    }
}

export function decodeColumn(bytes: Uint8Array, rows: number): Column {
    const width = bytes[0];
    const buffer = bytes.buffer as ArrayBuffer;
    const at = bytes.byteOffset + 8;
    switch (width) {
        case 1:
            return new Uint8Array(buffer, at, rows);
        case 2:
            return new Uint16Array(buffer, at, rows);
        case 4:
            return new Uint32Array(buffer, at, rows);
        case 8: {
            if (bytes[1]) return new Float64Array(buffer, at, rows);
            const halves = new Uint32Array(buffer, at, 2 * rows);
            const values = new Float64Array(rows);
            for (let i = 0; i < rows; ++i) values[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32;
            return values;
        }
        default:
            throw new Error(`a column has the unknown width ${width}`);
    }
}

// Browsers of 2025 do it themselves, in a tenth of the time.
const native = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
    if (native.fromBase64) return native.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
}

async function unpack(base64: string): Promise<Uint8Array> {
    const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The script runs before the browser has read what stands behind it, which takes longer than a first picture. An
// element is whole when something follows it.
async function whole(id: string): Promise<HTMLElement> {
    for (;;) {
        const isAll = document.readyState !== "loading";
        const element = document.getElementById(id);
        if (element && (isAll || element.nextElementSibling)) return element;
        if (isAll) throw new Error(`the page is cut off: it has no ${id}`);
        await new Promise<void>((read) => {
            const observer = new MutationObserver(() => more());
            const more = (): void => {
                observer.disconnect();
                document.removeEventListener("readystatechange", more);
                read();
            };
            observer.observe(document.body, { childList: true });
            document.addEventListener("readystatechange", more);
        });
    }
}

async function block(id: string): Promise<Uint8Array> {
    const element = await whole(id);
    const bytes = await unpack(element.textContent ?? "").catch(() => {
        throw new Error(`the page is cut off or damaged: its ${id} cannot be unpacked`);
    });
    element.remove(); // it is as large as what it has become
    return bytes;
}

// Names could turn around the text behind them: what changes the direction is shown as an escape. JSON has all
// characters beyond ASCII as \\uXXXX.
export function withoutDirections(json: string): string {
    return json.replace(/\\\\|\\u(061c|200[ef]|202[a-e]|206[6-9])/gi, (found, code: string | undefined) =>
        (code === undefined ? found : `\\\\u${code}`));
}

async function json<T>(id: string): Promise<T> {
    return JSON.parse(withoutDirections(new TextDecoder().decode(await block(id)))) as T;
}

// Of the facts and tables that this page reads, as bdannotate/html/page_data.py has it.
export const version = 2;

export async function readFacts(): Promise<Facts> {
    const facts = await json<Facts>("facts");
    if (facts.version !== version) {
        throw new Error(`its data has version ${facts.version}, and the page reads ${version}: bd_annotate is not `
            + "installed as a whole");
    }
    return facts;
}

export const readSources = (): Promise<SourceText[]> => json<SourceText[]>("sources");

export async function readColumn(facts: Facts, table: string, name: string): Promise<Column> {
    const { rows, columns } = facts.tables[table]!;
    return decodeColumn(await block(`table-${table}-${columns.indexOf(name)}`), rows);
}
