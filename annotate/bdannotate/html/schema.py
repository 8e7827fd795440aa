# SPDX-License-Identifier: GPL-2.0-or-later
"""What the data of a page are: the one description, by which the modules beside write them, and from which
annotate/web/page_types.py makes the types of what reads them.

A function, file, group or frame stands for its number in the lists of the facts, unless something else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

# Of all that is described here. The page refuses any other: it and its writer are of one version of bd_annotate.
VERSION = 10


class Metric(TypedDict):
    name: str
    heading: str
    title: str
    numerator: list[int]  # a weight per event
    denominator: list[int] | None
    isShare: bool
    isTime: bool  # a sum of picoseconds
    moreIsBetter: bool
    share: str | None  # the metric that tells which share of the same lines was never used


class Part(TypedDict):
    source: str
    creator: str
    pid: str
    command: str
    part: str
    thread: str
    descriptions: list[tuple[str, str]]


# Function, file, line.
Place = tuple[int, int, int]


class HintData(TypedDict):
    """Data that a place loads in vain: a group, and its share of all that is never used."""

    group: int | None
    share: float


class Hint(TypedDict):
    function: int
    share: float  # of all that is never used
    saved: float | None  # at most, of the estimated cycles
    brief: str
    looks: str
    helps: str
    unused: float
    neverUsed: float
    usedPerLine: float
    lineSize: float  # that of the lines at hand, on average
    accesses: float
    loads: float
    lines: list[tuple[int, int, float]]  # file, line, share of its own; the costliest first
    through: int | None  # the library function that has most of it
    below: int | None  # of a function without a name, the nearest caller that has one
    callers: list[tuple[int, float]]
    data: list[HintData]
    sentences: list[str]  # on the data, and on how far a sampled run's numbers may be off


class OtherData(TypedDict):
    data: HintData
    title: str
    sentences: list[str]


class Hints(TypedDict):
    places: list[Hint]
    others: list[OtherData]  # data of which no place has most


class Waits(TypedDict):
    """Shares of the cycles by the order of addresses."""

    firstTouches: float
    inOrder: float
    outOfOrder: float


class Time(TypedDict):
    """Estimated seconds: if instructions never wait for each other, and if each waits for the one before."""

    what: str
    seconds: float
    least: float
    most: float


class Verdict(TypedDict):
    cycles: int
    instructions: float  # shares of the estimated cycles, as those below
    l1Data: float
    l1Code: float
    l2: float | None  # what missing L2 adds, where there is one
    lastLevel: float
    fitsLastLevel: bool
    first: Literal["L1", "code", "L2", "LL", "out of order", "in order", "first touches", "instructions"]
    wasted: float | None  # what bytes never used cost at the first level, if that makes it the first
    waits: Waits | None  # where the run noted that; then those of levels are 0, and all shares are of the time
    time: Time | None  # where there are waits


class Repair(TypedDict):
    """A change of the program. Where two numbers stand together, they are before and after it."""

    remedy: str
    what: str  # to do, and where
    function: int
    places: list[tuple[int, int]]  # file, line
    data: str
    group: int | None  # of the data
    l1: tuple[int, int]  # misses
    ll: tuple[int, int]
    walks: tuple[int, int] | None  # page walks, if it is about these
    transfers: tuple[int, int] | None  # of lines from core to core, if it is about these
    share: float  # of the estimated time
    evidence: list[str]
    code: list[str]
    unknown: str
    alternatives: list[str]


class Curve(TypedDict):
    """Misses by the size of the cache."""

    misses: list[int]  # at the sizes that all curves have; at those that follow, as at the last
    firstTouches: int
    knees: list[tuple[int, int]]  # between which sizes many go
    fits: int | None  # the size from which on hardly any more go
    says: str


class CodeCurves(TypedDict):
    function: int
    self: Curve
    incl: Curve | None


class LoopCurves(CodeCurves):
    name: str


class DataCurve(TypedDict):
    group: int
    curve: Curve


class Why(TypedDict):
    line: int  # bytes
    d1: int  # bytes of the cache
    ll: int
    repairs: list[Repair] | None  # the first saves most time
    sizes: list[int]
    program: Curve
    # Of code, itself and with all that it calls, where the run has kept paths; what has most misses first.
    functions: list[CodeCurves]
    loops: list[LoopCurves]
    data: list[DataCurve]


class Blocks(TypedDict):
    number: int
    bytes: int
    freed: int
    mostAlive: int
    smallest: int
    largest: int


class ElementLayout(TypedDict):
    """Of an element; first is its bytes' first row."""

    size: int
    reason: str
    first: int
    unmapped: int
    knowsBorders: bool
    loads: int
    cut: int  # how often one came with a line, and only a part of it


