# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one table of options, from which the help text and the manual's list come."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from . import __version__
from .model.errors import UserError

DEFAULT_THRESHOLD = 1.0
DEFAULT_CONTEXT = 5
# cg_annotate's limit too: a larger value is callgrind_annotate's cumulative share by mistake.
_MAX_THRESHOLD = 20.0


@dataclass(frozen=True, slots=True)
class Options:
    profiles: tuple[str, ...]
    mode: str  # "report", "check", "diff" or "per-file"
    format: str
    show: tuple[str, ...]
    sort: tuple[str, ...]
    threshold: float | None
    inclusive: bool | None
    function: str | None
    tree: str
    files: bool
    annotate: bool
    include: tuple[str, ...]
    context: int
    instructions: bool
    hints: bool
    fail_if: tuple[str, ...]
    baseline: str | None
    mod_filename: tuple[str, ...]
    mod_funcname: tuple[str, ...]
    exact: bool | None
    show_percs: bool
    full_names: bool
    colour: str
    width: int | None


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see --help)")


class _HelpFormatter(argparse.HelpFormatter):
    """Options as they are written: --sort=KEYS, --hints[=no]; no breaks at hyphens."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=31, width=_HELP_WIDTH)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        value = str(action.metavar or "|".join(map(str, action.choices or ())))
        if not value:
            return ", ".join(action.option_strings)
        short = [name for name in action.option_strings if not name.startswith("--")]
        long = [name for name in action.option_strings if name.startswith("--")]
        form = "[=no]" if long[0] in _FLAGS else f"={value}"
        return ", ".join([f"{name} {value}" for name in short] + [f"{name}{form}" for name in long])

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)


_HELP_WIDTH = 100
_YES_NO = ("yes", "no")
# Options that may stand alone, meaning yes.
_FLAGS = frozenset({
    "--annotate", "--auto", "--exact", "--files", "--full-names", "--hints", "--inclusive",
    "--instructions", "--show-percs",
})


def _parser() -> argparse.ArgumentParser:
    parser = _ArgumentParser(
        prog="bd_annotate",
        usage="bd_annotate [options] [PROFILE...]",
        description="Reports on profiles of bdgrind, Callgrind and Cachegrind. Several profiles "
        "are added up. '-' is standard input; gzip, bzip2 and xz are unpacked. Without a profile, "
        "the newest bdgrind.out.* of the current folder is taken.",
        allow_abbrev=False,
        add_help=False,
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("profiles", nargs="*", help=argparse.SUPPRESS)

    what = parser.add_argument_group("what to report")
    modes = what.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true",
                       help="only check that all costs add up, also along the calls; "
                       "status 1 with the first violation")
    modes.add_argument("--diff", action="store_true",
                       help="what changed from the first profile to the second")
    modes.add_argument("--per-file", action="store_true",
                       help="minimum, mean, maximum and spread over the profiles")
    _flag(what, "--hints", "what the numbers suggest, place by place", "no")
    what.add_argument("--tree", choices=("none", "caller", "calling", "both"), default="none",
                      help="callers and callees of each function [none]")
    _flag(what, "--files", "costs by file and function, and by function and file", "no")
    _flag(what, "--annotate", "source files with costs beside each line", "no",
          "--auto")
    what.add_argument("-I", "--include", action="append", default=[], metavar="DIR",
                      help="where to look for source files")
    what.add_argument("--context", type=int, default=DEFAULT_CONTEXT, metavar="N",
                      help=f"source lines around those with costs [{DEFAULT_CONTEXT}]")
    _flag(what, "--instructions",
          "costs of each instruction, from a profile written with --dump-instr=yes", "no")
    what.add_argument("--function", metavar="REGEX", help="only functions whose names match")

    numbers = parser.add_argument_group("which numbers")
    numbers.add_argument("--show", default="", metavar="COLUMNS",
                         help="what is shown: events, sums and ratios by name, as Ir,SpLoss1:self")
    numbers.add_argument("--sort", default="", metavar="COLUMNS",
                         help="what is sorted by, each with a threshold if wanted, as "
                         "SpLoss1:self:2,Ir [the first column shown]")
    numbers.add_argument("--threshold", type=float, metavar="PERCENT",
                         help="leave out what has less of the total in the sort columns "
                         f"[{DEFAULT_THRESHOLD:g}; JSON and CSV leave out nothing]")
    _flag(numbers, "--inclusive", "whether names without :self or :incl mean inclusive costs",
          "yes, where there are calls")
    _flag(numbers, "--show-percs", "percentages beside the counts", "yes")
    _flag(numbers, "--exact", "all digits instead of 1.23M", "with --show")

    names = parser.add_argument_group("names")
    names.add_argument("--mod-filename", action="append", default=[], metavar="s/OLD/NEW/",
                       help="change the names of source files and objects before anything is "
                       "added up")
    names.add_argument("--mod-funcname", action="append", default=[], metavar="s/OLD/NEW/",
                       help="change the names of functions likewise")
    _flag(names, "--full-names", "neither names nor paths are shortened", "no")

    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json", "csv"), default="text",
                        help="[text]")
    output.add_argument("--color", choices=("auto", "yes", "no"), default="auto", dest="colour",
                        help="[auto: on a terminal]")
    output.add_argument("--width", type=int, metavar="N",
                        help="characters per line [the terminal's, else 120]")
    output.add_argument("--fail-if", action="append", default=[], metavar="CONDITION",
                        help="end with status 1 if it holds, e.g. 'SpLoss1 of main > 10M', "
                        "'Unused1 > 20%%', 'LLm > +5%%'")
    output.add_argument("--baseline", metavar="PROFILE",
                        help="the profile that conditions with + compare with")
    output.add_argument("-h", "--help", action="help", help="print this and exit")
    output.add_argument("--version", action="version", version=f"bd_annotate {__version__}",
                        help="print the version and exit")
    return parser


def _flag(group: argparse._ArgumentGroup, name: str, text: str, default: str, *others: str) -> None:
    group.add_argument(name, *others, choices=_YES_NO, default=None,
                       help=f"{text} [{default}]")


def parse_options(argv: Sequence[str]) -> Options:
    words = [f"{word}=yes" if word in _FLAGS else word for word in argv]
    given = _parser().parse_args(words)
    if given.threshold is not None and not 0 <= given.threshold <= _MAX_THRESHOLD:
        raise UserError(
            f"--threshold={given.threshold:g}: the smallest share shown must be from 0 to "
            f"{_MAX_THRESHOLD:g} percent"
        )
    if given.width is not None and given.width < 40:
        raise UserError("--width must be at least 40")
    if given.context < 0:
        raise UserError("--context must not be negative")
    mode = "check" if given.check else "diff" if given.diff else "report"
    mode = "per-file" if given.per_file else mode
    _refuse_other_views(mode, given)
    if given.baseline and (mode == "diff" or not given.fail_if):
        raise UserError("--baseline is for --fail-if; --diff compares with its first profile")
    if mode == "diff" and len(given.profiles) != 2:
        raise UserError(f"--diff takes two profiles, not {len(given.profiles)}")
    return Options(
        profiles=tuple(given.profiles),
        mode=mode,
        format=given.format,
        show=_list(given.show),
        sort=_list(given.sort),
        threshold=given.threshold,
        inclusive=None if given.inclusive is None else given.inclusive == "yes",
        function=given.function,
        tree=given.tree,
        files=given.files == "yes",
        annotate=given.annotate == "yes",
        include=tuple(given.include),
        context=given.context,
        instructions=given.instructions == "yes",
        hints=given.hints == "yes",
        fail_if=tuple(given.fail_if),
        baseline=given.baseline,
        mod_filename=tuple(given.mod_filename),
        mod_funcname=tuple(given.mod_funcname),
        exact=None if given.exact is None else given.exact == "yes",
        show_percs=given.show_percs != "no",
        full_names=given.full_names == "yes",
        colour=given.colour,
        width=given.width,
    )


# What each mode other than the report has no place for.
_VIEWS = ("hints", "files", "annotate", "instructions")


def _refuse_other_views(mode: str, given: argparse.Namespace) -> None:
    if mode == "report":
        return
    refused = [f"--{name}" for name in _VIEWS if getattr(given, name) == "yes"]
    refused += ["--tree"] if given.tree != "none" else []
    refused += ["--fail-if"] if given.fail_if and mode != "diff" else []
    refused += ["--format"] if given.format != "text" and mode == "check" else []
    if refused:
        raise UserError(f"{refused[0]} does not go with --{mode}")


def _list(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
