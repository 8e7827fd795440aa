# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one table of options, from which the help text and the manual's list come."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from bdcommon import __version__, console
from bdcommon.argparse_command import described
from bdcommon.described import Command, help_text

from .exports.formats import FORMATS
from .model.errors import UserError

DEFAULT_THRESHOLD = 1.0
DEFAULT_CONTEXT = 5
DEFAULT_LINES = 5
DEFAULT_FUNCTIONS = 10
DEFAULT_OBJECTS = 15
# The limit of cg_annotate, too: a larger value is a cumulative share as for callgrind_annotate, by mistake.
_MOST_ELEMENT_SIZE = 1 << 16  # bytes; larger pictures are not legible
_MAX_THRESHOLD = 20.0


@dataclass(frozen=True, slots=True)
class Options:
    profiles: tuple[str, ...]
    mode: str  # "report", "check", "diff", "per-file", "merge" or "export"
    skip_unreadable: bool
    ranks: bool
    export: str
    events: tuple[str, ...]
    output: str | None
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
    include_before: tuple[str, ...]
    own: tuple[str, ...]
    library: tuple[str, ...]
    context: int
    instructions: bool
    structure: bool
    objects: bool
    object: str | None
    element_size: int | None
    object_types: tuple[tuple[str, str], ...]  # patterns of the labels of objects, and their types
    separate_loops: bool
    separate_inlines: bool
    hints: bool
    sharing: bool
    paths: bool
    curve: str | None  # the functions that it is about; empty: the program; None: no curve
    html: str | None
    sources: bool
    fail_if: tuple[str, ...]
    baseline: str | None
    mod_filename: tuple[str, ...]
    mod_funcname: tuple[str, ...]
    exact: bool | None
    show_percs: bool
    full_names: bool
    full_stacks: bool
    keep_read: bool
    threads: str
    limit: int | None  # None: not given; 0: no limit
    totals: bool
    cycle_costs: tuple[int, ...] | None
    machine_file: str | None
    colour: str
    width: int | None

    @property
    def is_for_people(self) -> bool:
        """Whether the report is text for people, which leaves out what matters little."""
        return self.format in ("text", "markdown")


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see --help)")

    def format_help(self) -> str:
        return help_text(_described(self))

    def _print_message(self, message: str, file: object = None) -> None:
        console.write([message])


def command() -> Command:
    """The description of the command, for --help, the manual page and shell completion."""
    return _described(_parser())


def _described(parser: argparse.ArgumentParser) -> Command:
    return described(parser, "report on profiles of bdgrind, Callgrind and Cachegrind", _FLAGS)