class DataType(TypedDict):
    """Of the elements of data; of a variable, of the variable or its elements."""

    name: str
    size: int
    reason: str
    hasUse: bool  # whether anybody has seen which bytes are used
    # Name, type, offset, size, how often bytes of it came with a line, and in how many of these any was used. A gap
    # has no type.
    fields: list[tuple[str, str, int, int, int, int]]
    # Which code loaded how many parts of lines, one for each block in a line, and of these as above for each field,
    # by its number, that was used.
    uses: list[tuple[Place, int, list[tuple[int, int, int]]]]
    parts: list[list[int]]  # fields that had better be in an array of their own
    advice: list[str]


class DataGroup(TypedDict):
    """Data objects that are not separated."""

    kind: str
    label: str
    object: str  # of code, a variable or a file
    size: int  # of a variable, in bytes
    function: int | None  # whose frames; the function called to allocate
    places: list[Place]  # where that was called, the innermost first
    blocks: Blocks | None
    layout: ElementLayout | None
    type: DataType | None


class Data(TypedDict):
    """Where two profiles are compared, changes has which groups are new or gone. Those that are gone are as before."""

    columns: list[str]  # metrics; what it loses comes second
    always: float  # what holds for this share of the loads of a byte holds always
    sample: str  # a sentence where which bytes were used is known of some lines only; else empty
    events: list[str]
    groups: list[DataGroup]
    changes: list[Literal["new", "gone"] | None]


class SharingCore(TypedDict):
    """What a core, or the thread that has one of its own, uses of the line that moves most, and where it waits for it.
    Of each row of neighbouring bytes, read and written have the first and the last."""

    name: str
    read: list[tuple[int, int]]  # and not written
    written: list[tuple[int, int]]
    transfers: int
    places: list[Place]


class SharedData(TypedDict):
    """Data of which cores take lines from each other."""

    label: str
    group: int | None  # of the data
    lines: int
    kind: str
    transfers: int
    after: int  # transfers, with each thread's bytes in lines of their own
    atomics: int
    cores: list[SharingCore]


class LoadedData(TypedDict):
    """Data that several cores load, and what there is to say of it."""

    label: str
    group: int | None  # of the data
    says: str


class CoreLoads(TypedDict):
    """What several cores load. The first ones of touches and again have most."""

    says: str  # of all pages
    touches: list[LoadedData]  # pages that one core touches first and others miss
    again: list[LoadedData]  # lines that several cores load
    more: tuple[int, int]  # how many of both there are besides


class Sharing(TypedDict):
    """Lines that cores take from each other."""

    line: int  # bytes
    cost: float  # seconds of a transfer
    transfers: int
    rest: int  # of these, those of lines that are not known one by one
    more: int  # how many data there are besides
    says: str  # what the summary says of it; empty if there is nothing to gain
    data: list[SharedData]  # most transfers first
    loads: CoreLoads | None  # None where the run did not note it


class PathRow(TypedDict):
    """What some paths cost: one count for each of Paths.columns."""

    number: int  # of them, or how often one path was executed
    costs: list[int]


class HotPath(TypedDict):
    """A path. trail: files or -1, first and last lines in the order in which it passes them; of code without lines,
    addresses. parts: sentences, one for each branch where it parts from others that are hot."""

    row: PathRow
    dense: bool | None
    trail: list[tuple[int, int, int]]
    parts: list[str]


