// SPDX-License-Identifier: GPL-2.0-or-later
//
// What groups of data are listed with, and by.

import type { Costs } from "../costs";
import type { DataGroup } from "../data";
import type { MetricColumn, Report } from "../report";

const mostCompared = 4; // each has its change beside it

export function dataColumns(report: Report): MetricColumn[] {
    const { columns } = report.facts.data!;
    return columns.flatMap((name, at): MetricColumn[] => {
        const metric = report.metric(name);
        const isShown = !report.comparing || at < mostCompared - 1 || at === columns.length - 1;
        return metric && isShown ? [{ metric, kind: "self" }] : [];
    });
}

// What data is ranked by: what it loses.
export const ranksBy = (columns: MetricColumn[]): MetricColumn | undefined => columns[1] ?? columns[0];

export interface Listed {
    number: number;
    group: DataGroup;
    costs: Costs;
}
