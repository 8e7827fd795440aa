# SPDX-License-Identifier: GPL-2.0-or-later
"""The format of a page's data. This is its only description: the modules of this package write by it, and
annotate/web/page_types.py makes the types of the scripts that read the data from it.

A function, file, group or frame is given by its number in the lists of `Facts`, unless a comment says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

# The version of this format. A page refuses any other: it and its data come from the same version of bd_annotate.
VERSION = 11


class Metric(TypedDict):
    name: str
    heading: str
    title: str
    numerator: list[int]  # a weight for each event
    denominator: list[int] | None
    isShare: bool
    isTime: bool  # a sum of picoseconds
    moreIsBetter: bool
    share: str | None  # the metric for the share of the same lines that was never used


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
    """Data that a place loads in vain: a group, and its share of all bytes that are never used."""

    group: int | None
    share: float


class Hint(TypedDict):
    function: int
    share: float  # of all bytes that are never used
    saved: float | None  # at most, of the estimated cycles
    brief: str
    looks: str
    helps: str
    unused: float
    neverUsed: float
    usedPerLine: float
    lineSize: float  # average of the lines that the hint is about
    accesses: float
    loads: float
    lines: list[tuple[int, int, float]]  # file, line, share of the hint; the costliest first
    through: int | None  # the library function that causes most of it
    below: int | None  # the nearest caller with a name, if the function has none
    callers: list[tuple[int, float]]
    data: list[HintData]
    sentences: list[str]  # about the data, and about the errors of a sampled run


class OtherData(TypedDict):
    data: HintData
    title: str
    sentences: list[str]


class Hints(TypedDict):
    places: list[Hint]
    others: list[OtherData]  # data with no place that causes most of its loss


class Waits(TypedDict):
    """How the cost of misses divides by the order of their addresses, as shares of the cycles."""

    firstTouches: float
    inOrder: float
    outOfOrder: float


class Time(TypedDict):
    """An estimate of the time. In the least, instructions never wait for each other; in the most, each waits for the
    one before."""

    what: str
    seconds: float
    least: float
    most: float


class Verdict(TypedDict):
    cycles: int
    instructions: float  # like those below, a share of the estimated cycles
    l1Data: float
    l1Code: float
    l2: float | None  # the cost of missing L2; None without an L2
    lastLevel: float
    fitsLastLevel: bool
    first: Literal["L1", "code", "L2", "LL", "out of order", "in order", "first touches", "instructions"]
    wasted: float | None  # the share that bytes never used cost at the level `first`, if that is why it is first
    waits: Waits | None  # if the run noted them; then the shares of levels are 0, and all shares are of the time
    time: Time | None  # if there are waits


class Repair(TypedDict):
    """A change of the program. Pairs of counts are those before and after it."""

    remedy: str
    what: str  # what to do, and where
    function: int
    places: list[tuple[int, int]]  # file, line
    data: str
    group: int | None  # of the data
    l1: tuple[int, int]  # misses
    ll: tuple[int, int]
    walks: tuple[int, int] | None  # page walks, if the repair reduces them
    transfers: tuple[int, int] | None  # of lines from core to core, if the repair reduces them
    share: float  # of the estimated time
    evidence: list[str]
    code: list[str]
    unknown: str
    alternatives: list[str]


class Curve(TypedDict):
    """Misses by the size of the cache."""

    misses: list[int]  # at the first sizes of Why.sizes; at all larger ones, as many as at the last
    firstTouches: int
    knees: list[tuple[int, int]]  # the numbers of two sizes between which many misses end
    fits: int | None  # the number of the size beyond which hardly any more end
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
    # Self curves and, if the run kept paths, inclusive ones; those with most misses first.
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


class BytesUsed(TypedDict):
    """Bytes of an element that the same cores use in the same way, in lines that they take from each other. Of each row
    of neighbouring bytes, bytes has the first and the last."""

    letter: str  # in the picture
    bytes: list[tuple[int, int]]
    fields: list[str]  # that these bytes belong to; empty if the type is not known
    isWritten: bool
    by: str  # which cores write them and which ones read them


class ElementLayout(TypedDict):
    """How the bytes of an element are used. first: the row of its first byte in the table dataBytes."""

    size: int
    reason: str
    first: int
    unmapped: int
    knowsBorders: bool
    loads: int
    cut: int  # how often a line brought only a part of an element
    users: list[BytesUsed]  # by cores; empty if that is not known


class DataType(TypedDict):
    """The type of the elements of a group; of a variable, its own type or that of its elements."""

    name: str
    size: int
    reason: str
    hasUse: bool  # whether it is known which bytes are used
    # Name, type, offset, size, how often a line brought bytes of the field, and how often any of these was used. A gap
    # has no type.
    fields: list[tuple[str, str, int, int, int, int]]
    # For each line of code that loaded elements: how many parts of lines it loaded (one for each heap block in a
    # line); and for each field used, its number and how often it was brought and used, as above.
    uses: list[tuple[Place, int, list[tuple[int, int, int]]]]
    parts: list[list[int]]  # the fields of each array into which the type is better split
    advice: list[str]
    users: list[str]  # by field: which cores use it, or nothing; empty if that is not known


class DataGroup(TypedDict):
    """Data objects that the report does not separate."""

    kind: str
    label: str
    object: str  # of code, a variable or a file
    size: int  # of a variable, in bytes
    function: int | None  # for frames, the function that has them; for the heap, the allocation function
    places: list[Place]  # where the allocation function was called, the innermost first
    blocks: Blocks | None
    layout: ElementLayout | None
    type: DataType | None


class Data(TypedDict):
    """If two profiles are compared, changes tells which groups are new or gone. Groups that are gone are described as
    they were before."""

    columns: list[str]  # metrics; the loss comes second
    always: float  # what is true of this share of the loads of a byte counts as always true
    sample: str  # a sentence, if used bytes are known for a sample of lines only; else empty
    userTitle: str  # what users are about; empty if they are not known
    events: list[str]
    groups: list[DataGroup]
    changes: list[Literal["new", "gone"] | None]


class SharingCore(TypedDict):
    """What a core, or the thread that has one of its own, uses of the line that moves most, and where it waits for it.
    Of each row of neighbouring bytes, read and written have the first and the last."""

    name: str
    read: list[tuple[int, int]]  # and not written
    written: list[tuple[int, int]]
    fieldsRead: list[str]  # the fields that these bytes belong to; empty if the type of the data is not known
    fieldsWritten: list[str]
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


class LastLevel(TypedDict):
    """How cores share the last level."""

    heads: list[str]  # of the columns of rows, behind the core
    rows: list[tuple[str, list[str]]]  # by core: its name and the values
    says: list[str]  # sentences on cores that drive out lines of others
    key: str  # what the columns are


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
    lastLevel: LastLevel | None  # the same


class PathRow(TypedDict):
    """The cost of some paths: a count for each of Paths.columns."""

    number: int  # how many paths; of a single path, how often it was executed
    costs: list[int]


class HotPath(TypedDict):
    """A path. trail: the stretches of code that it passes, in order: file, first line, last line; or -1 and two
    addresses, if the code has no lines. parts: a sentence for each branch at which it leaves other hot paths."""

    row: PathRow
    dense: bool | None
    trail: list[tuple[int, int, int]]
    parts: list[str]


class PathsOf(TypedDict):
    """The paths of a function."""

    function: int
    whole: PathRow
    hot: list[HotPath]
    colder: PathRow
    other: PathRow  # not separated


class Paths(TypedDict):
    """Paths within functions."""

    columns: list[str]  # metrics; that by which paths are hot comes first
    totals: list[int]
    mark: str  # a sentence: from which share on a path is hot
    hot: PathRow
    dense: PathRow
    colder: PathRow
    other: PathRow
    unfollowed: PathRow  # functions whose paths were not followed
    functions: list[PathsOf]  # with hot paths, the costliest first


class RankCount(TypedDict):
    name: str  # of a metric
    heading: str


class Ranks(TypedDict):
    """The ranks of a merged profile. Table ranks has their hosts, groups and totals; table strips the self costs of
    functions: for each count, each function has as many rows as there are ranks."""

    names: list[str]
    hosts: list[str]  # the first one, empty, is for ranks of unknown host
    counts: list[RankCount]
    functions: list[int]  # those that differ most between ranks
    alike: str  # a sentence: how many groups behave alike
    groups: list[str]  # a sentence for each group: its ranks, and how they differ from others
    says: str  # a sentence for the summary, or empty


class UseLevel(TypedDict):
    title: str
    loaded: str
    lost: str
    share: str
    perLine: str
    misses: str


class Use(TypedDict):
    """The metrics of the bytes that the page is about, by cache level, the first level first."""

    of: Literal["code", "data", "all"]
    levels: list[UseLevel]


class First(TypedDict):
    """What to look at first, as the text report says it, and the line that causes most of it."""

    says: str
    place: Place | None


class Hottest(TypedDict):
    """The count that ranks the costliest lines."""

    heading: str
    title: str
    isTime: bool  # picoseconds
    total: int


class Member(TypedDict):
    label: str
    totals: list[int]


class UnknownCode(TypedDict):
    """Code without symbols or lines, and its share of the loss."""

    objects: list[str]
    share: float
    hasSymbols: bool


class Estimates(TypedDict):
    """The errors of a sampled run. Those of totals are half the widths of their 95 % intervals, by event; those of
    functions and lines are in tables."""

    bursts: list[int]  # of each side; 0 of an exact one
    totals: list[int] | None  # None: unknown, or two profiles are compared


class TableFacts(TypedDict):
    rows: int
    columns: list[str]


class TreeFacts(TypedDict):
    folded: bool
    height: int
    other: int | None  # the frame that stands for the paths that the tree had no room for, if any


class Facts(TypedDict):
    version: int
    generator: str
    use: Use
    verdict: Verdict | None
    first: First | None
    hottest: Hottest | None
    matched: int
    above: list[int]  # functions above main, which only start the program
    sides: list[list[Part]]  # the profile's parts; if two are compared, those after and those before
    totals: list[list[int]]
    members: list[Member]
    events: list[str]
    metrics: list[Metric]
    columns: list[tuple[str, bool]]  # metric, inclusive
    objects: list[str]
    files: list[str]
    # Name, object file, file, line, and the name that is shown if it differs, else empty.
    functions: list[tuple[str, int, int, int, str]]
    cycles: list[list[int]]
    unknown: UnknownCode | None
    hints: Hints
    why: Why | None  # if the run noted why lines were loaded
    tables: dict[str, TableFacts]
    inlined: list[str]  # names of inlined functions, and addresses of loops without lines
    codeTexts: list[str]
    frames: list[int | str]  # a function; or the name of a root or of the frame for other paths
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
    """The columns of a table, by name. own: those that do not depend on events. counts: a column for each side, with
    `before:` in front for the second one of a comparison. kinds: for each kind of cost, a column for each side and
    event, such as `self:Ir`; tables of data objects have fewer events. more: own columns that not every page has."""

    own: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    kinds: tuple[Literal["self", "incl"], ...] = ()
    more: tuple[str, ...] = ()


BEFORE = "before:"
TABLES: Mapping[str, Columns] = {
    "functions": Columns(("cycle", "recursive"), ("calls",), ("self", "incl")),
    # parent and within are rows counted from 1, 0 for none: of the parent, and of the frame of the caller that calls.
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
    # For the same rows, half the widths of the intervals of a sampled run, plus 1; 0 if nothing is known.
    "functionWidths": Columns((), (), ("self", "incl")),
    "lineWidths": Columns((), (), ("self",)),
    "hotLineWidths": Columns(("ranked",), (), ("self",)),
    "data": Columns((), (), ("self",)),
    "dataRows": Columns(("group", "function", "file", "line"), (), ("self",)),
    "dataBytes": Columns(("loaded", "used", "borders")),
    # For each rank its host, its group (from 1; 0 for none) and its totals.
    "ranks": Columns(("host", "group"), (), ("self",)),
    "strips": Columns(("cost",)),
    "functionsOf": Columns((), ("calls",), ("self", "incl")),
    "treeOf": Columns((), ("calls",), ("self",)),
    "arcsOf": Columns((), ("calls",), ("incl",)),
    "linesOf": Columns((), (), ("self",)),
    "sitesOf": Columns((), ("calls",), ("incl",)),
}
# Tables that divide the rows of another table among the members of a sum, in columns such as `0:self:Ir`.
OF_MEMBERS: Mapping[str, str] = {
    "functions": "functionsOf", "arcs": "arcsOf", "lines": "linesOf", "tree": "treeOf", "sites": "sitesOf",
}
# Tables whose costs may be sums over another table: that table, and the columns that must be equal.
SUMS: Mapping[str, tuple[str, ...]] = {"arcs": ("sites", "caller", "callee")}
# The tables that each view needs. All views need the table of functions as well; the columns of the tree are read one
# by one.
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