class PathsOf(TypedDict):
    """Those of a function."""

    function: int
    whole: PathRow
    hot: list[HotPath]
    colder: PathRow
    other: PathRow  # not separated


class Paths(TypedDict):
    """Paths within functions."""

    columns: list[str]  # metrics: what hot paths have a share of comes first
    totals: list[int]
    mark: str  # a sentence: from what on a path is hot
    hot: PathRow
    dense: PathRow
    colder: PathRow
    other: PathRow
    unfollowed: PathRow  # of functions
    functions: list[PathsOf]  # with hot paths, the costliest first


class RankCount(TypedDict):
    name: str  # of a metric
    heading: str


class Ranks(TypedDict):
    """The ranks of a merged profile. Their hosts, groups and totals are in the table of ranks; what functions cost
    themselves is in that of strips: for each count, each function has so many rows as there are ranks."""

    names: list[str]
    hosts: list[str]  # the first one is not known
    counts: list[RankCount]
    functions: list[int]  # that differ most
    alike: str  # a sentence: how many groups behave alike
    groups: list[str]  # of each: its ranks, and how they differ from others
    says: str  # a sentence for the summary, or empty


class UseLevel(TypedDict):
    title: str
    loaded: str
    lost: str
    share: str
    perLine: str
    misses: str


class Use(TypedDict):
    """The metrics of the cache levels that speak of the bytes that the page is about, the first level first."""

    of: Literal["code", "data", "all"]
    levels: list[UseLevel]


class First(TypedDict):
    """What to look at first, as the text report says it, and the line that has most of it."""

    says: str
    place: Place | None


class Hottest(TypedDict):
    """What the costliest lines are ranked by."""

    heading: str
    title: str
    isTime: bool  # picoseconds
    total: int


class Member(TypedDict):
    label: str
    totals: list[int]


class UnknownCode(TypedDict):
    """Without symbols or lines."""

    objects: list[str]
    share: float
    hasSymbols: bool


class Estimates(TypedDict):
    """That counts are of a sampled run, and how far their totals may be off: half the widths of the intervals of 95 %,
    by event. Those of functions and lines are in tables."""

    bursts: list[int]  # of each side; 0 of an exact one
    totals: list[int] | None  # None: nothing is known, or two are compared


class TableFacts(TypedDict):
    rows: int
    columns: list[str]


class TreeFacts(TypedDict):
    folded: bool
    height: int
    other: int | None  # the frame of the paths that the tree has no room for, if there are such


class Facts(TypedDict):
    version: int
    generator: str
    use: Use
    verdict: Verdict | None
    first: First | None
    hottest: Hottest | None
    matched: int
    above: list[int]  # functions that only start the program
    sides: list[list[Part]]  # of the profile; where two are compared: after, before
    totals: list[list[int]]
    members: list[Member]
    events: list[str]
    metrics: list[Metric]
    columns: list[tuple[str, bool]]  # metric, inclusive
    objects: list[str]
    files: list[str]
    # Name, object, file, line, and the name that is shown, where that is another; else empty.
    functions: list[tuple[str, int, int, int, str]]
    cycles: list[list[int]]
    unknown: UnknownCode | None
    hints: Hints
    why: Why | None  # lines were loaded, where the run noted that
    tables: dict[str, TableFacts]
    inlined: list[str]  # names of inlined functions, and addresses of loops without lines
    codeTexts: list[str]
    frames: list[int | str]  # a function, or the name of a root
    places: list[tuple[int, int]]  # file or -1, line
    data: Data | None
    sharing: Sharing | None  # of a run with cores
    paths: Paths | None  # of a run with --paths
    ranks: Ranks | None  # of a merged profile
    tree: TreeFacts | None
    estimates: Estimates | None  # None: all counts are exact
    sourceNotes: dict[str, str]
    hasSources: bool


