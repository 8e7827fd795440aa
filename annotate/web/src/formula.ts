// SPDX-License-Identifier: GPL-2.0-or-later
//
// Columns that readers define: a weighted sum of events and metrics, or one such sum divided by another. The formula is
// the name of its column, so that links have it as they have other columns.

import type { Metric } from "./data";

export interface Formula extends Metric {
    isFormula: true;
}

const mostCharacters = 200;
const mostDepth = 30;

// A weighted sum of events plus a number; a Ratio divides it by another one, if there is one.
interface Linear {
    weights: number[];
    constant: number;
}
interface Ratio {
    over: Linear;
    under: Linear | null;
}

const isNumber = ({ weights }: Linear): boolean => weights.every((weight) => !weight);
const scaled = ({ weights, constant }: Linear, by: number): Linear =>
    ({ weights: weights.map((weight) => weight * by), constant: constant * by });

function added(one: Ratio, other: Ratio, sign: number): Ratio {
    if (one.under || other.under) throw new Error("a sum of quotients is no column: divide the sums");
    const { over: { weights, constant } } = one;
    return {
        over: {
            weights: weights.map((weight, at) => weight + sign * other.over.weights[at]!),
            constant: constant + sign * other.over.constant,
        },
        under: null,
    };
}

function multiplied(one: Ratio, other: Ratio): Ratio {
    const [number, rest] = !one.under && isNumber(one.over) ? [one, other] : [other, one];
    if (number.under || !isNumber(number.over)) throw new Error("a product needs a number");
    return { over: scaled(rest.over, number.over.constant), under: rest.under };
}

function divided(one: Ratio, other: Ratio): Ratio {
    if (other.under || (one.under && !isNumber(other.over))) throw new Error("it can be divided only once");
    if (!isNumber(other.over)) return { over: one.over, under: other.over };
    if (!other.over.constant) throw new Error("it is divided by 0");
    return { over: scaled(one.over, 1 / other.over.constant), under: one.under };
}

const token = /\s*(?:(\d+(?:\.\d+)?(?:e\d+)?)|([A-Za-z_]\w*)|([-+*/()]))/gy;

// The column that a formula defines. Throws an error that says why a text is no formula.
export function formula(
    text: string, events: readonly string[], metric: (name: string) => Metric | undefined,
): Formula {
    if (text.length > mostCharacters) throw new Error("it is too long");
    const words: { number?: string; name?: string; sign?: string }[] = [];
    token.lastIndex = 0;
    while (text.slice(token.lastIndex).trim()) {
        const at = token.lastIndex;
        const found = token.exec(text);
        if (!found) throw new Error(`${text.slice(at).trim().slice(0, 20)} is not understood`);
        const [, number, name, sign] = found;
        words.push({ ...(number && { number }), ...(name && { name }), ...(sign && { sign }) });
    }
    let next = 0;
    const takes = (signs: string): string | null => {
        const sign = words[next]?.sign;
        if (!sign || !signs.includes(sign)) return null;
        ++next;
        return sign;
    };
    const nothing = (): number[] => events.map(() => 0);
    const named = (name: string): Ratio => {
        const known = metric(name);
        if (known) {
            return {
                over: { weights: [...known.numerator], constant: 0 },
                under: known.denominator && { weights: [...known.denominator], constant: 0 },
            };
        }
        const at = events.indexOf(name);
        if (at < 0) throw new Error(`${name} is no event and no metric`);
        return { over: { weights: nothing().fill(1, at, at + 1), constant: 0 }, under: null };
    };
    const factor = (depth: number): Ratio => {
        if (depth > mostDepth) throw new Error("it is too deep");
        if (takes("-")) {
            return multiplied({ over: { weights: nothing(), constant: -1 }, under: null }, factor(depth + 1));
        }
        if (takes("(")) {
            const inner = sum(depth + 1);
            if (!takes(")")) throw new Error(") is missing");
            return inner;
        }
        const word = words[next++];
        if (word?.name) return named(word.name);
        if (word?.number) return { over: { weights: nothing(), constant: Number(word.number) }, under: null };
        throw new Error(word ? `${word.sign} stands where a name or a number is wanted` : "something is missing");
    };
    const product = (depth: number): Ratio => {
        let found = factor(depth);
        for (let sign = takes("*/"); sign; sign = takes("*/")) {
            found = (sign === "*" ? multiplied : divided)(found, factor(depth));
        }
        return found;
    };
    function sum(depth: number): Ratio {
        let found = product(depth);
        for (let sign = takes("+-"); sign; sign = takes("+-")) {
            found = added(found, product(depth), sign === "+" ? 1 : -1);
        }
        return found;
    }
    const { over, under } = sum(0);
    if (next < words.length) throw new Error(`${Object.values(words[next]!)[0]} is not expected`);
    if (over.constant || under?.constant) throw new Error("a number alone is no cost: multiply or divide by it");
    if (isNumber(over)) throw new Error("it is always 0");
    return {
        name: text, heading: text, title: text, numerator: over.weights, denominator: under?.weights ?? null,
        isShare: false, isTime: false, moreIsBetter: false, share: null, isFormula: true,
    };
}
