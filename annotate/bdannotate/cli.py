# SPDX-License-Identifier: GPL-2.0-or-later
"""Options, and which status a run ends with: 0 good, 1 a check failed, 2 an error."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence

from .check import check, sum_violations
from .columns import Side, default_columns, parse_column, parse_sort_key, SortKey
from .errors import UserError
from .functions_view import function_table
from .graph import build
from .metrics import metrics_of
from .model import Profile
from .parser import Detail, parse
from .progress import Progress
from .report import entries, select
from .text import Table

EXIT_GOOD = 0
EXIT_VIOLATION = 1
EXIT_ERROR = 2


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise UserError(f"{message} (see --help)")


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="bd_annotate",
        description="Reports on profiles of bdgrind, Callgrind and Cachegrind.",
        allow_abbrev=False,
    )
    parser.add_argument("profile", help="the profile, '-' for standard input")
    parser.add_argument("--check", action="store_true",
                        help="check that costs add up along calls; status 1 and the first violation")
    parser.add_argument("--show", metavar="A,B:self,C:incl", help="the columns to show")
    parser.add_argument("--sort", metavar="A[:self|:incl][:PERCENT],...", help="what to sort by")
    parser.add_argument("--threshold", type=float, default=1.0, metavar="PERCENT",
                        help="leave out what has less of the first sort column's total [1]")
    parser.add_argument("--width", type=int, help="the width of the output")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    try:
        options = _options(argv)
        profile = parse(options.profile, Detail.FUNCTIONS, Progress("reading"))
        if options.check:
            return _check(profile)
        lines = _report(profile, options)
        print("\n".join(lines))
        sys.stdout.flush()
        return EXIT_GOOD
    except UserError as error:
        print(f"bd_annotate: {error}", file=sys.stderr)
        return EXIT_ERROR
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_GOOD


def _check(profile: Profile) -> int:
    result = check(profile)
    source = profile.parts[0].source
    if result.violation:
        print(f"bd_annotate: {result.violation}", file=sys.stderr)
        return EXIT_VIOLATION
    print(f"{source}: {result.functions} functions, {len(profile.events)} events: all costs add up")
    for title, functions in (("roots", result.roots), ("called and root", result.also_called)):
        names = ", ".join(function.name for function in functions[:8])
        if functions:
            print(f"  {title}: {len(functions)} ({names}{', ...' if len(functions) > 8 else ''})")
    return EXIT_GOOD


def _report(profile: Profile, options: argparse.Namespace) -> list[str]:
    for violation in sum_violations(profile):
        if ": totals:" in violation:
            raise UserError(violation)
        print(f"bd_annotate: note: {violation}", file=sys.stderr)
        break
    graph = build(profile)
    metrics = metrics_of(profile)
    totals = profile.totals()
    default_side = Side.INCLUSIVE if profile.calls else Side.SELF
    columns = default_columns(metrics, bool(profile.calls))
    if options.show:
        columns = [parse_column(text, metrics, default_side) for text in options.show.split(",")]
    keys = [SortKey(columns[0], None)]
    if options.sort:
        keys = [parse_sort_key(text, metrics, default_side) for text in options.sort.split(",")]
    chosen = select(entries(graph), keys, totals, options.threshold)
    width = options.width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else 120)
    total_rows = [[f"{total:,}", event, metrics[event].title] for event, total in zip(profile.events, totals)]
    return [
        f"Command: {profile.parts[0].command}",
        *(f"{name}: {text}" for name, text in profile.parts[0].descriptions),
        "",
        *Table([["total", "event", "meaning"]], total_rows).lines(),
        "",
        *function_table(chosen, columns, totals, width, bool(options.show)),
    ]