_YES_NO = ("yes", "no")
# Options that may stand alone, meaning yes.
_FLAGS = frozenset({
    "--annotate", "--auto", "--exact", "--files", "--full-names", "--full-stacks", "--hints", "--keep-read", "--ranks",
    "--sharing", "--paths",
    "--inclusive", "--instructions", "--objects", "--separate-inlines", "--separate-loops", "--show-percs",
    "--structure", "--totals",
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
    )
    parser.add_argument("profiles", nargs="*", help=argparse.SUPPRESS)

    what = parser.add_argument_group("what to report")
    modes = what.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true",
                       help="only check that all costs add up, also along the calls; report the first violation, "
                            "with status 1")
    modes.add_argument("--diff", action="store_true",
                       help="show what changed from the first profile to the second")
    modes.add_argument("--per-file", action="store_true",
                       help="minimum, mean, maximum and spread over the profiles")
    modes.add_argument("--merge", action="store_true",
                       help="write the profiles of many ranks into one file, and statistics over the ranks beside it; "
                            "also as an MPI program (see docs/ranks.md)")
    modes.add_argument("--export", choices=tuple(FORMATS),
                       help="convert the profile for other programs (see docs/format.md): with chosen events first, "
                            "as a graph for Graphviz, or as call paths for flame graphs")
    what.add_argument("--skip-unreadable", action="store_true",
                      help="with --merge, leave out files that cannot be read, with a note [stop at the first]")
    _flag(what, "--ranks",
          "where ranks differ, and which behave alike; needs a profile that --merge has written", "no")
    _flag(what, "--hints", "what the numbers suggest to change, place by place", "no")
    _flag(what, "--sharing",
          "which cache lines threads take from each other, and which of their bytes each thread uses; needs "
          "profiles written with --cores=threads", "no")
    _flag(what, "--paths",
          "the paths within functions that have most of the data misses, and where they part; needs profiles written "
          "with --paths=yes or --paths=FUNCTION", "no")
    what.add_argument("--curve", metavar="FUNCTION",
                      help="data misses and bytes loaded with caches from D1's size to 1 GiB; of the matching "
                           "functions, or with --object of data [of the program]; needs profiles written with "
                           "--why=causes or --why=yes")
    what.add_argument("--tree", choices=("none", "caller", "calling", "both"), default="none",
                      help="show callers and callees of each function [none]")
    _flag(what, "--files", "show costs by file and function, and by function and file", "no")
    _flag(what, "--annotate", "show source files with the costs of each line", "no",
          "--auto")
    what.add_argument("-I", "--include", action="append", default=[], metavar="DIR",
                      help="look for source files there")
    what.add_argument("--include-before", action="append", default=[], metavar="DIR",
                      help="look there first for the sources of --diff's first profile")
    what.add_argument("--own", action="append", default=[], metavar="DIR",
                      help="source files below this folder are yours to change; a path, or the name of a folder "
                           "anywhere")
    what.add_argument("--library", action="append", default=[], metavar="DIR",
                      help="source files below this folder belong to a library, whose costs count for its callers "
                           "[system headers, toolchains, registries of packages, /opt, /build]")
    what.add_argument("--context", type=int, default=DEFAULT_CONTEXT, metavar="N",
                      help=f"source lines around those with costs [{DEFAULT_CONTEXT}]")
    _flag(what, "--instructions",
          "show the costs of each instruction; needs a profile written with --dump-instr=yes", "no")
    _flag(what, "--structure",
          "show loops and inlined functions in each function; needs a profile written with --structure=yes", "no")
    _flag(what, "--objects",
          "show which data was loaded and never used, also by function and line with --tree and --annotate; "
          "with --diff, what changed; with --export=callgrind, objects take the place of functions; needs "
          "profiles written with --objects=yes", "no")
    what.add_argument("--object", metavar="REGEX",
                      help="show who loaded the matching objects, and which of their bytes were used")
    what.add_argument("--element-size", type=int, metavar="N",
                      help="the bytes of an element in the picture that --object draws, at most "
                           f"{_MOST_ELEMENT_SIZE:,} [derived from the sizes of the blocks]")
    what.add_argument("--object-type", action="append", default=[], metavar="PLACE=TYPE",
                      help="the type of the matching heap blocks, such as 'sim.c:11=particle', for --object, "
                           "--hints and --html [derived from the code that allocates them]")
    _flag(what, "--separate-loops",
          "treat loops as functions of their own, in all lists and in --export", "no")
    _flag(what, "--separate-inlines", "treat inlined functions as functions of their own, too", "no")
    _flag(what, "--totals", "show all totals, and how the caches were used", "no")
    what.add_argument("--function", metavar="REGEX|N",
                      help="show only functions whose names match, as in the profile or as shown, or the one in row "
                           "N of the list of functions")

    numbers = parser.add_argument_group("which numbers")
    numbers.add_argument("--show", default="", metavar="COLUMNS",
                         help="the columns: events, sums and ratios by name, such as Ir,SpLoss1:self")
    numbers.add_argument("--events", default="", metavar="EVENTS",
                         help="the events and sums that --export writes, the most important first, such as "
                              "SpLoss1,LLm [the first column of the report]")
    numbers.add_argument("--sort", default="", metavar="COLUMNS",
                         help="the columns to sort by, shown first; with optional thresholds, such as "
                              "SpLoss1:self:2,Ir [the first column shown]")
    numbers.add_argument("--threshold", type=float, metavar="PERCENT",
                         help="leave out rows with a smaller share of the total in the sort columns "
                              f"[{DEFAULT_THRESHOLD:g}; JSON and CSV leave out nothing]")
    numbers.add_argument("--threads", choices=("below", "apart"), default="below",
                         help="whether the costs of threads count for the calls that created them [below]")
    _flag(numbers, "--inclusive", "names without :self or :incl mean inclusive costs",
          "yes if there are calls")
    numbers.add_argument("--limit", metavar="N|all",
                         help=f"the rows in lists of lines, functions and objects [{DEFAULT_LINES}, "
                              f"{DEFAULT_FUNCTIONS} and {DEFAULT_OBJECTS}]")
    numbers.add_argument("--cycle-costs", metavar="IR,L1,[L2,]LL",
                         help="the cycles of an instruction, an L1 miss, an L2 miss (with an L2) and an LL miss in "
                              "the estimate CEst [1,10,100; with an L2 1,10,30,70]")
    numbers.add_argument("--machine-file", metavar="FILE",
                         help="the machine for the estimates of a run with --why=yes: a file written by "
                              "bd_calibrate, or the name of a machine that comes with bd_annotate "
                              "[amd-epyc-family-26-model-2]")
    _flag(numbers, "--show-percs", "show percentages beside the counts", "yes")
    _flag(numbers, "--exact", "show all digits instead of 1.23M", "with --show")

    names = parser.add_argument_group("names")
    names.add_argument("--mod-filename", action="append", default=[], metavar="s/OLD/NEW/",
                       help="change the names of source files and object files before anything is added up")
    names.add_argument("--mod-funcname", action="append", default=[], metavar="s/OLD/NEW/",
                       help="change the names of functions in the same way")
    _flag(names, "--full-names", "do not shorten names and paths", "no")
    _flag(names, "--full-stacks", "list the functions above main, and above the start of threads, one by one", "no")

    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "markdown", "json", "csv", "sarif"),
                        default="text",
                        help="markdown for review comments, sarif for code scanning and editors [text]")
    output.add_argument("-o", "--output", metavar="FILE",
                        help="the file that --export [standard output] or --merge writes")
    output.add_argument("--html", metavar="FILE",
                        help="write a web report instead: one page with all views, to open or mail; with --diff, of "
                             "what changed")
    output.add_argument("--no-sources", action="store_true",
                        help="leave the source files out of the web report")
    output.add_argument("--color", choices=("auto", "yes", "no"), default="auto", dest="colour",
                        help="[auto: on a terminal]")
    output.add_argument("--width", type=int, metavar="N",
                        help="the characters per line [the terminal's, else 120]")
    output.add_argument("--fail-if", action="append", default=[], metavar="CONDITION",
                        help="end with status 1 if the condition holds, e.g. 'SpLoss1 of main > 10M', 'Unused1 > "
                             "20%%', 'LLm > +5%%'")
    output.add_argument("--baseline", metavar="PROFILE",
                        help="the profile that conditions with + are compared with")
    _flag(output, "--keep-read",
          "keep what was read of files above 4 MiB in ~/.cache/bdgrind (1 GiB at most), so that the next report of "
          "them comes sooner", "yes")
    output.add_argument("-h", "--help", action="help", help="print this and exit")
    output.add_argument("--version", action="version", version=f"bd_annotate {__version__}",
                        help="print the version and exit")
    return parser


