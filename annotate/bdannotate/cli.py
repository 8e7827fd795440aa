# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_annotate and says how it went: status 0 good, 1 a check failed, 2 an error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from . import text_report
from .check import check
from .columns import without_rates
from .errors import UserError
from .diff import make_diff
from .load import default_profile, load, load_sum
from .merge import Renaming, add, common_events, parse_substitution, project
from .model import Profile
from .options import Options, parse_options
from .parser import Detail, parse
from .progress import Progress
from .report import Report, Selection, make_report, make_selection
from .text import Page

EXIT_GOOD = 0
EXIT_FAILED = 1
EXIT_ERROR = 2

_DEFAULT_WIDTH = 120


def main(argv: Sequence[str]) -> int:
    try:
        status = _run(parse_options(argv))
        sys.stdout.flush()
        return status
    except UserError as error:
        print(f"bd_annotate: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_GOOD


def _run(options: Options) -> int:
    paths = options.profiles or (default_profile(),)
    if options.mode == "check":
        return max(_check(path) for path in paths)
    if options.mode == "diff":
        return _diff(paths, options)
    profile = load_sum(paths, _detail(options), _renaming(options))
    report = make_report(profile, _selection(profile, options))
    _print(_text(report, options, _page(options)))
    return EXIT_GOOD


def _diff(paths: Sequence[str], options: Options) -> int:
    before, after = (load(path, Detail.FUNCTIONS, _renaming(options)) for path in paths)
    events = common_events(before, after)
    for profile in (before, after):
        left_out = [event for event in profile.events if event not in events]
        if left_out:
            print(
                f"bd_annotate: note: only {profile.parts[0].source} counts "
                f"{' '.join(left_out)}: not compared", file=sys.stderr,
            )
    before, after = project(before, events), project(after, events)
    selection = _selection(add(before, after), options)
    if not options.show:
        selection = replace(selection, columns=without_rates(selection.columns))
    diff = make_diff(before, after, selection)
    _print(text_report.diff_report(diff, _page(options)))
    return EXIT_GOOD


def _detail(options: Options) -> Detail:
    if options.instructions:
        return Detail.INSTRUCTIONS
    return Detail.LINES if options.annotate or options.format == "json" else Detail.FUNCTIONS


def _renaming(options: Options) -> Renaming:
    return Renaming(
        tuple(map(parse_substitution, options.mod_filename)),
        tuple(map(parse_substitution, options.mod_funcname)),
    )


def _selection(profile: Profile, options: Options) -> Selection:
    return make_selection(
        profile, options.show, options.sort, options.threshold, options.inclusive,
        options.function,
    )


def _page(options: Options) -> Page:
    terminal = sys.stdout.isatty()
    width = options.width
    if width is None:
        width = _DEFAULT_WIDTH
        if terminal:
            width = shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns
    wanted = options.colour == "yes" or (
        options.colour == "auto" and terminal and "NO_COLOR" not in os.environ
    )
    exact = bool(options.show) if options.exact is None else options.exact
    return Page(max(width, 40), wanted, exact, options.show_percs, options.full_names)


def _text(report: Report, options: Options, page: Page) -> list[str]:
    lines = text_report.head(report, page)
    lines += text_report.functions(report, page)
    if options.tree != "none":
        lines += text_report.tree(report, page, options.tree)
    if options.files:
        lines += text_report.files(report, page)
    if options.annotate:
        lines += text_report.source(report, page, options.include, options.context)
    if options.instructions:
        lines += text_report.instructions(report, page)
    return lines


def _print(lines: list[str]) -> None:
    """Bytes that were not UTF-8 in the profile go out as they came in."""
    text = "\n".join(lines) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


def _check(path: str) -> int:
    profile = parse(path, Detail.FUNCTIONS, Progress("reading"))
    result = check(profile)
    if result.violation:
        print(f"bd_annotate: {result.violation}", file=sys.stderr)
        return EXIT_FAILED
    source = profile.parts[0].source
    print(f"{source}: {result.functions} functions, {len(profile.events)} events: all costs add up")
    for title, found in (("roots", result.roots), ("called, and a root", result.also_called)):
        names = ", ".join(function.name for function in found[:8])
        if found:
            print(f"  {title}: {len(found)} ({names}{', ...' if len(found) > 8 else ''})")
    return EXIT_GOOD
