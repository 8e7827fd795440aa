// SPDX-License-Identifier: GPL-2.0-or-later
//
// browser.mjs KIND PROGRAM: opens reports in Chromium or Firefox, without a network, and tells as JSON what was there.
// Each line of standard input is {file, width, scheme, old, opens, steps: [{reload, fragment, mouse, keys, read}]}:
// whether the browser is an old one, and whether there is enough of the report to open it; and of each step, whether
// to reload, a fragment to go to, what the mouse does ([what, selector, x, y, more], from the element's upper left
// corner), keys to press, and an expression whose value is wanted. Each is answered with a line.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [kind, executablePath] = process.argv.slice(2);
const isFirefox = kind === "firefox"; // which is spoken to by WebDriver BiDi
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// All that axe does by default, and what it still calls experimental of names.
const rules = { rules: { "label-content-name-mismatch": { enabled: true } } };
const browser = await puppeteer.launch({
    browser: isFirefox ? "firefox" : "chrome",
    executablePath,
    args: isFirefox ? [] : [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
        // One process draws all pages: starting one takes up to a fifth of the time of a page.
        "--disable-site-isolation-trials", "--renderer-process-limit=1",
    ],
    // A process for files stays when its last page is closed, and none is started before it is needed.
    extraPrefsFirefox: { "dom.ipc.keepProcessesAlive.file": 1, "dom.ipc.processPrelaunch.enabled": false },
});

// Nothing is known of pages that were open before. Where what they have stored can be cleared, that takes half of the
// time of a new context, which is a window of its own.
async function open(wanted) {
    const context = isFirefox ? await browser.createBrowserContext() : browser.defaultBrowserContext();
    const page = await context.newPage();
    try {
        if (!isFirefox) await clearStored(page);
        return await inPage(page, wanted);
    } finally {
        await (isFirefox ? context : page).close();
    }
}

async function clearStored(page) {
    const session = await page.createCDPSession();
    await session.send("Storage.clearDataForOrigin", { origin: "file://", storageTypes: "all" });
    await session.detach();
}

async function inPage(page, wanted) {
    // Firefox before 141 cannot turn the screen, which comes along; the window's size is set by then.
    await page.setViewport({ width: wanted.width, height: 860 }).catch((error) => {
        if (!isFirefox || !/setScreenOrientationOverride.*unknown command/s.test(String(error))) throw error;
    });
    if (isFirefox) {
        // Not all of its versions let a test choose the scheme.
        await page.evaluateOnNewDocument((scheme) => {
            const { matchMedia } = window;
            window.matchMedia = (query) =>
                (query.includes("color-scheme") ? { matches: query.includes(scheme) } : matchMedia.call(window, query));
        }, wanted.scheme);
    } else {
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: wanted.scheme }]);
        await page.setOfflineMode(true);
    }
    if (wanted.old) await page.evaluateOnNewDocument(() => { delete Uint8Array.fromBase64; });
    const errors = [];
    page.on("console", (message) => {
        if (["error", "warn"].includes(message.type())) errors.push(message.text());
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("request", (request) => {
        const url = request.url();
        if (!/^(file|blob|data):/.test(url)) errors.push(`asked for ${url}`);
    });
    await page.goto(`file://${wanted.file}`);
    let ready = 0;
    if (wanted.opens) {
        await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
        ready = Number(await page.evaluate("document.documentElement.dataset.ready"));
        await page.waitForSelector("html[data-loaded]", { timeout: 120_000 });
    }
    const width = await page.evaluate("innerWidth");
    if (width !== wanted.width) errors.push(`the window is ${width} wide`);
    const results = [];
    for (const step of wanted.steps) results.push(await take(page, step));
    return { ready, errors, results };
}

// As "Alt+ArrowLeft".
async function press(page, keys) {
    const [last, ...modifiers] = keys === "+" ? ["+"] : keys.split("+").reverse();
    for (const modifier of modifiers) await page.keyboard.down(modifier);
    await page.keyboard.press(last);
    for (const modifier of modifiers) await page.keyboard.up(modifier);
}

const acts = {
    click: (page, x, y) => page.mouse.click(x, y),
    twice: (page, x, y) => page.mouse.click(x, y, { count: 2 }),
    menu: (page, x, y) => page.mouse.click(x, y, { button: "right" }),
    move: (page, x, y) => page.mouse.move(x, y),
    async wheel(page, x, y, { modifier, ...delta }) {
        await page.mouse.move(x, y);
        if (modifier) await page.keyboard.down(modifier);
        await page.mouse.wheel(delta);
        if (modifier) await page.keyboard.up(modifier);
    },
    async drag(page, x, y, { by: [right, down] }) {
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x + right / 2, y + down / 2);
        await page.mouse.move(x + right, y + down);
        await page.mouse.up();
    },
};

// The page draws what has changed with the next frame, and what it has measured by then with the one after that.
const drawn = (page) => page.evaluate(`new Promise((done) => {
    let frames = 4;
    const next = () => (frames-- ? requestAnimationFrame(next) : setTimeout(done));
    next();
})`);

async function take(page, step) {
    if (step.reload) {
        await page.reload();
        await page.waitForSelector("html[data-loaded]", { timeout: 120_000 });
    }
    if (step.fragment) {
        await page.evaluate((fragment) => { location.hash = fragment; }, step.fragment);
        await drawn(page);
        await page.waitForSelector("html:not([data-busy])");
        await drawn(page);
    }
    if (step.mouse) {
        const [what, selector, x, y, more] = step.mouse;
        const [left, top] = await page.evaluate((selector) => {
            const bounds = document.querySelector(selector).getBoundingClientRect();
            return [bounds.left, bounds.top];
        }, selector);
        await acts[what](page, left + x, top + y, more);
        await drawn(page);
    }
    for (const keys of step.keys ?? []) await press(page, keys);
    if (step.keys) await drawn(page);
    const value = (step.read ? await page.evaluate(step.read) : null) ?? null;
    let violations = [];
    if (step.axe) {
        // By the debugger's way in: the page's own policy lets no foreign script run.
        if (!await page.evaluate("!!globalThis.axe")) await page.evaluate(axe);
        violations = await page.evaluate(`axe.run(${JSON.stringify(rules)}).then((found) =>
            found.violations.map((violation) =>
                violation.id + ": " + violation.nodes.map((node) => node.html).slice(0, 3).join(" ")))`);
    }
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (step.picture) await page.screenshot({ path: step.picture });
    return { value, violations, overflow };
}

for await (const line of createInterface({ input: process.stdin })) {
    const answer = await open(JSON.parse(line)).catch((error) => ({ failed: String(error?.stack ?? error) }));
    process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
