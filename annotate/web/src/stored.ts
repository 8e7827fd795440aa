// SPDX-License-Identifier: GPL-2.0-or-later
//
// Settings that outlast the page. Browsers may deny pages from the disk this storage.

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
        // The setting is lost when the page is closed.
    }
}
