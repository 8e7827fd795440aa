// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stays for the next time; browsers may refuse it to a page from the disk.

export function stored(name: string): string | null {
    try {
        return localStorage.getItem(`bdgrind ${name}`);
    } catch {
        return null;
    }
}

export function store(name: string, value: string): void {
    try {
        localStorage.setItem(`bdgrind ${name}`, value);
    } catch {
        // It is as before the next time.
    }
}
