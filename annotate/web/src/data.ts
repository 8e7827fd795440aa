// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the data that bd_annotate (bdannotate/html) put into the page: facts as JSON, counts as tables. Each column is
// unpacked when a view first needs it.

import { decodeColumn, isGrouped, orderBy, references, type Column } from "./packed";
import { sums, version, type Facts, type SourceText, type TableName, type tables } from "./schema";

export type { Column } from "./packed";

export type * from "./schema";

type More<N extends TableName> = (typeof tables)[N] extends { more: readonly (infer M)[] } ? M & string : never;
type Own<N extends TableName> = (typeof tables)[N]["own"][number] | More<N>;
type Count<N extends TableName> = (typeof tables)[N]["counts"][number];
type Cost<N extends TableName> = (typeof tables)[N]["kinds"][number];
// The names of the columns of a table; those of costs end with the event.
export type ColumnName<N extends TableName = TableName> =
    Own<N> | `${"" | "before:"}${Count<N>}` | `${"" | "before:"}${Cost<N>}:${string}`;

// The columns of a table that have been unpacked so far.
export class Table<N extends TableName = TableName> {
    constructor(
        readonly rows: number,
        readonly columns: Map<string, Column>,
    ) {}

    column(name: ColumnName<N>): Column {
        const found = this.columns.get(name);
        if (!found) throw new Error(`column ${name} is not there`);
        return found;
    }
}

// Browsers since 2025 decode base64 themselves, in a tenth of the time.
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

// Waits for an element and its text. The script runs before the browser has read the data behind it, as this would
// delay the first view. An element is complete when another one follows it, or when the document is.
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
    element.remove(); // to free its memory
    return bytes;
}

// Replaces characters that change the direction of text by visible escapes: in a name, they could reverse the text
// behind it. The JSON is ASCII, so that they occur as \\uXXXX only.
export function withoutDirections(json: string): string {
    return json.replace(/\\\\|\\u(061c|200[ef]|202[a-e]|206[6-9])/gi, (found, code: string | undefined) =>
        (code === undefined ? found : `\\\\u${code}`));
}

async function json<T>(id: string): Promise<T> {
    return JSON.parse(withoutDirections(new TextDecoder().decode(await block(id)))) as T;
}

export async function readFacts(): Promise<Facts> {
    const facts = await json<Facts>("facts");
    if (facts.version !== version) {
        throw new Error(`its data has version ${facts.version}, and the page reads ${version}: the installation `
            + "of bd_annotate is incomplete");
    }
    return facts;
}

export const readSources = (): Promise<SourceText[]> => json<SourceText[]>("sources");

// read: returns another column, perhaps of another table, that this one refers to.
export async function readColumn(facts: Facts, table: string, name: string, read: Read): Promise<Column> {
    const { rows, columns } = facts.tables[table]!;
    const bytes = await block(`table-${table}-${columns.indexOf(name)}`);
    const waiting: Read = (otherTable, other) => {
        waits.add(`${table} ${name}`, `${otherTable} ${other}`);
        return read(otherTable, other);
    };
    if (isGrouped(bytes)) return sumOfGroups(table, rows, name, waiting);
    const names = references(bytes).map(({ column }) => columns[column]!);
    const others = await Promise.all(names.map((other) => waiting(table, other)));
    return decodeColumn(bytes, rows, others, () => orderOf(others));
}

// Which columns wait for which others. Columns that refer to each other would wait for ever: an error.
export class Waits {
    private readonly of = new Map<string, string[]>();

    add(column: string, other: string): void {
        if (this.leads(other, column)) throw new Error("the page is damaged: its columns refer to each other");
        this.of.set(column, [...this.of.get(column) ?? [], other]);
    }

    private leads(from: string, to: string): boolean {
        const found = new Set([from]);
        for (const column of found) for (const next of this.of.get(column) ?? []) found.add(next);
        return found.has(to);
    }
}
const waits = new Waits();

// The orders used last: columns that are read one after another often share one.
const orders: { by: readonly Column[]; rows: Uint32Array }[] = [];
const mostOrders = 4;

function orderOf(columns: readonly Column[]): Uint32Array {
    const at = orders.findIndex(({ by }) =>
        by.length === columns.length && by.every((column, number) => column === columns[number]));
    const [found] = at >= 0 ? orders.splice(at, 1) : [{ by: columns, rows: orderBy(columns) }];
    orders.push(found!);
    if (orders.length > mostOrders) orders.shift();
    return found!.rows;
}

type Read = (table: string, column: string) => Promise<Column>;

async function sumOfGroups(table: string, rows: number, name: string, read: Read): Promise<Column> {
    const [parts, ...by] = sums[table as keyof typeof sums];
    await Promise.all([table, parts].flatMap((of) => by.map((column) => read(of, column))));
    let places = rowsOfParts.get(table);
    if (!places) rowsOfParts.set(table, places = placesOf(table, parts, by, read));
    const [values, at] = await Promise.all([read(parts, name), places]);
    const found = new Float64Array(rows);
    for (let part = 0; part < values.length; ++part) found[at[part]!]! += values[part]!;
    return found;
}

// By the table with sums: for each row of its parts, the row that it belongs to.
const rowsOfParts = new Map<string, Promise<Uint32Array>>();

async function placesOf(table: string, parts: string, by: readonly string[], read: Read): Promise<Uint32Array> {
    const [sums, single] = await Promise.all(
        [table, parts].map((of) => Promise.all(by.map((column) => read(of, column)))),
    );
    const keys = (columns: readonly Column[]): string[] =>
        Array.from(columns[0]!, (_, row) => columns.map((column) => column[row]).join());
    const places = new Map(keys(sums!).map((key, row) => [key, row]));
    return Uint32Array.from(keys(single!), (key) => places.get(key)!);
}
