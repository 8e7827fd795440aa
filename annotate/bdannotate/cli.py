# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_annotate and says how it went: status 0 good, 1 a check failed, 2 an error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .views import csv_report

from .views import json_report

from .views import text_report
from .analyses.budget import failures, parse_condition
from .model.check import check
from .analyses.columns import without_rates
from .analyses.diff import make_diff
from .model.errors import UserError
from .reading.load import default_profile, load, load_sum
from .model.merge import Renaming, add, common_events, parse_substitution, project, reorder
from .model.profile import Profile
from .options import DEFAULT_THRESHOLD, Options, parse_options
from .reading.parser import Detail, parse
from .analyses.per_file import make_per_file
from .reading.progress import Progress
from .analyses.report import Report, Selection, make_report, make_selection
from .views.text import Page

EXIT_GOOD = 0
EXIT_FAILED = 1
EXIT_ERROR = 2

_DEFAULT_WIDTH = 120
_MORE = "More: --hints, --tree=both, --annotate, --diff, see --help"
_MIN_WIDTH = 40


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
    if options.mode == "per-file":
        return _per_file(paths, options)
    return _report(paths, options)


def _report(paths: Sequence[str], options: Options) -> int:
    renaming = _renaming(options)
    profile = load_sum(paths, _detail(options), renaming)
    baseline = None
    if options.baseline is not None:
        baseline = load(options.baseline, Detail.FUNCTIONS, renaming)
    report = make_report(profile, _selection(profile, options))
    if options.format == "json":
        _write(json_report.to_json(json_report.profile_json(report)))
    elif options.format == "csv":
        _write([csv_report.profile_csv(report)])
    else:
        _write_lines(_sections(report, options, _page(options)))
    return _judge(options, profile, baseline)


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
    if not options.show and options.format == "text":
        selection = replace(selection, columns=without_rates(selection.columns))
    diff = make_diff(before, after, selection)
    if options.format == "json":
        _write(json_report.to_json(json_report.diff_json(diff)))
    elif options.format == "csv":
        _write([csv_report.diff_csv(diff)])
    else:
        _write_lines(text_report.diff_report(diff, _page(options)))
    return _judge(options, after, before)


def _per_file(paths: Sequence[str], options: Options) -> int:
    profiles = [load(path, Detail.FUNCTIONS, _renaming(options)) for path in paths]
    profiles = [reorder(profile, profiles[0].events) for profile in profiles]
    found = make_per_file(profiles, _selection(profiles[0], options))
    if options.format == "json":
        _write(json_report.to_json(json_report.per_file_json(found)))
    elif options.format == "csv":
        _write([csv_report.per_file_csv(found)])
    else:
        _write_lines(text_report.per_file_report(found, _page(options)))
    return EXIT_GOOD


def _judge(options: Options, profile: Profile, baseline: Profile | None) -> int:
    """The conditions of --fail-if, after the report: who is told that it failed wants to see."""
    conditions = [parse_condition(text) for text in options.fail_if]
    sys.stdout.flush()
    reasons = failures(conditions, profile, baseline) if conditions else []
    for reason in reasons:
        print(f"bd_annotate: failed: {reason}", file=sys.stderr)
    return EXIT_FAILED if reasons else EXIT_GOOD


def _detail(options: Options) -> Detail:
    if options.instructions:
        return Detail.INSTRUCTIONS
    by_line = options.annotate or options.hints or options.format == "json"
    return Detail.LINES if by_line else Detail.FUNCTIONS


def _renaming(options: Options) -> Renaming:
    return Renaming(
        tuple(map(parse_substitution, options.mod_filename)),
        tuple(map(parse_substitution, options.mod_funcname)),
    )


def _selection(profile: Profile, options: Options) -> Selection:
    threshold = options.threshold
    if threshold is None and options.format == "text":
        threshold = DEFAULT_THRESHOLD
    return make_selection(
        profile, options.show, options.sort, threshold, options.inclusive, options.function
    )


def _page(options: Options) -> Page:
    terminal = sys.stdout.isatty()
    width = options.width or _DEFAULT_WIDTH
    if terminal and options.width is None:
        width = shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns
    wanted = options.colour == "yes" or (
        options.colour == "auto" and terminal and "NO_COLOR" not in os.environ
    )
    exact = bool(options.show) if options.exact is None else options.exact
    return Page(
        max(width, _MIN_WIDTH), wanted, exact, options.show_percs, options.full_names
    )


def _sections(report: Report, options: Options, page: Page) -> list[str]:
    lines = text_report.head(report, page)
    lines += text_report.functions(report, page)
    if options.hints:
        lines += text_report.hints(report, page)
    if options.tree != "none":
        lines += text_report.tree(report, page, options.tree)
    if options.files:
        lines += text_report.files(report, page)
    if options.annotate:
        lines += text_report.source(report, page, options.include, options.context)
    if options.instructions:
        lines += text_report.instructions(report, page)
    if sys.stdout.isatty():
        lines += ["", page.paint(_MORE, "dim")]
    return lines


def _write_lines(lines: list[str]) -> None:
    _write(["\n".join(lines), "\n"])


def _write(pieces: Iterable[str]) -> None:
    """Bytes that were not UTF-8 in the profile go out as they came in."""
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode("utf-8", "surrogateescape"))


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
