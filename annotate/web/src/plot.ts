// SPDX-License-Identifier: GPL-2.0-or-later
//
// The coordinates in the plot of a curve: sizes of caches on a logarithmic axis, misses on a linear one.

import type { Curve } from "./data";

export interface Frame {
    width: number; // of the picture
    height: number;
    left: number; // like the next three, a margin around the plot
    right: number;
    top: number;
    bottom: number;
}

export class Plot {
    readonly last: number; // the number of the largest size shown
    readonly most: number; // misses at the upper end

    constructor(readonly frame: Frame, readonly sizes: readonly number[], curves: readonly Curve[]) {
        // One doubling beyond the last change, and at least two doublings in total.
        const longest = Math.max(...curves.map(({ misses }) => misses.length));
        this.last = Math.min(Math.max(longest + 3, 8), sizes.length - 1);
        this.most = Math.max(1, ...curves.map(({ misses }) => misses[0] ?? 0));
    }

    x(size: number): number {
        const { left, right, width } = this.frame;
        const share = Math.log2(size / this.sizes[0]!) / Math.log2(this.sizes[this.last]! / this.sizes[0]!);
        return left + share * (width - left - right);
    }

    y(misses: number): number {
        const { top, bottom, height } = this.frame;
        return top + (1 - misses / this.most) * (height - top - bottom);
    }

    points(curve: Curve): string {
        return this.sizes.slice(0, this.last + 1)
            .map((size, at) => `${this.x(size).toFixed(1)},${this.y(missesAt(curve, at)).toFixed(1)}`).join(" ");
    }

    // The number of the size nearest to x.
    nearest(x: number): number {
        let best = 0;
        for (let at = 1; at <= this.last; ++at) {
            if (Math.abs(this.x(this.sizes[at]!) - x) < Math.abs(this.x(this.sizes[best]!) - x)) best = at;
        }
        return best;
    }

    // Powers of two, with room for their labels.
    sizeTicks(room: number): number[] {
        const first = Math.ceil(Math.log2(this.sizes[0]!));
        const last = Math.floor(Math.log2(this.sizes[this.last]!) + 1e-9);
        const { left, right, width } = this.frame;
        const most = Math.max(2, Math.floor((width - left - right) / room));
        const step = Math.max(1, Math.ceil((last - first + 1) / most));
        const found: number[] = [];
        for (let power = first; power <= last; power += step) found.push(2 ** power);
        return found;
    }

    missTicks(): number[] {
        const step = niceStep(this.most / 4);
        const found: number[] = [];
        for (let misses = 0; misses <= this.most; misses += step) found.push(misses);
        return found;
    }
}

export const missesAt = (curve: Curve, at: number): number =>
    curve.misses[Math.min(at, curve.misses.length - 1)] ?? 0;

function niceStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}
