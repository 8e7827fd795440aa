// SPDX-License-Identifier: GPL-2.0-or-later
//
// Paints pictures: on a canvas for the screen, or as SVG for a file.

export interface Painter {
    fill(x: number, y: number, width: number, height: number, colour: string): void;
    outline(x: number, y: number, width: number, height: number, colour: string, thick: number): void;
    // The text begins at x; its middle is at y.
    write(text: string, x: number, y: number, colour: string): void;
    measure(text: string): number;
}

export class CanvasPainter implements Painter {
    // scale: pixels of the canvas for each pixel of the page.
    constructor(private readonly context: CanvasRenderingContext2D, width: number, height: number, scale: number,
        font: string) {
        const { canvas } = context;
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        context.scale(scale, scale);
        context.font = font;
        context.textBaseline = "middle";
    }

    fill(x: number, y: number, width: number, height: number, colour: string): void {
        this.context.fillStyle = colour;
        this.context.fillRect(x, y, width, height);
    }

    outline(x: number, y: number, width: number, height: number, colour: string, thick: number): void {
        this.context.strokeStyle = colour;
        this.context.lineWidth = thick;
        this.context.strokeRect(x, y, width, height);
    }

    write(text: string, x: number, y: number, colour: string): void {
        this.context.fillStyle = colour;
        this.context.fillText(text, x, y);
    }

    measure(text: string): number {
        return this.context.measureText(text).width;
    }
}

const escaped = (text: string): string =>
    // XML allows no other control characters, not even as references.
    text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
        .replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]!);

const widthOfCharacter = 6.4; // pixels, at 12 pixels

export class SvgPainter implements Painter {
    private readonly parts: string[] = [];

    constructor(private readonly width: number, private readonly height: number) {}

    fill(x: number, y: number, width: number, height: number, colour: string): void {
        this.parts.push(`<rect ${box(x, y, width, height)} fill="${colour}"/>`);
    }

    outline(x: number, y: number, width: number, height: number, colour: string, thick: number): void {
        this.parts.push(
            `<rect ${box(x, y, width, height)} fill="none" stroke="${colour}" stroke-width="${thick}"/>`,
        );
    }

    write(text: string, x: number, y: number, colour: string): void {
        this.parts.push(`<text x="${round(x)}" y="${round(y + 4)}" fill="${colour}">${escaped(text)}</text>`);
    }

    measure(text: string): number {
        return text.length * widthOfCharacter;
    }

    text(): string {
        const { width, height } = this;
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `
            + `viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">\n${this.parts.join("\n")}\n`
            + "</svg>\n";
    }
}

const round = (value: number): string => String(Math.round(value * 10) / 10);
const box = (x: number, y: number, width: number, height: number): string =>
    `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
