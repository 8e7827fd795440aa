// SPDX-License-Identifier: GPL-2.0-or-later
//
// The scope of a function, by its name: for C++, its class or namespace; for Rust, its type, trait or module.

// Empty if it has none. Brackets contain arguments of templates and calls, which are no part of the path.
export function scopeOf(name: string): string {
    const path = pathIn(name);
    // In Rust's function::<Type>, the last part is no name.
    const last = colons(path).filter((at) => path[at + 2] !== "<").at(-1);
    if (last === undefined) return "";
    const scope = path.slice(0, last);
    // Rust's <Type as Trait>::method belongs to the type.
    const impl = /^<(.*)>$/s.exec(scope);
    if (!impl || closes(scope, 0) !== scope.length - 1) return scope;
    const as = atTop(impl[1]!, " as ");
    return as < 0 ? impl[1]! : impl[1]!.slice(0, as);
}

const open = "<([{";

// An arrow is no bracket.
const isClosing = (text: string, at: number): boolean =>
    ">)]}".includes(text[at]!) && !(text[at] === ">" && text[at - 1] === "-");

// The name without its return type and arguments.
function pathIn(name: string): string {
    const operator = /(^|::| )operator(?![A-Za-z0-9_])/.exec(name);
    const end = operator ? operator.index + operator[0].length : name.length;
    let start = 0;
    let depth = 0;
    for (let at = 0; at < end; ++at) {
        const one = name[at]!;
        if (depth === 0 && one === "(" && at > start && !name.startsWith("(anonymous namespace)", at)) {
            const behind = closes(name, at) + 1;
            // The name of a local class or lambda continues behind the arguments of its function.
            if (!behind || !/^( const)?&*::/.test(name.slice(behind))) return name.slice(start, at);
        }
        if (open.includes(one)) ++depth;
        else if (isClosing(name, at)) depth = Math.max(depth - 1, 0);
        else if (depth === 0 && one === " " && name[at + 1] === "[") return name.slice(start, at);
        else if (depth === 0 && one === " " && at + 1 < end) start = at + 1;
    }
    return name.slice(start, end);
}

// The positions of `::` outside of brackets.
function colons(path: string): number[] {
    const found: number[] = [];
    for (let from = 0, at = atTop(path, "::"); at >= 0; at = atTop(path, "::", from)) {
        found.push(at);
        from = at + 2;
    }
    return found;
}

function atTop(text: string, wanted: string, from = 0): number {
    let depth = 0;
    for (let at = 0; at < text.length; ++at) {
        if (depth === 0 && at >= from && text.startsWith(wanted, at)) return at;
        if (open.includes(text[at]!)) ++depth;
        else if (isClosing(text, at)) depth = Math.max(depth - 1, 0);
    }
    return -1;
}

// The position of the bracket that closes the one at `from`; -1 if there is none.
function closes(text: string, from: number): number {
    let depth = 0;
    for (let at = from; at < text.length; ++at) {
        if (open.includes(text[at]!)) ++depth;
        else if (isClosing(text, at) && --depth === 0) return at;
    }
    return -1;
}
