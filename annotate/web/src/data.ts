// SPDX-License-Identifier: GPL-2.0-or-later
//
// What bd_annotate put into the page: facts as JSON, counts as tables of columns. bdannotate/html writes them; here
// they are unpacked, each column when a view first needs it.

import { version, type Facts, type SourceText, type TableName, type tables } from "./schema";

export type * from "./schema";

type More<N extends TableName> = (typeof tables)[N] extends { more: readonly (infer M)[] } ? M & string : never;
type Own<N extends TableName> = (typeof tables)[N]["own"][number] | More<N>;
type Count<N extends TableName> = (typeof tables)[N]["counts"][number];
type Cost<N extends TableName> = (typeof tables)[N]["kinds"][number];
// What columns of a table can be called; of costs, the last word is the event.
export type ColumnName<N extends TableName = TableName> =
    Own<N> | `${"" | "before:"}${Count<N>}` | `${"" | "before:"}${Cost<N>}:${string}`;

export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

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

// How values are written, as html/tables.py says it.
const form = { steps: 1, ranks: 2, sparse: 3 } as const;

export function decodeColumn(bytes: Uint8Array, rows: number): Column {
    const width = bytes[0]!;
    if (bytes[2] === form.sparse) {
        const gapWidth = bytes[3]!;
        const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
        const gaps = numbers(bytes, 8, count, gapWidth, false);
        const values = numbers(bytes, 8 + count * gapWidth, count, width, false);
        const found = new (values.constructor as new (rows: number) => Column)(rows);
        for (let i = 0, row = 0; i < count; ++i, ++row) {
            row += gaps[i]!;
            found[row] = values[i]!;
        }
        return found;
    }
    const found = numbers(bytes, 8, rows, width, bytes[1] === 1);
    // Both go on at 0 where they reach beyond their width.
    if (bytes[2] === form.steps) for (let i = 1; i < rows; ++i) found[i]! += found[i - 1]!;
    if (bytes[2] === form.ranks) for (let i = 0; i < rows; ++i) found[i] = i + 1 - found[i]!;
    return found;
}

// What stands there: the lowest bytes of all, then the next ones of all.
function numbers(bytes: Uint8Array, at: number, count: number, width: number, areFloats: boolean): Column {
    if (width === 1) return bytes.slice(at, at + count);
    const joined = new Uint8Array(width * count);
    for (let byte = 0; byte < width; ++byte) {
        const from = at + byte * count;
        for (let i = 0; i < count; ++i) joined[i * width + byte] = bytes[from + i]!;
    }
    switch (width) {
        case 2:
            return new Uint16Array(joined.buffer);
        case 4:
            return new Uint32Array(joined.buffer);
        case 8: {
            if (areFloats) return new Float64Array(joined.buffer);
            const halves = new Uint32Array(joined.buffer);
            const values = new Float64Array(count);
            for (let i = 0; i < count; ++i) values[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32;
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

export async function readFacts(): Promise<Facts> {
    const facts = await json<Facts>("facts");
    if (facts.version !== version) {
        throw new Error(`its data has version ${facts.version}, and the page reads ${version}: the installation `
            + "of bd_annotate is incomplete");
    }
    return facts;
}

export const readSources = (): Promise<SourceText[]> => json<SourceText[]>("sources");

export async function readColumn(facts: Facts, table: string, name: string): Promise<Column> {
    const { rows, columns } = facts.tables[table]!;
    return decodeColumn(await block(`table-${table}-${columns.indexOf(name)}`), rows);
}