def _flag(group: argparse._ArgumentGroup, name: str, text: str, default: str, *others: str) -> None:
    group.add_argument(name, *others, choices=_YES_NO, default=None,
                       help=f"{text} [{default}]")


def parse_options(argv: Sequence[str]) -> Options:
    words = [f"{word}=yes" if word in _FLAGS else word for word in argv]
    words = [f"{word}=" if word == "--curve" else word for word in words]
    given = _parser().parse_args(words)
    if given.threshold is not None and not 0 <= given.threshold <= _MAX_THRESHOLD:
        raise UserError(
            f"--threshold={given.threshold:g}: the smallest share shown must be from 0 to "
            f"{_MAX_THRESHOLD:g} percent"
        )
    if given.width is not None and given.width < 40:
        raise UserError("--width must be at least 40")
    if given.element_size is not None and (
        given.object is None or not 1 <= given.element_size <= _MOST_ELEMENT_SIZE
    ):
        raise UserError(f"--element-size is for --object, and from 1 to {_MOST_ELEMENT_SIZE:,} bytes")
    has_types = given.object is not None or given.hints == "yes" or given.html is not None
    if given.object_type and (given.diff or not has_types):
        raise UserError("--object-type is for --object, --hints and --html, of one profile")
    if given.context < 0:
        raise UserError("--context must not be negative")
    mode = "check" if given.check else "diff" if given.diff else "report"
    if given.include_before and mode != "diff":
        raise UserError("--include-before is for --diff")
    mode = "per-file" if given.per_file else "export" if given.export else "merge" if given.merge else mode
    if mode != "export" and given.events:
        raise UserError("--events is for --export")
    if mode not in ("export", "merge") and given.output:
        raise UserError("--output is for --export and --merge")
    if mode != "merge" and given.skip_unreadable:
        raise UserError("--skip-unreadable is for --merge")
    _refuse_other_views(mode, given)
    _check_html(given)
    _check_sarif(given)
    _refuse_separation(mode, given)
    _refuse_two_tables(given)
    if given.baseline and (mode == "diff" or not given.fail_if):
        raise UserError("--baseline is for --fail-if; --diff compares with its first profile")
    if mode == "diff" and len(given.profiles) != 2:
        raise UserError(f"--diff takes two profiles, not {len(given.profiles)}")
    return Options(
        profiles=tuple(given.profiles),
        mode=mode,
        skip_unreadable=given.skip_unreadable,
        ranks=given.ranks == "yes",
        export=given.export or "",
        events=_list(given.events),
        output=given.output,
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
        include_before=tuple(given.include_before),
        own=tuple(given.own),
        library=tuple(given.library),
        context=given.context,
        instructions=given.instructions == "yes",
        structure=given.structure == "yes",
        objects=given.objects == "yes",
        object=given.object,
        element_size=given.element_size,
        object_types=tuple(map(_object_type, given.object_type)),
        separate_loops=given.separate_loops == "yes",
        separate_inlines=given.separate_inlines == "yes",
        hints=given.hints == "yes",
        sharing=given.sharing == "yes",
        paths=given.paths == "yes",
        curve=given.curve,
        html=given.html,
        sources=not given.no_sources,
        fail_if=tuple(given.fail_if),
        baseline=given.baseline,
        mod_filename=tuple(given.mod_filename),
        mod_funcname=tuple(given.mod_funcname),
        exact=None if given.exact is None else given.exact == "yes",
        show_percs=given.show_percs != "no",
        full_names=given.full_names == "yes",
        full_stacks=given.full_stacks == "yes",
        keep_read=given.keep_read != "no",
        threads=given.threads,
        limit=_limit(given.limit),
        totals=given.totals == "yes",
        cycle_costs=_cycle_costs(given.cycle_costs),
        machine_file=given.machine_file,
        colour=given.colour,
        width=given.width,
    )


