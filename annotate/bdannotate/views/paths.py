# SPDX-License-Identifier: GPL-2.0-or-later
"""Hot paths within functions, as text and as JSON."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bdcommon.console import printable

from ..analyses.code.columns import Column, CostKind
from ..analyses.code.source_text import SourceText, read_source
from ..analyses.paths import Branch, FunctionPaths, HotPath, PathsReport, PathSum, Spot, Stretch, Way
from ..model.paths import Ending
from ..model.profile import Function, Row
from .costs import cost_cells, cost_headings, cost_table, fitting, name_width
from .files import self_columns
from .json_values import Json, text
from .text import Cell, Page, function_label, shorten_end

PATHS_TITLE = "Paths within functions"
_MOST_LINES = 3  # of the page, for the lines of a path
_MOST_SOURCE = 48  # characters of a source line
_MOST_WAYS = 3  # that a path did not take
_ENDS = {Ending.RETURN: "returns", Ending.CALL: "ends in a call", Ending.PLAIN: "goes back"}
_ENDING = {Ending.RETURN: "returning", Ending.CALL: "ending in a call", Ending.PLAIN: "going back"}

# Returns the text of a line of a source file; empty if it cannot be read.
LineText = Callable[[str, int], str]


def line_texts(include: Sequence[str]) -> LineText:
    """The function that reads lines of source files. include: the folders to search them in."""
    known: dict[str, SourceText | str] = {}

    def found(file: str, line: int) -> str:
        if file not in known:
            known[file] = read_source(file, include)
        source = known[file]
        if isinstance(source, str) or source.is_outside or not 0 < line <= len(source.lines):
            return ""
        return " ".join(source.lines[line - 1].split())

    return found


class _Row(NamedTuple):
    """A row of the table. function: that of a function's row. label: that of other rows. below: lines below the row."""

    label: str
    cost: Row
    below: Sequence[str] = ()
    style: str = ""
    function: Function | None = None


def path_lines(
    found: PathsReport, chosen: Sequence[Column], limit: int | None, line_text: LineText, page: Page
) -> list[str]:
    """The paths as lines. chosen: the columns of the report. limit: the maximum number of hot paths; None: no limit."""
    columns = _columns(found, chosen)
    lines = [*_summary(found, page), ""]
    rest = limit
    rows: list[_Row] = []
    hidden = 0
    for one in found.functions:
        shown = one.hot if rest is None else one.hot[:rest]
        rest = None if rest is None else rest - len(shown)
        hidden += len(one.hot) - len(shown)
        if shown:
            rows += _function(one, shown, found, line_text, page)
    if rows:
        lines += _table(rows, columns, found, page)
    if hidden:
        lines += ["", f"{hidden:,} more hot path{'s' if hidden > 1 else ''}: --limit=all"]
    return lines if lines[-1] else lines[:-1]


def _columns(found: PathsReport, chosen: Sequence[Column]) -> list[Column]:
    """The metric that paths are ranked by, and those columns of the report that paths have."""
    others = [
        replace(column, metric=found.metrics[column.metric.name])
        for column in self_columns(chosen) if column.metric.name in found.metrics
    ]
    return [
        Column(found.metric, CostKind.SELF), *(column for column in others if column.metric.name != found.metric.name)
    ]


def mark_text(found: PathsReport) -> str:
    """Sentences on how many paths there are, and when they are hot or dense."""
    executed = sum(one.executed for one in found.functions)
    some = " of these functions" if found.is_of_some else ""
    return (
        f"{_number(len(found.functions), 'function')} executed {_number(executed, 'path')}. A path or function is hot "
        f"if it has {found.threshold:g}% or more of the total ({found.base:,} {found.metric.heading}{some}), and "
        "dense if it has more of that per instruction than the whole program."
    )


