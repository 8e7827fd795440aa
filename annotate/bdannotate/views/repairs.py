# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs as text: a sentence each on the first screen; with --hints, also the evidence and the code."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Sequence

from bdcommon.console import printable

from ..analyses.code.ownership import is_foreign
from ..analyses.code.source_text import SourceText, read_source
from ..analyses.data.object_labels import label
from ..analyses.misses.loop_nests import LoopPlace, loop_places
from ..analyses.repairs.choice import Repairs
from ..analyses.repairs.repair import Remedy, Repair
from ..model.numbers import seconds_text, short_count
from .names import fit
from .objects import short_label
from .text import Page

_BRIEF = 3
_MOST_LINES = 3
_LONGEST_NAME = 40
# The variable of a loop, in the syntax of C and similar languages, Fortran, Rust and Python.
_VARIABLE = re.compile(
    r"\bfor\s*\(\s*(?:[\w:<>*&]+\s+)*?[*&]?(\w+)\s*=[^=]|\bfor\s*\([^;()]*?[&*\s](\w+)\s*:[^:]"
    r"|\bdo\s+(?:concurrent\s*\(\s*)?(\w+)\s*=|\bfor\s+&?(?:mut\s+)?(\w+)\s+in\b",
    re.IGNORECASE,
)

# Returns the name of a loop's variable; empty if not known.
Variables = Callable[[LoopPlace], str]


def variables(include: Sequence[str]) -> Variables:
    """The function that finds the variables of loops in their sources. include: the folders to search these in."""
    known: dict[str, SourceText | str] = {}

    def variable(loop: LoopPlace) -> str:
        if not loop.line:
            return ""
        if loop.file not in known:
            known[loop.file] = read_source(loop.file, include)
        source = known[loop.file]
        if isinstance(source, str) or source.is_outside or loop.line > len(source.lines):
            return ""
        match = _VARIABLE.search(source.lines[loop.line - 1][:200])
        return next((name for name in match.groups() if name), "") if match else ""

    return variable


def brief_repairs(found: Repairs, page: Page, variable: Variables) -> list[str]:
    """The first repairs for the first screen, and how many more there are."""
    lines: list[str] = []
    listed = found.list[:_BRIEF]
    if found.list[-1:] and found.list[-1].remedy is Remedy.NONE:
        # The places without a known repair are shown in any case, as most may be lost there.
        listed = (*found.list[: _BRIEF - 1], found.list[-1]) if len(found.list) > _BRIEF else found.list
    for number, repair in enumerate(listed, 1):
        lines += _wrapped(f"{number}. {headline(repair, page, variable)}", page)
        if repair.condition and (other := _unconditional(found, repair)):
            lines += _wrapped(f"   Or {headline(other, page, variable)}", page)
        if repair.is_open:
            lines += [line for text in repair.evidence[1:] for line in _wrapped(f"   {printable(text)}", page)]
    more = len(found.list) - _BRIEF
    return lines + ([f"   {more} more: --hints"] if more > 0 else [])


def _unconditional(found: Repairs, repair: Repair) -> Repair | None:
    """The best alternative that is possible without a condition; None if there is none."""
    others = found.alternatives.get(found.list.index(repair), ())
    return next((other for other in others if not other.condition), None)


def repair_lines(found: Repairs, page: Page, variable: Variables) -> list[str]:
    """All repairs for --hints, with the evidence, the savings, the code, and what is not known."""
    lines: list[str] = []
    for number, repair in enumerate(found.list, 1):
        lines += [""] if lines else []
        title = _wrapped(f"{number}. {headline(repair, page, variable)}", page)
        lines += map(page.heading, title)
        lines += _details(repair, page)
        for other in found.alternatives.get(number - 1, ())[:2]:
            lines += _wrapped(f"   Or {headline(other, page, variable)}", page)
    return lines


