// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads columns of whole numbers, in the forms that bdannotate/html/tables.py describes.

export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const form = { steps: 1, ranks: 2, sparse: 3, ordered: 4, sum: 5, grouped: 6 } as const;
const head = 8;
const bytesOfReference = 4;

// Another column of the table that is needed to read one, and its weight in a sum.
export interface Reference {
    column: number;
    weight: number;
}

export function references(bytes: Uint8Array): Reference[] {
    if (bytes[2] !== form.ordered && bytes[2] !== form.sum) return [];
    const view = viewOf(bytes);
    return Array.from({ length: bytes[3]! }, (_, number) => {
        const at = head + bytesOfReference * number;
        return { column: view.getUint16(at, true), weight: view.getInt16(at + 2, true) };
    });
}

// Whether each value is a sum over rows of another table.
export const isGrouped = (bytes: Uint8Array): boolean => bytes[2] === form.grouped;

// others: the columns that it refers to; order: returns the rows in the order of their values.
export function decodeColumn(
    bytes: Uint8Array, rows: number, others: readonly Column[] = [], order = (): Uint32Array => orderBy(others),
): Column {
    const width = bytes[0]!;
    switch (bytes[2]) {
        case form.sparse:
            return sparse(bytes, rows);
        case form.ordered: {
            const count = viewOf(bytes).getUint32(4, true);
            const kept = decodeColumn(bytes.subarray(head + bytesOfReference * others.length), count);
            const found = columnOf(width, rows);
            const placed = order();
            for (let i = 0; i < placed.length; ++i) found[placed[i]!] = kept[i]!;
            if (count > placed.length) {
                const first = others[0]!;
                for (let row = 0, i = placed.length; row < rows; ++row) if (!first[row]) found[row] = kept[i++]!;
            }
            return found;
        }
        case form.sum: {
            const rest = decodeColumn(bytes.subarray(head + bytesOfReference * others.length), rows);
            return sum(others, references(bytes).map(({ weight }) => weight), rest, width);
        }
    }
    const found = numbers(bytes, head, rows, width, bytes[1] === 1);
    // Both wrap around at their width.
    if (bytes[2] === form.steps) for (let i = 1; i < rows; ++i) found[i]! += found[i - 1]!;
    if (bytes[2] === form.ranks) for (let i = 0; i < rows; ++i) found[i] = i + 1 - found[i]!;
    return found;
}

function sum(others: readonly Column[], weights: readonly number[], rest: Column, width: number): Column {
    const rows = rest.length;
    if (width === 8 || [...others, rest].some((column) => column instanceof Float64Array)) {
        const total = Float64Array.from(rest, (told) => (told % 2 ? -(told + 1) / 2 : told / 2));
        others.forEach((other, number) => {
            for (let row = 0; row < rows; ++row) total[row]! += weights[number]! * other[row]!;
        });
        return narrowed(total, width);
    }
    // Only the lowest 32 bits of the sum matter.
    const total = new Uint32Array(rest);
    for (let row = 0; row < rows; ++row) if (total[row]) total[row] = (total[row]! >>> 1) ^ -(total[row]! & 1);
    others.forEach((column, number) => {
        const [other, weight] = [wordsOf(column)[0]!, weights[number]!];
        for (let row = 0; row < rows; ++row) total[row]! += Math.imul(weight, other[row]!);
    });
    return narrowed(total, width);
}

function narrowed(total: Uint32Array | Float64Array, width: number): Column {
    const found = columnOf(width, 0).constructor as new (values: Uint32Array | Float64Array) => Column;
    return total instanceof found ? total : new found(total);
}

function sparse(bytes: Uint8Array, rows: number): Column {
    const [width, gapWidth] = [bytes[0]!, bytes[3]!];
    const count = viewOf(bytes).getUint32(4, true);
    const gaps = numbers(bytes, head, count, gapWidth, false);
    const values = numbers(bytes, head + count * gapWidth, count, width, false);
    const found = columnOf(width, rows);
    for (let i = 0, row = -1; i < count; ++i) {
        row += gaps[i]!;
        found[row] = values[i]!;
    }
    return found;
}

// The rows that are not 0 in the first column, sorted by it, then by the next column, then by number. A radix sort:
// from the last column to the first, two bytes at a time, the lowest first.
export function orderBy(columns: readonly Column[]): Uint32Array {
    const first = columns[0]!;
    let count = 0;
    for (let row = 0; row < first.length; ++row) if (first[row]) ++count;
    let rows = new Uint32Array(count);
    for (let row = 0, at = 0; row < first.length; ++row) if (first[row]) rows[at++] = row;
    let next = new Uint32Array(rows.length);
    const keys = new Uint16Array(rows.length);
    const starts = new Uint32Array(0x10001);
    for (const words of columns.flatMap(wordsOf).reverse()) {
        let largest = 0;
        for (let row = 0; row < words.length; ++row) if (words[row]! > largest) largest = words[row]!;
        for (let shift = 0; shift < 32 && largest >>> shift; shift += 16) {
            starts.fill(0);
            for (let i = 0; i < rows.length; ++i) {
                const key = (words[rows[i]!]! >>> shift) & 0xffff;
                keys[i] = key;
                ++starts[key + 1]!;
            }
            for (let at = 1; at < starts.length; ++at) starts[at]! += starts[at - 1]!;
            for (let i = 0; i < rows.length; ++i) next[starts[keys[i]!]!++] = rows[i]!;
            [rows, next] = [next, rows];
        }
    }
    return rows;
}

// The values as words of four bytes, the higher words first. Loops over arrays of one type take half the time.
function wordsOf(column: Column): Uint32Array[] {
    if (!(column instanceof Float64Array)) return [column instanceof Uint32Array ? column : new Uint32Array(column)];
    return [column.map((value) => Math.floor(value / 2 ** 32)), column.map((value) => value % 2 ** 32)]
        .map((words) => new Uint32Array(words));
}

// Reads `count` numbers: the lowest bytes of all, then the next ones of all.
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

function columnOf(width: number, rows: number): Column {
    switch (width) {
        case 1:
            return new Uint8Array(rows);
        case 2:
            return new Uint16Array(rows);
        case 4:
            return new Uint32Array(rows);
        case 8:
            return new Float64Array(rows);
        default:
            throw new Error(`a column has the unknown width ${width}`);
    }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset);
