// SPDX-License-Identifier: GPL-2.0-or-later
//
// node speedscope.js BUNDLE FILE
//
// Has speedscope's own importer read FILE, and prints of each profile in it a line of JSON: its name, its total, the
// self weights by function, and how many weights are no numbers. BUNDLE is the program that its page loads; the page
// itself is not shown, so there is nothing behind the browser's objects.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// Node would print the whole program beside its mistake.
process.on("uncaughtException", (error) => {
    console.error(error.message);
    process.exit(1);
});
process.on("unhandledRejection", (error) => {
    console.error(error.message);
    process.exit(1);
});

const [bundle, file] = process.argv.slice(2);
const program = fs.readFileSync(bundle, "utf8");

// Minified names differ from release to release, names of exports do not: {importProfileGroupFromText:()=>xyz}.
const [, module_name] = /([\w$]+)=\{\};[\w$]+\(\1,\{[^}]*importProfileGroupFromText:/.exec(program);
const escaped = module_name.replace(/\$/g, "\\$&");
const [, initialize] = new RegExp(`\\(([\\w$]+)\\(\\),${escaped}\\)`).exec(program);
// In place of the last statements, which show the page.
const page = program.lastIndexOf("console.log(`speedscope v");
const importer = `globalThis.importer=(${initialize}(),${module_name});})();`;

const anything = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => "" : anything),
    set: () => true,
    apply: () => anything,
    construct: () => anything,
});
const browser = {
    console: { ...console, log: () => {} },
    addEventListener: () => {},
    document: anything,
    localStorage: anything,
    location: { hash: "", href: "", protocol: "file:" },
    matchMedia: () => ({ matches: false, addEventListener: () => {}, addListener: () => {} }),
    navigator: { userAgent: "node", platform: "" },
    performance, requestAnimationFrame: () => 0, setTimeout,
    TextDecoder, TextEncoder, URL, URLSearchParams, WebAssembly,
};
browser.window = browser.self = browser.globalThis = browser;
vm.createContext(browser);
vm.runInContext(program.slice(0, page) + importer, browser);

browser.importer.importProfileGroupFromText(path.basename(file), fs.readFileSync(file, "utf8")).then((group) => {
    for (const profile of group.profiles) {
        const self = {};
        let not_numbers = 0;
        profile.forEachFrame((frame) => {
            self[frame.name] = (self[frame.name] || 0) + frame.getSelfWeight();
            not_numbers += Number.isNaN(frame.getSelfWeight()) || Number.isNaN(frame.getTotalWeight());
        });
        console.log(JSON.stringify({ name: profile.getName(), total: profile.getTotalWeight(), self, not_numbers }));
    }
});