def _details(repair: Repair, page: Page) -> list[str]:
    texts = [f"Evidence: {'; '.join(repair.evidence)}."]
    if repair.remedy is Remedy.NONE:
        texts = [f"Evidence: {repair.evidence[0]}.", *(f"{printable(text)}." for text in repair.evidence[1:])]
        return [line for text in texts for line in _wrapped(f"   {text}", page)]
    texts.append(_savings(repair))
    if repair.group is not None:
        texts.append(f"Data: {printable(label(repair.group))}.")
    lines = [line for text in texts for line in _wrapped(f"   {text}", page)]
    lines += [f"       {printable(line)}" for line in repair.code]
    if repair.unknown:
        lines += _wrapped(f"   Not known: {repair.unknown}.", page)
    return lines


def _savings(repair: Repair) -> str:
    one, other, line = repair.before, repair.after, repair.line
    if repair.walks:
        before, after = map(short_count, repair.walks)
        return f"Saves: page walks {before}, then about {after}; {_seconds(repair)}."
    if repair.transfers:
        there, left = repair.transfers
        each = seconds_text(repair.saved.value / max(there - left, 1) * 1e-9)
        return f"Saves: transfers between cores {_transfers(there, left)}; {_share(repair)}, at {each} each."
    if (one.lines, one.last_level) == (other.lines, other.last_level):
        return f"Saves: no misses, but {_seconds(repair)}."
    return (
        f"Saves: L1 misses {_then_with_bytes(one.lines, other.lines, line)}; "
        f"LL misses {_then_with_bytes(one.last_level, other.last_level, line)}; {_seconds(repair)}."
    )


def _share(repair: Repair) -> str:
    """The share of the time that a repair saves, with its range."""
    value, least, most = (max(round(100 * share), 0) for share in repair.shares)
    if not value:
        return f"at most {most}% of the time"
    text = f"{value}% of the time" + ("" if least == value == most else f" ({least}% to {most}%)")
    if repair.saved_by_misses is None:
        return text
    misses = max(round(100 * repair.saved_by_misses / max(repair.time, 1e-9)), 0)
    return text if misses >= value else f"{text}: misses {misses}%, instructions {value - misses}%"


def _whole_percent(share: float) -> str:
    """A share in whole percent; "less than 1%" if it would be rounded to 0."""
    return "less than 1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"


def _seconds(repair: Repair) -> str:
    saved = [seconds_text(max(one, 0.0) * 1e-9) for one in repair.saved]
    return f"about {saved[0]} ({saved[1]} to {saved[2]}), {_share(repair)}"


def _then(before: int, after: int) -> str:
    if before == after:
        return f"{short_count(before)}, unchanged"
    return f"{short_count(before)}, then about {short_count(after)}"


def _then_with_bytes(before: int, after: int, line: int) -> str:
    """The misses before and after, with the bytes that they load. line: the bytes of a line."""
    bytes_then = f" ({short_count(line * before)}B, then {short_count(line * after)}B)" if before != after else ""
    return _then(before, after) + bytes_then


def _transfers(before: int, after: int) -> str:
    return _then(before, after) if after else f"{short_count(before)}, then none"


def what_to_do(repair: Repair, page: Page, variable: Variables) -> str:
    """What to change and where, and the condition if there is one, without what that saves."""
    text = _WHAT[repair.remedy](repair, page, variable)
    return f"{text}, {repair.condition}" if repair.condition else text


def headline(repair: Repair, page: Page, variable: Variables) -> str:
    """What to change and where, and what that saves."""
    text = what_to_do(repair, page, variable)
    if repair.remedy is Remedy.NONE:
        much = f"{_whole_percent(repair.share)} of the estimated time"
        if repair.share_at_most:
            much += f", at most {_whole_percent(repair.share_at_most)} if instructions hide nothing"
        cost = f"misses out of order cost {much}"
        if repair.sites:
            cost = f"they cost {much}"
            return f"no repair is known for the other misses out of order: {cost}"
        if repair.is_doubtful:
            return f"no repair is sure to gain anything: {cost}"
        return f"no repair is known: {cost}" if repair.is_open else f"{text}: {cost}"
    one, other = repair.before, repair.after
    if repair.walks:
        return f"{text}: page walks {_then(*repair.walks)}; {_share(repair)}"
    if repair.transfers:
        return f"{text}: transfers {_transfers(*repair.transfers)}; {_share(repair)}"
    if (one.lines, one.last_level) == (other.lines, other.last_level):
        return f"{text}: saves no misses, but {_share(repair)}"
    text += f": L1 misses {_then(one.lines, other.lines)}"
    if one.last_level - other.last_level >= 0.05 * one.last_level > 0:
        text += f"; LL {_then(one.last_level, other.last_level)}"
    return f"{text}; {_share(repair)}"


