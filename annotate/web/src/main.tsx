// SPDX-License-Identifier: GPL-2.0-or-later

import { render } from "preact";
import { App } from "./app";
import { Report } from "./report";

const root = document.getElementById("root")!;

async function start(): Promise<void> {
    if (typeof DecompressionStream === "undefined") {
        throw new Error("this browser is too old: the page needs one from 2023 or later");
    }
    const report = await Report.open();
    root.textContent = "";
    render(<App report={report} />, root);
    document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
}

start().catch((error: unknown) => {
    root.textContent = `The report cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
});
