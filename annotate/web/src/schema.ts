// SPDX-License-Identifier: GPL-2.0-or-later
//
// Made by page_types.py from bdannotate/html/schema.py: change that one, not this file.

// Of all that is described here. The page refuses any other: it and its writer are of one version of bd_annotate.
export const version = 10;

export interface Metric {
    name: string;
    heading: string;
    title: string;
    numerator: number[]; // a weight per event
    denominator: number[] | null;
    isShare: boolean;
    isTime: boolean; // a sum of picoseconds
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

// Function, file, line.
export type Place = [number, number, number];

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
    lineSize: number; // that of the lines at hand, on average
    accesses: number;
    loads: number;
    lines: [number, number, number][]; // file, line, share of its own; the costliest first
    through: number | null; // the library function that has most of it
    below: number | null; // of a function without a name, the nearest caller that has one
    callers: [number, number][];
    data: HintData[];
    sentences: string[]; // on the data, and on how far a sampled run's numbers may be off
}

export interface OtherData {
    data: HintData;
    title: string;
    sentences: string[];
}

export interface Hints {
    places: Hint[];
    others: OtherData[]; // data of which no place has most
}

// Shares of the cycles by the order of addresses.
export interface Waits {
    firstTouches: number;
    inOrder: number;
    outOfOrder: number;
}

// Estimated seconds: if instructions never wait for each other, and if each waits for the one before.
export interface Time {
    what: string;
    seconds: number;
    least: number;
    most: number;
}