def _loops(repair: Repair, page: Page, variable: Variables) -> str:
    """The loops of a repair, such as "product.c:31 (j) and :32 (k)"."""
    texts: list[str] = []
    last = None
    for loop, (path, line) in zip(repair.loops, loop_places(repair.loops)):
        name = variable(loop) if (path, line) == loop.where else ""
        file = printable(os.path.basename(path))
        where = f":{line}" if path == last else f"{file}:{line}"
        if not line:
            where = f"{loop.address:#x} of {fit(page.name(loop.function), _LONGEST_NAME)}"
        texts.append(f"{where} ({printable(name)})" if name else where)
        last = path
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _place(repair: Repair, page: Page) -> str:
    if not repair.lines:
        return fit(page.name(repair.function), _LONGEST_NAME)
    shown = sorted(repair.lines[:_MOST_LINES])
    file = printable(os.path.basename(repair.file))
    place = f"{file}:{shown[0]}" + "".join(f", :{line}" for line in shown[1:])
    # For a library, the function says more than the line.
    return f"{fit(page.name(repair.function), _LONGEST_NAME)} ({place})" if is_foreign(repair.file) else place


def _data(repair: Repair, page: Page, otherwise: str) -> str:
    if repair.group is None:
        return otherwise
    return short_label(label(repair.group), _LONGEST_NAME, page)


_WHAT: dict[Remedy, Callable[[Repair, Page, Variables], str]] = {
    Remedy.INTERCHANGE: lambda it, page, variable: f"exchange the loops at {_loops(it, page, variable)}",
    Remedy.TILE: lambda it, page, variable: f"tile the loops at {_loops(it, page, variable)}",
    Remedy.FUSE: lambda it, page, variable: f"fuse the loops at {_loops(it, page, variable)}",
    Remedy.SPLIT: lambda it, page, _: (
        f"split {_data(it, page, 'the elements')}: keep what {_place(it, page)} uses apart from the rest"
    ),
    Remedy.PACK: lambda it, page, _: (
        f"reorder the fields of {_data(it, page, 'the type')}, used at {_place(it, page)}, to remove padding"
    ),
    Remedy.PAD: lambda it, page, _: f"pad the data of {_place(it, page)} by one line",
    Remedy.ALIGN: lambda it, page, _: f"align {_data(it, page, 'the elements')}, used at {_place(it, page)}",
    Remedy.PREFETCH: lambda it, page, _: (
        f"prefetch {_data(it, page, 'what is looked up')} a few look-ups ahead at {_place(it, page)}"
    ),
    Remedy.COLOCATE: lambda it, page, _: (
        f"store {_data(it, page, 'the elements')} in the order of the visits at {_place(it, page)}"
    ),
    Remedy.HUGE_PAGES: lambda it, page, _: (
        f"put {_data(it, page, 'the data')}, used at {_place(it, page)}, on huge pages"
    ),
    Remedy.SMALLER_WORKING_SET: lambda it, page, _: f"work on less data at a time at {_place(it, page)}",
    Remedy.UNSHARE: lambda it, page, _: (
        f"give each thread's part of {_data(it, page, 'the data')}, used at {_place(it, page)}, cache lines of its own"
    ),
    Remedy.NONE: lambda it, page, _: "other loops or layouts gain nothing",
}


def _wrapped(text: str, page: Page) -> list[str]:
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.lstrip(), page.width, initial_indent=indent, subsequent_indent=f"{indent}  " if indent else "   ",
        break_on_hyphens=False, break_long_words=page.cut,
    )