# Options that modes other than the report do not have, nor does a page.
_VIEWS = ("hints", "files", "annotate", "instructions", "objects", "paths", "ranks", "sharing", "structure", "totals")
_VIEWS_BUT_OF_DIFF = ("files", "instructions", "paths", "ranks", "structure", "totals")


def _refuse_other_views(mode: str, given: argparse.Namespace) -> None:
    if mode == "report":
        return
    views = _VIEWS_BUT_OF_DIFF if mode == "diff" else _VIEWS
    refused = [f"--{name}" for name in views if getattr(given, name) == "yes"]
    if given.export == "callgrind" and "--objects" in refused:
        refused.remove("--objects")
    refused += ["--object"] if given.object is not None else []
    refused += ["--curve"] if given.curve is not None else []
    refused += ["--tree"] if given.tree != "none" else []
    refused += ["--fail-if"] if given.fail_if and mode != "diff" else []
    refused += ["--format"] if given.format != "text" and mode in ("check", "export", "merge") else []
    refused += ["--format=sarif"] if given.format == "sarif" else []
    refused += ["--html"] if given.html is not None and mode != "diff" else []
    if refused:
        raise UserError(f"{refused[0]} cannot be combined with --{mode}")


def _refuse_two_tables(given: argparse.Namespace) -> None:
    if given.format == "csv" and given.objects == "yes" and given.object is not None:
        raise UserError("--format=csv has one table: --object cannot be combined with --objects there")
    for option, is_given in (("--curve", given.curve is not None), ("--paths", given.paths == "yes")):
        if given.format == "csv" and is_given:
            raise UserError(f"--format=csv has a table of functions or objects: it cannot be combined with {option}")


def _refuse_separation(mode: str, given: argparse.Namespace) -> None:
    """Raise UserError if frames are to be separate where functions must be those of the file."""
    for name in ("loops", "inlines"):
        if getattr(given, f"separate_{name}") != "yes":
            continue
        refused = ["--check"] if mode == "check" else ["--html"] if given.html is not None else []
        refused += [f"--{view}" for view in ("instructions", "structure")
                    if getattr(given, view) == "yes"]
        if refused:
            raise UserError(f"--separate-{name} cannot be combined with {refused[0]}")


def _check_html(given: argparse.Namespace) -> None:
    if given.html is None:
        if given.no_sources:
            raise UserError("--no-sources is for --html")
        return
    if given.format != "text":
        raise UserError("--format cannot be combined with --html")
    if given.fail_if:
        raise UserError("--fail-if cannot be combined with --html")
    if asked := _views_asked_for(given, _VIEWS):
        raise UserError(f"{asked[0]} cannot be combined with --html: a page always has the same views")


def _check_sarif(given: argparse.Namespace) -> None:
    if given.format != "sarif":
        return
    views = [name for name in _VIEWS if name != "hints"]
    if asked := _views_asked_for(given, views):
        raise UserError(
            f"{asked[0]} cannot be combined with --format=sarif, which always has hints and lines"
        )


def _views_asked_for(given: argparse.Namespace, views: Sequence[str]) -> list[str]:
    asked = [f"--{name}" for name in views if getattr(given, name) == "yes"]
    asked += ["--object"] if given.object is not None else []
    asked += ["--curve"] if given.curve is not None else []
    return asked + (["--tree"] if given.tree != "none" else [])


def _limit(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "all":
        return 0
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise UserError(f"--limit={text}: must be a number of rows, or all")
    return int(text)


def _object_type(text: str) -> tuple[str, str]:
    place, _, name = (part.strip() for part in text.rpartition("="))
    if not place or not name:
        raise UserError(f"--object-type={text}: must be PLACE=TYPE, as sim.c:11=particle")
    return place, name


def _cycle_costs(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    words = text.split(",")
    if len(words) not in (3, 4) or not all(word.isascii() and word.isdigit() for word in words):
        raise UserError(f"--cycle-costs={text}: must be three numbers, as 1,10,100, or four of a run with an L2")
    return tuple(map(int, words))


def _list(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