def _summary(found: PathsReport, page: Page) -> list[str]:
    lines = _wrapped(mark_text(found), "", "", page)
    columns = [Column(found.metric, CostKind.SELF)]
    if "Ir" in found.metrics and found.metric.name != "Ir":
        columns.append(Column(found.metrics["Ir"], CostKind.SELF))
    rows = _groups(found, "path", [path.cost for path in found.hot])
    colder = PathSum(0, (0,) * len(found.events))
    other = PathSum(0, colder.cost)
    for one in found.functions:
        colder.add(one.colder.cost, one.colder.number)
        other.add(one.other.cost, one.other.number)
    rows.append((_number(colder.number, "colder path"), colder.cost))
    if any(other.cost):
        rows.append(("not separated: see --paths-nodes", other.cost))
    if any(found.unfollowed):
        rows.append(("functions without paths", found.unfollowed))
    hot = [one for one in found.functions if found.is_hot(one.cost)]
    of_functions = _groups(found, "function", [one.cost for one in hot])
    if hot:
        each = sum(one.executed for one in hot) / len(hot)
        label, cost = of_functions[0]
        of_functions[0] = f"{label}, with {each:.1f} path{'' if each == 1 else 's'} on average", cost
    rows += of_functions
    labels = [Cell(label) for label, _ in rows]
    cells = [cost_cells(columns, row, None, found.totals, page) for _, row in rows]
    headings, cells = fitting(cost_headings(columns, with_sides=False), cells, page)
    return [*lines, "", *cost_table(headings, "", cells, labels, page)]


def _groups(found: PathsReport, what: str, costs: Sequence[Row]) -> list[tuple[str, Row]]:
    whole, dense, sparse = found.groups(costs)
    rows = [(_number(whole.number, f"hot {what}"), whole.cost)]
    if costs and found.is_dense(found.totals) is not None:
        rows += [(f"  {group.number:,} {name}", group.cost) for name, group in (("dense", dense), ("sparse", sparse))]
    return rows


def _function(
    one: FunctionPaths, shown: Sequence[HotPath], found: PathsReport, line_text: LineText, page: Page
) -> list[_Row]:
    rows = [_Row("", one.cost, function=one.function)]
    for number, path in enumerate(shown, 1):
        dense = found.is_dense(path.cost)
        kind = "" if dense is None else ", dense" if dense else ", sparse"
        below = _trail(path.trail, one.function, page)
        for branch, way in path.partings:
            sentence = parting_text(one.branches[branch], way, one.function, line_text, page)
            below += _wrapped(sentence, "    ", "      ", page)
        rows.append(_Row(f"  {number}. {_number(path.times, 'time')}{kind}", path.cost, below))
    if hidden := one.hot[len(shown):]:
        rows.append(_Row(
            f"  {_number(len(hidden), 'more hot path')}", found.groups(path.cost for path in hidden)[0].cost, [], "dim"
        ))
    if one.colder.number or any(one.colder.cost):
        rows.append(_Row(f"  {_number(one.colder.number, 'colder path')}", one.colder.cost, [], "dim"))
    if one.other.number or any(one.other.cost):
        rows.append(_Row(f"  not separated: {_number(one.other.number, 'time')}", one.other.cost, [], "dim"))
    return rows


def _table(rows: Sequence[_Row], columns: Sequence[Column], found: PathsReport, page: Page) -> list[str]:
    """The table, with the lines below each row."""
    headings = cost_headings(columns, with_sides=False)
    cells = [cost_cells(columns, row.cost, None, found.totals, page) for row in rows]
    headings, cells = fitting(headings, cells, page)
    width = name_width(headings, cells, page)
    labels = [
        Cell(row.label, row.style) if row.function is None else Cell(function_label(row.function, page, width), "bold")
        for row in rows
    ]
    table = cost_table(headings, "path", cells, labels, page)
    start = len(table) - len(rows)
    lines = table[:start]
    for row, line in zip(rows, table[start:]):
        lines += [line, *row.below]
    return lines


def _trail(trail: Sequence[Stretch], function: Function, page: Page) -> list[str]:
    """The source lines of a path, in the order in which it takes them."""
    what = "code"
    if any(one.file for one in trail):
        what = "line" if len(trail) == 1 and trail[0].first == trail[0].last else "lines"
    pieces: list[str] = []
    file = function.file
    for one in trail:
        pieces.append(_stretch(one, file, page))
        file = one.file or file
    shown = _wrapped(f"{what} {', '.join(pieces)}", "    ", "      ", page)
    if len(shown) <= _MOST_LINES or page.full_names:
        return shown
    return [*shown[: _MOST_LINES - 1], f"      ... {len(pieces):,} stretches in all: --full-names"]


def _stretch(one: Stretch, file: str, page: Page) -> str:
    """The lines of a stretch. file: that of the stretch before, which is not repeated."""
    if not one.file:
        return f"{one.first:#x}-{one.last:#x}"
    lines = str(one.first) if one.first == one.last else f"{one.first}-{one.last}"
    return lines if one.file == file else f"{_file(one.file, page)}:{lines}"


def _file(name: str, page: Page) -> str:
    return printable(name) if page.full_names else printable(os.path.basename(name))


