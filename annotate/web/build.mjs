// SPDX-License-Identifier: GPL-2.0-or-later
//
// build.mjs OUTPUT: the report's page without data, in one file. The same sources and packages give the same bytes.

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Where the description of the data is at hand, its types are made anew.
const types = join(here, "page_types.py");
if (existsSync(join(here, "..", "bdannotate"))) {
    writeFileSync(join(here, "src", "schema.ts"), execFileSync("python3", [types]));
}

const common = {
    bundle: true, minify: true, write: false, legalComments: "none", absWorkingDir: here, logLevel: "warning",
};
const bundle = async (options) => (await build({ ...common, ...options })).outputFiles[0].text.trim();

const script = await bundle({
    entryPoints: ["src/main.tsx"],
    format: "iife",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "ascii",
});
const style = await bundle({ entryPoints: ["src/style.css"] });
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

// Nothing is loaded, sent or run but what is in the file.
const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");

const notices = ["preact", "d3-hierarchy"].map((name) => {
    const { version } = JSON.parse(read("node_modules", name, "package.json"));
    return `Contains ${name} ${version}:\n\n${read("node_modules", name, "LICENSE").trim()}`;
});

const page = [
    ["<!-- notices -->", `<!--\n${notices.join("\n\n").replaceAll("--", "- -")}\n-->`],
    ['content="csp"', `content="${policy}"`],
    ["<style>style</style>", `<style>${style}</style>`],
    ["<script>script</script>", `<script>${script}</script>`],
].reduce((text, [from, to]) => text.replace(from, () => to), read("src", "page.html"));
writeFileSync(process.argv[2], page);