export interface Verdict {
    cycles: number;
    instructions: number; // shares of the estimated cycles, as those below
    l1Data: number;
    l1Code: number;
    l2: number | null; // what missing L2 adds, where there is one
    lastLevel: number;
    fitsLastLevel: boolean;
    first: "L1" | "code" | "L2" | "LL" | "out of order" | "in order" | "first touches" | "instructions";
    wasted: number | null; // what bytes never used cost at the first level, if that makes it the first
    waits: Waits | null; // where the run noted that; then those of levels are 0, and all shares are of the time
    time: Time | null; // where there are waits
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
    transfers: [number, number] | null; // of lines from core to core, if it is about these
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

export interface LoopCurves extends CodeCurves {
    name: string;
}

export interface DataCurve {
    group: number;
    curve: Curve;
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
    loops: LoopCurves[];
    data: DataCurve[];
}

export interface Blocks {
    number: number;
    bytes: number;
    freed: number;
    mostAlive: number;
    smallest: number;
    largest: number;
}

// Of an element; first is its bytes' first row.
export interface ElementLayout {
    size: number;
    reason: string;
    first: number;
    unmapped: number;
    knowsBorders: boolean;
    loads: number;
    cut: number; // how often one came with a line, and only a part of it
}

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

// Data objects that are not separated.
export interface DataGroup {
    kind: string;
    label: string;
    object: string; // of code, a variable or a file
    size: number; // of a variable, in bytes
    function: number | null; // whose frames; the function called to allocate
    places: Place[]; // where that was called, the innermost first
    blocks: Blocks | null;
    layout: ElementLayout | null;
    type: DataType | null;
}

// Where two profiles are compared, changes has which groups are new or gone. Those that are gone are as before.
export interface Data {
    columns: string[]; // metrics; what it loses comes second
    always: number; // what holds for this share of the loads of a byte holds always
    sample: string; // a sentence where which bytes were used is known of some lines only; else empty
    events: string[];
    groups: DataGroup[];
    changes: ("new" | "gone" | null)[];
}

// What a core, or the thread that has one of its own, uses of the line that moves most, and where it waits for it.
// Of each row of neighbouring bytes, read and written have the first and the last.
export interface SharingCore {
    name: string;
    read: [number, number][]; // and not written
    written: [number, number][];
    transfers: number;
    places: Place[];
}

// Data of which cores take lines from each other.
export interface SharedData {
    label: string;
    group: number | null; // of the data
    lines: number;
    kind: string;
    transfers: number;
    after: number; // transfers, with each thread's bytes in lines of their own
    atomics: number;
    cores: SharingCore[];
}

// Data that several cores load, and what there is to say of it.
export interface LoadedData {
    label: string;
    group: number | null; // of the data
    says: string;
}

// What several cores load. The first ones of touches and again have most.
export interface CoreLoads {
    says: string; // of all pages
    touches: LoadedData[]; // pages that one core touches first and others miss
    again: LoadedData[]; // lines that several cores load
    more: [number, number]; // how many of both there are besides
}

// Lines that cores take from each other.
export interface Sharing {
    line: number; // bytes
    cost: number; // seconds of a transfer
    transfers: number;
    rest: number; // of these, those of lines that are not known one by one
    more: number; // how many data there are besides
    says: string; // what the summary says of it; empty if there is nothing to gain
    data: SharedData[]; // most transfers first
    loads: CoreLoads | null; // None where the run did not note it
}

// What some paths cost: one count for each of Paths.columns.
export interface PathRow {
    number: number; // of them, or how often one path was executed
    costs: number[];
}

// A path. trail: files or -1, first and last lines in the order in which it passes them; of code without lines,
// addresses. parts: sentences, one for each branch where it parts from others that are hot.
export interface HotPath {
    row: PathRow;
    dense: boolean | null;
    trail: [number, number, number][];
    parts: string[];
}

// Those of a function.
export interface PathsOf {
    function: number;
    whole: PathRow;
    hot: HotPath[];
    colder: PathRow;
    other: PathRow; // not separated
}

// Paths within functions.
export interface Paths {
    columns: string[]; // metrics: what hot paths have a share of comes first
    totals: number[];
    mark: string; // a sentence: from what on a path is hot
    hot: PathRow;
    dense: PathRow;
    colder: PathRow;
    other: PathRow;
    unfollowed: PathRow; // of functions
    functions: PathsOf[]; // with hot paths, the costliest first
}

export interface RankCount {
    name: string; // of a metric
    heading: string;
}

// The ranks of a merged profile. Their hosts, groups and totals are in the table of ranks; what functions cost
// themselves is in that of strips: for each count, each function has so many rows as there are ranks.
export interface Ranks {
    names: string[];
    hosts: string[]; // the first one is not known
    counts: RankCount[];
    functions: number[]; // that differ most
    alike: string; // a sentence: how many groups behave alike
    groups: string[]; // of each: its ranks, and how they differ from others
    says: string; // a sentence for the summary, or empty
}

export interface UseLevel {
    title: string;
    loaded: string;
    lost: string;
    share: string;
    perLine: string;
    misses: string;
}

// The metrics of the cache levels that speak of the bytes that the page is about, the first level first.
export interface Use {
    of: "code" | "data" | "all";
    levels: UseLevel[];
}

// What to look at first, as the text report says it, and the line that has most of it.
export interface First {
    says: string;
    place: Place | null;
}

// What the costliest lines are ranked by.
export interface Hottest {
    heading: string;
    title: string;
    isTime: boolean; // picoseconds
    total: number;
}

export interface Member {
    label: string;
    totals: number[];
}

// Without symbols or lines.
export interface UnknownCode {
    objects: string[];
    share: number;
    hasSymbols: boolean;
}

// That counts are of a sampled run, and how far their totals may be off: half the widths of the intervals of 95 %,
// by event. Those of functions and lines are in tables.
export interface Estimates {
    bursts: number[]; // of each side; 0 of an exact one
    totals: number[] | null; // None: nothing is known, or two are compared
}

export interface TableFacts {
    rows: number;
    columns: string[];
}

export interface TreeFacts {
    folded: boolean;
    height: number;
    other: number | null; // the frame of the paths that the tree has no room for, if there are such
}

export interface Facts {
    version: number;
    generator: string;
    use: Use;
    verdict: Verdict | null;
    first: First | null;
    hottest: Hottest | null;
    matched: number;
    above: number[]; // functions that only start the program
    sides: Part[][]; // of the profile; where two are compared: after, before
    totals: number[][];
    members: Member[];
    events: string[];
    metrics: Metric[];
    columns: [string, boolean][]; // metric, inclusive
    objects: string[];
    files: string[];
    // Name, object, file, line, and the name that is shown, where that is another; else empty.
    functions: [string, number, number, number, string][];
    cycles: number[][];
    unknown: UnknownCode | null;
    hints: Hints;
    why: Why | null; // lines were loaded, where the run noted that
    tables: Record<string, TableFacts>;
    inlined: string[]; // names of inlined functions, and addresses of loops without lines
    codeTexts: string[];
    frames: (number | string)[]; // a function, or the name of a root
    places: [number, number][]; // file or -1, line
    data: Data | null;
    sharing: Sharing | null; // of a run with cores
    paths: Paths | null; // of a run with --paths
    ranks: Ranks | null; // of a merged profile
    tree: TreeFacts | null;
    estimates: Estimates | null; // None: all counts are exact
    sourceNotes: Record<string, string>;
    hasSources: boolean;
}

export interface SourceText {
    file: number;
    path: string;
    newer: boolean;
    text: string;
}

export const before = "before:";

export const tables = {
    functions: { own: ["cycle", "recursive"], counts: ["calls"], kinds: ["self", "incl"] },
    tree: { own: ["parent", "frame", "place"], counts: ["calls"], kinds: ["self"], more: ["within"] },
    arcs: { own: ["caller", "callee", "recursive"], counts: ["calls"], kinds: ["incl"] },
    lines: { own: ["function", "file", "line"], counts: [], kinds: ["self"] },
    sites: { own: ["caller", "callee", "file", "line"], counts: ["calls"], kinds: ["incl"] },
    cycles: { own: [], counts: ["calls"], kinds: ["incl"] },
    code: { own: ["function", "file", "address", "line", "text"], counts: [], kinds: ["self"] },
    members: { own: ["function"], counts: [], kinds: ["self", "incl"] },
    frames: {
        own: ["function", "parent", "kind", "name", "file", "line", "entries", "iterations"],
        counts: [],
        kinds: ["self", "incl"]
    },
    hotLines: { own: ["function", "file", "line", "ranked"], counts: [], kinds: ["self"] },
    functionWidths: { own: [], counts: [], kinds: ["self", "incl"] },
    lineWidths: { own: [], counts: [], kinds: ["self"] },
    hotLineWidths: { own: ["ranked"], counts: [], kinds: ["self"] },
    data: { own: [], counts: [], kinds: ["self"] },
    dataRows: { own: ["group", "function", "file", "line"], counts: [], kinds: ["self"] },
    dataBytes: { own: ["loaded", "used", "borders"], counts: [], kinds: [] },
    ranks: { own: ["host", "group"], counts: [], kinds: ["self"] },
    strips: { own: ["cost"], counts: [], kinds: [] },
    functionsOf: { own: [], counts: ["calls"], kinds: ["self", "incl"] },
    treeOf: { own: [], counts: ["calls"], kinds: ["self"] },
    arcsOf: { own: [], counts: ["calls"], kinds: ["incl"] },
    linesOf: { own: [], counts: [], kinds: ["self"] },
    sitesOf: { own: [], counts: ["calls"], kinds: ["incl"] },
} as const;
export type TableName = keyof typeof tables;

// Tables with what each profile of a sum has of the rows of another, as `0:self:Ir`.
export const ofMembers = {
    functions: "functionsOf",
    arcs: "arcsOf",
    lines: "linesOf",
    tree: "treeOf",
    sites: "sitesOf",
} as const;
export type Of_memberName = keyof typeof ofMembers;

// Tables whose costs may be sums of those of another one: that, and the columns by which its rows belong to theirs.
export const sums = {
    arcs: ["sites", "caller", "callee"],
} as const;
export type SumName = keyof typeof sums;

// The tables that each view is made of, beside that of functions, which all have, and the tree, of which a view takes
// only some columns.
export const views = {
    summary: [],
    icicle: [],
    tables: ["arcs", "cycles", "frames"],
    graph: ["arcs", "frames"],
    source: ["lines", "lineWidths", "sites", "code", "dataRows", "frames"],
    treemap: [],
    data: ["data", "dataRows", "dataBytes"],
    sharing: [],
    paths: [],
    ranks: ["ranks", "strips"],
    profiles: ["members"],
} as const;
export type ViewName = keyof typeof views;