def parting_text(branch: Branch, taken: int, function: Function, line_text: LineText, page: Page) -> str:
    """A clause on the way that a path takes at a branch. taken: the index of that way."""
    at = branch.at
    file = function.file if at is None or not at.file else at.file
    way = branch.ways[taken]
    others = [other for other in branch.ways if other != way]
    if at is None:
        return f"begins at {_way(way, branch, file, page)}, not at {_or(_ways(others, branch, file, page), page)}"
    where = f"line {at.line}" if at.line and at.file == function.file else _spot(at, function.file, page)
    source = line_text(at.file, at.line) if at.line else ""
    quoted = f" ({printable(shorten_end(source, _MOST_SOURCE))})" if source else ""
    texts = _ways(others, branch, file, page)
    if way.spot is None:
        texts = [text if other.spot is None else f"to {text}" for other, text in zip(others, texts)]
        return f"at {where}{quoted}: {_ends(way, _ENDS)} rather than {_or(texts, page)}"
    return f"at {where}{quoted}: to {_way(way, branch, file, page)} rather than {_or(texts, page)}"


def _ways(ways: Sequence[Way], branch: Branch, file: str, page: Page) -> list[str]:
    return [_way(way, branch, file, page) for way in ways]


def _way(way: Way, branch: Branch, file: str, page: Page) -> str:
    """The line at which a way goes on, and the address if other ways lead to the same line."""
    if way.spot is None:
        return _ends(way, _ENDING)
    if way.is_hidden:
        return f"hidden code at {way.spot.address:#x}"
    address = f" ({way.spot.address:#x})" if way.spot.line and way.spot[:2] in branch.shared_lines else ""
    return f"{_spot(way.spot, file, page)}{address}"


def _ends(way: Way, texts: Mapping[Ending, str]) -> str:
    return texts.get(way.ending, texts[Ending.PLAIN])


def _spot(spot: Spot, file: str, page: Page) -> str:
    if not spot.line:
        return f"{spot.address:#x}"
    return str(spot.line) if spot.file in ("", file) else f"{_file(spot.file, page)}:{spot.line}"


def _or(texts: Sequence[str], page: Page) -> str:
    """The texts joined by "or". If there are many, only some of them, unless the page has full names."""
    texts = list(dict.fromkeys(texts))
    if len(texts) > _MOST_WAYS + 1 and not page.full_names:
        return f"{', '.join(texts[:_MOST_WAYS])} or {len(texts) - _MOST_WAYS:,} others"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _wrapped(line: str, indent: str, below: str, page: Page) -> list[str]:
    return textwrap.wrap(
        line, page.width, initial_indent=indent, subsequent_indent=below, break_on_hyphens=False,
        break_long_words=page.cut,
    )


def paths_json(found: PathsReport) -> Json:
    return {
        "events": list(found.events), "metric": found.metric.name, "threshold": found.threshold, "base": found.base,
        "limit": found.limit,
        "functions": [_function_json(one, found) for one in found.functions],
        "unfollowed": list(found.unfollowed),
    }


def _function_json(one: FunctionPaths, found: PathsReport) -> Json:
    return {
        "function": text(one.function.name), "file": text(one.function.file), "object": text(one.function.object),
        "paths": one.executed, "self": list(one.cost),
        "hot": [
            {
                "times": path.times, "self": list(path.cost), "dense": found.is_dense(path.cost),
                "trail": [_stretch_json(stretch) for stretch in path.trail],
                "partings": [{"branch": parting.branch, "way": parting.way} for parting in path.partings],
            }
            for path in one.hot
        ],
        "branches": [
            {
                "at": None if branch.at is None else _spot_json(branch.at),
                "ways": [_way_json(way) for way in branch.ways],
            }
            for branch in one.branches
        ],
        "colder": {"paths": one.colder.number, "self": list(one.colder.cost)},
        "other": {"times": one.other.number, "self": list(one.other.cost)},
    }


def _stretch_json(one: Stretch) -> Json:
    if one.file:
        return {"file": text(one.file), "lines": [one.first, one.last]}
    return {"addresses": [one.first, one.last]}


def _spot_json(spot: Spot) -> dict[str, Json]:
    return {"file": text(spot.file) or None, "line": spot.line or None, "address": spot.address}


def _way_json(way: Way) -> Json:
    if way.spot is None:
        return {"ends": way.ending.name.lower()}
    return {**_spot_json(way.spot), **({"hidden": True} if way.is_hidden else {})}
