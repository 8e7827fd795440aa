// SPDX-License-Identifier: GPL-2.0-or-later
//
// browser.mjs: opens a report in Chromium, without a network, and tells as JSON what was there. Standard input is
// {file, width, scheme, old, opens, steps: [{reload, fragment, keys, read}]}: whether the browser is an old one, and
// whether there is enough of the report to open it; and of each step, whether to reload, a fragment to go to, keys to
// press, and an expression whose value is wanted.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const wanted = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// All that axe does by default, and what it still calls experimental of names.
const rules = { rules: { "label-content-name-mismatch": { enabled: true } } };
const browser = await chromium.launch({
    executablePath: wanted.chromium,
    args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ],
});
const context = await browser.newContext({
    viewport: { width: wanted.width, height: 860 },
    colorScheme: wanted.scheme,
    offline: true,
    bypassCSP: false,
});
if (wanted.old) await context.addInitScript(() => { delete Uint8Array.fromBase64; });
const page = await context.newPage();
const errors = [];
page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
});
page.on("pageerror", (error) => errors.push(String(error)));
page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("file:") && !url.startsWith("blob:")) errors.push(`asked for ${url}`);
});
await page.goto(`file://${wanted.file}`);
let ready = 0;
if (wanted.opens) {
    await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
    ready = Number(await page.evaluate("document.documentElement.dataset.ready"));
    await page.waitForSelector("html[data-loaded]", { timeout: 120_000 });
}
// The page draws what has changed with the next frame, and what it has measured by then with the one after that.
const drawn = () => page.evaluate(`new Promise((done) => {
    let frames = 4;
    const next = () => (frames-- ? requestAnimationFrame(next) : setTimeout(done));
    next();
})`);
const results = [];
for (const step of wanted.steps) {
    if (step.reload) {
        await page.reload();
        await page.waitForSelector("html[data-loaded]", { timeout: 120_000 });
    }
    if (step.fragment) {
        await page.evaluate((fragment) => { location.hash = fragment; }, step.fragment);
        await drawn();
        await page.waitForSelector("html:not([data-busy])");
        await drawn();
    }
    for (const key of step.keys ?? []) await page.keyboard.press(key);
    if (step.keys) await drawn();
    const value = step.read ? await page.evaluate(step.read) : null;
    let violations = [];
    if (step.axe) {
        // By the debugger's way in: the page's own policy lets no foreign script run.
        violations = await page.evaluate(`${axe}; axe.run(${JSON.stringify(rules)}).then((found) =>
            found.violations.map((violation) =>
                violation.id + ": " + violation.nodes.map((node) => node.html).slice(0, 3).join(" ")))`);
    }
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (step.picture) await page.screenshot({ path: step.picture });
    results.push({ value, violations, overflow });
}
await browser.close();
process.stdout.write(JSON.stringify({ ready, errors, results }));
