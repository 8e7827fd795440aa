// SPDX-License-Identifier: GPL-2.0-or-later
//
// Made by page_types.py from bdannotate/html/schema.py: change that one, not this file.

// The version of this format. A page refuses any other: it and its data come from the same version of bd_annotate.
export const version = 11;

export interface Metric {
    name: string;
    heading: string;
    title: string;
    numerator: number[]; // a weight for each event
    denominator: number[] | null;
    isShare: boolean;
    isTime: boolean; // a sum of picoseconds
    moreIsBetter: boolean;
    share: string | null; // the metric for the share of the same lines that was never used
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

// Data that a place loads in vain: a group, and its share of all bytes that are never used.
export interface HintData {
    group: number | null;
    share: number;
}

export interface Hint {
    function: number;
    share: number; // of all bytes that are never used
    saved: number | null; // at most, of the estimated cycles
    brief: string;
    looks: string;
    helps: string;
    unused: number;
    neverUsed: number;
    usedPerLine: number;
    lineSize: number; // average of the lines that the hint is about
    accesses: number;
    loads: number;
    lines: [number, number, number][]; // file, line, share of the hint; the costliest first
    through: number | null; // the library function that causes most of it
    below: number | null; // the nearest caller with a name, if the function has none
    callers: [number, number][];
    data: HintData[];
    sentences: string[]; // about the data, and about the errors of a sampled run
}

export interface OtherData {
    data: HintData;
    title: string;
    sentences: string[];
}

export interface Hints {
    places: Hint[];
    others: OtherData[]; // data with no place that causes most of its loss
}

// How the cost of misses divides by the order of their addresses, as shares of the cycles.
export interface Waits {
    firstTouches: number;
    inOrder: number;
    outOfOrder: number;
}

// An estimate of the time. In the least, instructions never wait for each other; in the most, each waits for the
// one before.
export interface Time {
    what: string;
    seconds: number;
    least: number;
    most: number;
}

export interface Verdict {
    cycles: number;
    instructions: number; // like those below, a share of the estimated cycles
    l1Data: number;
    l1Code: number;
    l2: number | null; // the cost of missing L2; None without an L2
    lastLevel: number;
    fitsLastLevel: boolean;
    first: "L1" | "code" | "L2" | "LL" | "out of order" | "in order" | "first touches" | "instructions";
    wasted: number | null; // the share that bytes never used cost at the level `first`, if that is why it is first
    waits: Waits | null; // if the run noted them; then the shares of levels are 0, and all shares are of the time
    time: Time | null; // if there are waits
}

// A change of the program. Pairs of counts are those before and after it.
export interface Repair {
    remedy: string;
    what: string; // what to do, and where
    function: number;
    places: [number, number][]; // file, line
    data: string;
    group: number | null; // of the data
    l1: [number, number]; // misses
    ll: [number, number];
    walks: [number, number] | null; // page walks, if the repair reduces them
    transfers: [number, number] | null; // of lines from core to core, if the repair reduces them
    share: number; // of the estimated time
    evidence: string[];
    code: string[];
    unknown: string;
    alternatives: string[];
}

// Misses by the size of the cache.
export interface Curve {
    misses: number[]; // at the first sizes of Why.sizes; at all larger ones, as many as at the last
    firstTouches: number;
    knees: [number, number][]; // the numbers of two sizes between which many misses end
    fits: number | null; // the number of the size beyond which hardly any more end
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
    // Self curves and, if the run kept paths, inclusive ones; those with most misses first.
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

// Bytes of an element that the same cores use in the same way, in lines that they take from each other. Of each row
// of neighbouring bytes, bytes has the first and the last.
export interface BytesUsed {
    letter: string; // in the picture
    bytes: [number, number][];
    fields: string[]; // that these bytes belong to; empty if the type is not known
    isWritten: boolean;
    by: string; // which cores write them and which ones read them
}

// How the bytes of an element are used. first: the row of its first byte in the table dataBytes.
export interface ElementLayout {
    size: number;
    reason: string;
    first: number;
    unmapped: number;
    knowsBorders: boolean;
    loads: number;
    cut: number; // how often a line brought only a part of an element
    users: BytesUsed[]; // by cores; empty if that is not known
}

// The type of the elements of a group; of a variable, its own type or that of its elements.
export interface DataType {
    name: string;
    size: number;
    reason: string;
    hasUse: boolean; // whether it is known which bytes are used
    // Name, type, offset, size, how often a line brought bytes of the field, and how often any of these was used. A gap
    // has no type.
    fields: [string, string, number, number, number, number][];
    // For each line of code that loaded elements: how many parts of lines it loaded (one for each heap block in a
    // line); and for each field used, its number and how often it was brought and used, as above.
    uses: [Place, number, [number, number, number][]][];
    parts: number[][]; // the fields of each array into which the type is better split
    advice: string[];
    users: string[]; // by field: which cores use it, or nothing; empty if that is not known
}

// Data objects that the report does not separate.
export interface DataGroup {
    kind: string;
    label: string;
    object: string; // of code, a variable or a file
    size: number; // of a variable, in bytes
    function: number | null; // for frames, the function that has them; for the heap, the allocation function
    places: Place[]; // where the allocation function was called, the innermost first
    blocks: Blocks | null;
    layout: ElementLayout | null;
    type: DataType | null;
}

// If two profiles are compared, changes tells which groups are new or gone. Groups that are gone are described as
// they were before.
export interface Data {
    columns: string[]; // metrics; the loss comes second
    always: number; // what is true of this share of the loads of a byte counts as always true
    sample: string; // a sentence, if used bytes are known for a sample of lines only; else empty
    userTitle: string; // what users are about; empty if they are not known
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
    fieldsRead: string[]; // the fields that these bytes belong to; empty if the type of the data is not known
    fieldsWritten: string[];
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

// How cores share the last level.
export interface LastLevel {
    heads: string[]; // of the columns of rows, behind the core
    rows: [string, string[]][]; // by core: its name and the values
    says: string[]; // sentences on cores that drive out lines of others
    key: string; // what the columns are
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
    lastLevel: LastLevel | null; // the same
}

// The cost of some paths: a count for each of Paths.columns.
export interface PathRow {
    number: number; // how many paths; of a single path, how often it was executed
    costs: number[];
}

// A path. trail: the stretches of code that it passes, in order: file, first line, last line; or -1 and two
// addresses, if the code has no lines. parts: a sentence for each branch at which it leaves other hot paths.
export interface HotPath {
    row: PathRow;
    dense: boolean | null;
    trail: [number, number, number][];
    parts: string[];
}

// The paths of a function.
export interface PathsOf {
    function: number;
    whole: PathRow;
    hot: HotPath[];
    colder: PathRow;
    other: PathRow; // not separated
}

// Paths within functions.
export interface Paths {
    columns: string[]; // metrics; that by which paths are hot comes first
    totals: number[];
    mark: string; // a sentence: from which share on a path is hot
    hot: PathRow;
    dense: PathRow;
    colder: PathRow;
    other: PathRow;
    unfollowed: PathRow; // functions whose paths were not followed
    functions: PathsOf[]; // with hot paths, the costliest first
}

export interface RankCount {
    name: string; // of a metric
    heading: string;
}

// The ranks of a merged profile. Table ranks has their hosts, groups and totals; table strips the self costs of
// functions: for each count, each function has as many rows as there are ranks.
export interface Ranks {
    names: string[];
    hosts: string[]; // the first one, empty, is for ranks of unknown host
    counts: RankCount[];
    functions: number[]; // those that differ most between ranks
    alike: string; // a sentence: how many groups behave alike
    groups: string[]; // a sentence for each group: its ranks, and how they differ from others
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

// The metrics of the bytes that the page is about, by cache level, the first level first.
export interface Use {
    of: "code" | "data" | "all";
    levels: UseLevel[];
}

// What to look at first, as the text report says it, and the line that causes most of it.
export interface First {
    says: string;
    place: Place | null;
}

// The count that ranks the costliest lines.
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

// Code without symbols or lines, and its share of the loss.
export interface UnknownCode {
    objects: string[];
    share: number;
    hasSymbols: boolean;
}

// The errors of a sampled run. Those of totals are half the widths of their 95 % intervals, by event; those of
// functions and lines are in tables.
export interface Estimates {
    bursts: number[]; // of each side; 0 of an exact one
    totals: number[] | null; // None: unknown, or two profiles are compared
}

export interface TableFacts {
    rows: number;
    columns: string[];
}

export interface TreeFacts {
    folded: boolean;
    height: number;
    other: number | null; // the frame that stands for the paths that the tree had no room for, if any
}

export interface Facts {
    version: number;
    generator: string;
    use: Use;
    verdict: Verdict | null;
    first: First | null;
    hottest: Hottest | null;
    matched: number;
    above: number[]; // functions above main, which only start the program
    sides: Part[][]; // the profile's parts; if two are compared, those after and those before
    totals: number[][];
    members: Member[];
    events: string[];
    metrics: Metric[];
    columns: [string, boolean][]; // metric, inclusive
    objects: string[];
    files: string[];
    // Name, object file, file, line, and the name that is shown if it differs, else empty.
    functions: [string, number, number, number, string][];
    cycles: number[][];
    unknown: UnknownCode | null;
    hints: Hints;
    why: Why | null; // if the run noted why lines were loaded
    tables: Record<string, TableFacts>;
    inlined: string[]; // names of inlined functions, and addresses of loops without lines
    codeTexts: string[];
    frames: (number | string)[]; // a function; or the name of a root or of the frame for other paths
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

// Tables that divide the rows of another table among the members of a sum, in columns such as `0:self:Ir`.
export const ofMembers = {
    functions: "functionsOf",
    arcs: "arcsOf",
    lines: "linesOf",
    tree: "treeOf",
    sites: "sitesOf",
} as const;
export type Of_memberName = keyof typeof ofMembers;

// Tables whose costs may be sums over another table: that table, and the columns that must be equal.
export const sums = {
    arcs: ["sites", "caller", "callee"],
} as const;
export type SumName = keyof typeof sums;

// The tables that each view needs. All views need the table of functions as well; the columns of the tree are read one
// by one.
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
