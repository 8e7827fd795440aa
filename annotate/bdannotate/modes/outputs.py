# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts that all reports share: the selection, the page, and the conditions of --fail-if."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import IO, TypeVar

from bdcommon import console

from ..analyses.budget import failures, parse_condition
from ..analyses.code.report import Report, Selection, make_selection
from ..analyses.comparison.diff import Diff
from ..analyses.ranking import by_verdict
from ..model.errors import UserError
from ..model.merge import functions_of
from ..model.profile import Function, Profile
from ..options import DEFAULT_THRESHOLD, Options
from ..pager import write_paged
from ..reading.inlined import end_symbolizers
from ..views.file_names import FileNames
from ..views.markdown import markdown, markdown_page
from ..views.names import Names
from ..views.text import Page

EXIT_GOOD = 0
EXIT_FAILED = 1

_Found = TypeVar("_Found", Report, Diff)

_DEFAULT_WIDTH = 120
_MIN_WIDTH = 40


def selection_of(profile: Profile, options: Options) -> Selection:
    threshold = options.threshold
    if threshold is None and options.is_for_people:
        threshold = DEFAULT_THRESHOLD
    names = Names(functions_of(profile))
    found = make_selection(
        profile, options.show, options.sort, threshold, options.inclusive, options.function,
        options.full_stacks or not options.is_for_people, names.shown,
    )
    if options.mode != "report" and found.function and found.function.number:
        raise UserError(
            f"--function={found.function.number}: numbers are rows of a report on a single profile; give a name"
        )
    if options.mode == "report":
        found = by_verdict(found, profile)
    return replace(found, has_numbers=_has_numbers(options))


def _has_numbers(options: Options) -> bool:
    """Whether no option changes which functions there are, or their order."""
    return options.mode == "report" and not (
        options.show or options.sort or options.function or options.mod_filename or options.mod_funcname
        or options.full_stacks or options.separate_loops or options.separate_inlines
        or options.threads != "below" or options.inclusive is not None or options.threshold is not None
        or options.cycle_costs
    )


def with_threshold(found: _Found) -> _Found:
    """The report or comparison with a threshold for hints, which need one even if a format lists everything."""
    if found.selection.threshold is not None:
        return found
    return replace(found, selection=replace(found.selection, threshold=DEFAULT_THRESHOLD))


def rows_of(limit: int | None, default: int | None) -> int | None:
    """The maximum number of rows of a list; None: no limit. limit: the option, 0 for no limit, None if not given."""
    return default if limit is None else limit or None


def page_of(
    options: Options, functions: Iterable[Function], files: Iterable[str] = ()
) -> Page:
    terminal = console.is_terminal()
    width = options.width or _DEFAULT_WIDTH
    if terminal and options.width is None:
        width = shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns
    wanted = options.colour == "yes" or (
        options.colour == "auto" and terminal and "NO_COLOR" not in os.environ
    )
    exact = bool(options.show) if options.exact is None else options.exact
    return Page(
        max(width, _MIN_WIDTH), wanted, exact, options.show_percs, options.full_names,
        cut=(terminal or options.width is not None) and not options.full_names,
        names=Names(functions),
        files=FileNames(files),
    )


def write_text(
    lines_on: Callable[[Page], list[str]], functions: Iterable[Function], options: Options,
    files: Iterable[str] = (),
) -> None:
    """Print a report for people. lines_on: returns its lines for a page. functions, files: those in the report."""
    page = page_of(options, functions, files)
    if options.format == "markdown":
        page = markdown_page(page)
    lines = lines_on(page)
    end_symbolizers()  # they may take much memory, and a reader may take long
    if options.format == "markdown":
        console.write_data(f"{line}\n" for line in markdown(lines))
    else:
        write_paged(lines)
    if options.show and page.left_out:
        console.say(
            f"bd_annotate: no room for {', '.join(sorted(page.left_out))} in all tables; use --width=N for longer "
            "lines, or --show for fewer columns"
        )


def write_file(path: str, pieces: Iterable[str | bytes]) -> None:
    """Write to a new file, which gets the name when it is complete. A file that exists, but is not regular, is written
    to directly. Raises UserError."""
    try:
        if os.path.lexists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                _write_pieces(file, pieces)
            return
        # Replace the target of a symbolic link, so that the link stays.
        target = os.path.realpath(path)
        folder, name = os.path.split(target)
        with tempfile.NamedTemporaryFile(
            dir=folder, prefix=f".{name[:100]}.", suffix=".new", delete=False
        ) as new:
            try:
                _write_pieces(new, pieces)
                new.flush()
                os.chmod(new.name, _mode(target))
                os.replace(new.name, target)
            except BaseException:
                os.unlink(new.name)
                raise
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "not a file's name"
        raise UserError(f"{path}: {reason}") from None


def _write_pieces(file: IO[bytes], pieces: Iterable[str | bytes]) -> None:
    for piece in pieces:
        file.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape"))


def _mode(path: str) -> int:
    """The mode of an existing file, or else that of a new one."""
    if os.path.exists(path):
        return stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def judge(options: Options, profile: Profile, baseline: Profile | None) -> int:
    """Check the conditions of --fail-if and return the exit status. This happens after the report, as a reader wants to
    see it if a condition fails. baseline: None if there is none."""
    conditions = [parse_condition(text) for text in options.fail_if]
    console.flush()
    names = Names(functions_of(profile)) if conditions else Names()
    reasons = failures(conditions, profile, baseline, names.shown) if conditions else []
    for reason in reasons:
        console.say(f"bd_annotate: failed: {reason}")
    return EXIT_FAILED if reasons else EXIT_GOOD
