// SPDX-License-Identifier: GPL-2.0-or-later
//
// The words by which links refer to functions, files and data: their names, so that a link means the same in another
// report about the program. Everything that a link names is looked up here before a view gets it.

import type { Facts } from "./data";
import { formula } from "./formula";
import { knowsLoops } from "./needs";
import { wholeOf, type Whole } from "./whole";

// Maps numbers to unique keys and back. A key is the name; things of the same name have more in their keys.
class Keys {
    private readonly numbers = new Map<string, number>();
    private readonly keys: string[];

    constructor(names: readonly string[], more: (number: number) => string) {
        const seen = new Map<string, number>();
        for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1);
        this.keys = names.map((name, number) => {
            const full = seen.get(name) === 1 ? name : `${name}|${more(number)}`;
            let key = full;
            for (let again = 2; this.numbers.has(key); ++again) key = `${full}|${again}`;
            this.numbers.set(key, number);
            return key;
        });
    }

    key(number: number): string {
        return this.keys[number] ?? "";
    }

    number(key: string): number | null {
        return this.numbers.get(key) ?? null;
    }
}

// The number of a node in links: that of its context; for a loop above a context, plus the number of contexts times how
// many loops above it is, which must be less than this.
const mostInner = 64;

export type Kind = "function" | "file" | "data";

export class Links {
    private readonly known = new Map<Kind, Keys>();

    constructor(private readonly facts: Facts) {}

    key(kind: Kind, number: number): string {
        return this.of(kind).key(number);
    }

    number(kind: Kind, key: string): number | null {
        return this.of(kind).number(key);
    }

    // Whether this is a metric, or a formula of metrics and events.
    isColumn(name: string): boolean {
        if (this.isMetric(name)) return true;
        try {
            const { events, metrics } = this.facts;
            formula(name, events, (one) => metrics.find((metric) => metric.name === one));
            return true;
        } catch {
            return false;
        }
    }

    isMetric(name: string): boolean {
        return this.facts.metrics.some((metric) => metric.name === name);
    }

    isNode(node: number): boolean {
        return node < (this.facts.tables["tree"]?.rows ?? 0) * (knowsLoops(this.facts) ? mostInner : 1);
    }

    whole(text: string): Whole | null {
        return wholeOf(text, this.facts);
    }

    isMember(member: number): boolean {
        return member < this.facts.members.length;
    }

    private of(kind: Kind): Keys {
        let keys = this.known.get(kind);
        if (!keys) this.known.set(kind, (keys = this.made(kind)));
        return keys;
    }

    private made(kind: Kind): Keys {
        const { functions, files, objects, data } = this.facts;
        if (kind === "file") return new Keys(files, () => "");
        if (kind === "data") return new Keys((data?.groups ?? []).map(({ label }) => label), () => "");
        return new Keys(functions.map(([name]) => name), (fn) => {
            const [, object, file] = functions[fn]!;
            return `${files[file] ?? ""}|${objects[object] ?? ""}`;
        });
    }
}
