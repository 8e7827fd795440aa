# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as CSV: a row per function, with the columns of the text report."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from bdcommon.console import printable

from ..analyses.code.report import FunctionRow, Report
from ..analyses.comparison.diff import Diff
from ..analyses.per_file import PerFile
from ..model.metrics import Number

# None is an empty cell.
Cells = Sequence[str | Number | None]

_FORMULA_STARTS = ("=", "+", "-", "@")
_NAME_COLUMNS = ("function", "file", "object", "cycle")


def profile_csv(report: Report) -> str:
    columns = report.selection.columns
    rows: list[Cells] = [[*_NAME_COLUMNS, "calls", *(column.name for column in columns)]]
    for entry in report.entries:
        values = [entry.value(column) for column in columns]
        rows.append([*_csv_name(entry), entry.calls, *values])
    return to_csv(rows)


def diff_csv(diff: Diff) -> str:
    columns = diff.selection.columns
    names = [f"{column.name}:{side}" for column in columns for side in ("before", "after")]
    rows: list[Cells] = [[*_NAME_COLUMNS, *names]]
    for change in diff.functions:
        values = [
            entry.value(column) for column in columns for entry in (change.before, change.after)
        ]
        rows.append([*_csv_name(change.after), *values])
    return to_csv(rows)


def per_file_csv(found: PerFile) -> str:
    statistics = ("min", "mean", "max", "spread", *found.sources)
    names = [f"{key.column.name}:{name}" for key in found.selection.keys for name in statistics]
    rows: list[Cells] = [[*_NAME_COLUMNS, *names]]
    for entry, spreads in found.functions:
        values: list[Number | None] = []
        for one in spreads:
            if one is None:
                values += [None] * len(statistics)
            else:
                values += [one.minimum, one.mean, one.maximum, one.spread, *one.values]
        rows.append([*_csv_name(entry), *values])
    return to_csv(rows)


def _csv_name(entry: FunctionRow) -> Cells:
    name = f"<cycle {entry.cycle}>" if entry.is_cycle else entry.function.name
    file, module = ("", "") if entry.is_cycle else (entry.function.file, entry.function.object)
    return [name, file, module, entry.cycle or None]


def to_csv(rows: Sequence[Cells]) -> str:
    """Rows as CSV. Texts are made harmless for terminals and spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([_plain(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _plain(text: str) -> str:
    """The text such that no spreadsheet takes it for a formula, as names may be from an untrusted profile."""
    text = printable(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