class SourceText(TypedDict):
    file: int
    path: str
    newer: bool
    text: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Of a table, by their names: those of its own; counts that each side has, with `before:` where it is the second
    one that is compared; of these kinds of cost one for each event, as `self:Ir`; and more of its own that not each
    page has. Of data objects, events are theirs, which are fewer."""

    own: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    kinds: tuple[Literal["self", "incl"], ...] = ()
    more: tuple[str, ...] = ()


BEFORE = "before:"
TABLES: Mapping[str, Columns] = {
    "functions": Columns(("cycle", "recursive"), ("calls",), ("self", "incl")),
    # A parent is one more than its row; within is one more than the row of the frame, in the caller, that calls.
    "tree": Columns(("parent", "frame", "place"), ("calls",), ("self",), ("within",)),
    "arcs": Columns(("caller", "callee", "recursive"), ("calls",), ("incl",)),
    "lines": Columns(("function", "file", "line"), (), ("self",)),
    "sites": Columns(("caller", "callee", "file", "line"), ("calls",), ("incl",)),
    "cycles": Columns((), ("calls",), ("incl",)),
    "code": Columns(("function", "file", "address", "line", "text"), (), ("self",)),
    "members": Columns(("function",), (), ("self", "incl")),
    "frames": Columns(
        ("function", "parent", "kind", "name", "file", "line", "entries", "iterations"), (), ("self", "incl")
    ),
    "hotLines": Columns(("function", "file", "line", "ranked"), (), ("self",)),
    # Of the same rows, half the widths of the intervals of a sampled run, and one more: 0 where nothing is known.
    "functionWidths": Columns((), (), ("self", "incl")),
    "lineWidths": Columns((), (), ("self",)),
    "hotLineWidths": Columns(("ranked",), (), ("self",)),
    "data": Columns((), (), ("self",)),
    "dataRows": Columns(("group", "function", "file", "line"), (), ("self",)),
    "dataBytes": Columns(("loaded", "used", "borders")),
    # A rank's host; its group, from 1, or 0; and its totals.
    "ranks": Columns(("host", "group"), (), ("self",)),
    "strips": Columns(("cost",)),
    "functionsOf": Columns((), ("calls",), ("self", "incl")),
    "treeOf": Columns((), ("calls",), ("self",)),
    "arcsOf": Columns((), ("calls",), ("incl",)),
    "linesOf": Columns((), (), ("self",)),
    "sitesOf": Columns((), ("calls",), ("incl",)),
}
# Tables with what each profile of a sum has of the rows of another, as `0:self:Ir`.
OF_MEMBERS: Mapping[str, str] = {
    "functions": "functionsOf", "arcs": "arcsOf", "lines": "linesOf", "tree": "treeOf", "sites": "sitesOf",
}
# Tables whose costs may be sums of those of another one: that, and the columns by which its rows belong to theirs.
SUMS: Mapping[str, tuple[str, ...]] = {"arcs": ("sites", "caller", "callee")}
# The tables that each view is made of, beside that of functions, which all have, and the tree, of which a view takes
# only some columns.
VIEWS: Mapping[str, tuple[str, ...]] = {
    "summary": (),
    "icicle": (),
    "tables": ("arcs", "cycles", "frames"),
    "graph": ("arcs", "frames"),
    "source": ("lines", "lineWidths", "sites", "code", "dataRows", "frames"),
    "treemap": (),
    "data": ("data", "dataRows", "dataBytes"),
    "sharing": (),
    "paths": (),
    "ranks": ("ranks", "strips"),
    "profiles": ("members",),
}


def is_column(table: str, name: str) -> bool:
    """Whether a table can have a column of this name."""
    columns = TABLES[table]
    if name in columns.own or name in columns.more:
        return True
    if table in OF_MEMBERS.values():
        member, _, name = name.partition(":")
        if not member.isdigit():
            return False
    else:
        name = name.removeprefix(BEFORE)
    kind, colon, event = name.partition(":")
    return name in columns.counts or bool(colon and event) and kind in columns.kinds
