// SPDX-License-Identifier: GPL-2.0-or-later
//
// All functions of an object file or of a folder of source files: hidden, merged into their callers, or joined in one
// frame. Functions that only start the program are excepted, as otherwise nothing might be left.

import type { Facts } from "./data";
import { baseName } from "./format";

export const acts = ["hide", "merge", "join"] as const;
export const kinds = ["object", "folder"] as const;

export interface Whole {
    act: (typeof acts)[number];
    of: (typeof kinds)[number];
    name: string;
}

// The text in a link. Back: wholeOf(); null if the report has no such functions.
export const textOf = ({ act, of, name }: Whole): string => `${act} ${of} ${name}`;

export function wholeOf(text: string, facts: Facts): Whole | null {
    const [word = "", kind = "", ...rest] = text.split(" ");
    const [act, of] = [acts.find((one) => one === word), kinds.find((one) => one === kind)];
    const whole = act && of ? { act, of, name: rest.join(" ") } : null;
    return whole?.name && functionsIn(whole, facts).length ? whole : null;
}

export const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);

// The functions of an object file or folder, with those of the folders in it.
export function functionsIn({ of, name }: Pick<Whole, "of" | "name">, facts: Facts): number[] {
    const above = new Set(facts.above);
    const isIn = of === "object" ? facts.objects.map((object) => object === name)
        : facts.files.map((file) => file.startsWith(name));
    return facts.functions.flatMap(([, object, file], fn) =>
        (isIn[of === "object" ? object : file] && !above.has(fn) ? [fn] : []));
}

// The base name of an object file; the last two parts of a folder, with a slash at the end.
export function shortName({ of, name }: Pick<Whole, "of" | "name">): string {
    return of === "object" ? baseName(name) : name.split("/").slice(-3).join("/");
}
