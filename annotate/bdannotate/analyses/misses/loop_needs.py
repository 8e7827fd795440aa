# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a loop needs what an earlier loop in the same source file accumulates over its whole run, such as a sum, a
count or a maximum. If so, the two cannot be fused.

The source is searched by patterns, not parsed: for what the first loop accumulates and does not set itself, for where
the statements between the loops pass it on, and for whether the second loop reads it. For a loop in an inlined
function, the statement with the call is searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...model.profile import Profile
from ..code.source_text import SourceText, read_source
from .loop_nests import LoopPlace
from .sites import Sites

# Returns whether the second of two loops needs what the first one accumulates; None if not known.
Needs = Callable[[LoopPlace, LoopPlace], bool | None]

# Longer texts are skipped, longer lines are cut.
_MOST_LINES = 200
_LONGEST_LINE = 400  # characters
_LONGEST_STATEMENT = 10  # lines

_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_FORTRAN_COMMENTS = re.compile(r"![^\n]*|\"[^\"\n]*\"|'[^'\n]*'")
_PLACE = r"[A-Za-z_]\w*(?:(?:\.|->)\w+|\[[^][]*\]|\([^()]*\))*"
_ASSIGNED = re.compile(rf"(?<![\w.>])({_PLACE})\s*([-+*/|&^%]|<<|>>)?=(?![=>])")
_NAME = re.compile(r"[A-Za-z_]\w*")


def needs_of(sites: Sites, profile: Profile, include: Sequence[str]) -> Needs:
    """The function that answers by the sources, as far as they can be read. include: the folders to search them in."""
    texts: dict[str, SourceText | str] = {}

    def needs(first: LoopPlace, second: LoopPlace) -> bool | None:
        if first.function != second.function:
            return None
        parted = _parted(first.positions, second.positions)
        if parted is None:
            return None
        (file, line), (_, second_line), is_first_loop, is_second_loop = parted
        if file not in texts:
            texts[file] = read_source(file, include)
        text = texts[file]
        if isinstance(text, str) or text.is_outside or second_line > len(text.lines):
            return None
        first_end, second_end = (
            _last_line(loop, sites, profile) if is_loop else _end_of_statement(text.lines, start)
            for loop, is_loop, start in ((first, is_first_loop, line), (second, is_second_loop, second_line))
        )
        first_end = min(first_end, second_line - 1)
        if second_end - line >= _MOST_LINES or second_end > len(text.lines):
            return None
        is_fortran = file.lower().rpartition(".")[2] in ("f", "for", "f90", "f95", "f03", "f08")
        found = needs_result(
            text.lines[line - 1:first_end], text.lines[first_end:second_line - 1],
            text.lines[second_line - 1:second_end], is_fortran, is_call=not is_first_loop,
        )
        # A call may also pass on results in other ways, and use more than its statement names: "no" is not certain.
        return found if found or is_first_loop and is_second_loop else None

    return needs


_Place = tuple[str, int]


def _parted(
    first: Sequence[_Place], second: Sequence[_Place]
) -> tuple[_Place, _Place, bool, bool] | None:
    """The first positions, of the loops or of inlined calls, at which two loops differ, and whether each of these is
    the loop itself. None if they are in different files, or the second one does not come after the first."""
    for depth, (one, other) in enumerate(zip(first, second)):
        if one != other:
            if one[0] != other[0] or not 0 < one[1] < other[1]:
                return None
            return one, other, depth == len(first) - 1, depth == len(second) - 1
    return None


def _end_of_statement(lines: Sequence[str], start: int) -> int:
    """The number of the line where the statement that begins in line `start` ends. Lines count from 1."""
    for number in range(start, min(start + _LONGEST_STATEMENT, len(lines))):
        if ";" in lines[number - 1] or "{" in lines[number - 1]:
            return number
    return start


def _last_line(loop: LoopPlace, sites: Sites, profile: Profile) -> int:
    """The last line of a loop's instructions in its file; its first line if none are known."""
    addresses = set(sites.loops.addresses(loop))
    return max((
        one.line for place, rows in profile.instructions.items()
        if place.function == loop.function and place.file == loop.file
        for address, one in rows.items() if address in addresses
    ), default=loop.line)


def needs_result(
    first: Sequence[str], between: Sequence[str], second: Sequence[str], is_fortran: bool = False,
    is_call: bool = False,
) -> bool:
    """Whether the lines `second` read what the lines `first` accumulate, or what the lines between compute from it.
    is_call: whether `first` is a call of a function with a loop; then what it assigns is the result."""
    statements = _statements(first, is_fortran)
    results = _assigned(statements[:1], is_fortran) if is_call else _accumulated(statements, is_fortran)
    for statement in _statements(between, is_fortran):
        results = _passed_on(statement, results, is_fortran)
    for statement in _statements(second, is_fortran):
        if not results:
            return False
        found = _assignment(statement, is_fortran)
        read = statement if found is None else statement[:found.start()] + " " + statement[found.end():]
        if found is not None and found[2] is None and "[" in found[1]:
            read += " " + found[1].partition("[")[2]
        if any(_has(read, result) for result in results):
            return True
        if found is not None and found[2] is None:
            results = results - {_plain(found[1])}
    return False


def _accumulated(statements: Sequence[str], is_fortran: bool) -> frozenset[str]:
    """The variables whose new value depends on their value from the iteration before: not those that the loop also
    sets, nor elements whose subscripts change in it."""
    grown: set[str] = set()
    fresh: set[str] = set()
    changed: set[str] = set()
    for statement in statements:
        changed.update(re.findall(r"([A-Za-z_]\w*)\s*(?:\+\+|--)", statement))
        changed.update(re.findall(r"(?:\+\+|--)\s*([A-Za-z_]\w*)", statement))
        changed.update(re.findall(r"\bfor\s+&?(?:mut\s+)?(\w+)\s+in\b", statement))
        changed.update(re.findall(r"\bfor\s*\([^;()]*?[&*\s](\w+)\s*:[^:]", statement))
        found = _assignment(statement, is_fortran)
        if found is None:
            continue
        place = _plain(found[1])
        changed.add(place)
        if found[2] is not None or _has(statement[found.end():], place):
            grown.add(place)
        else:
            fresh.add(place)
    return frozenset(
        place for place in grown - fresh if not changed & set(_NAME.findall(place)[1:])
    )


def _assigned(statements: Sequence[str], is_fortran: bool) -> frozenset[str]:
    """The variables that statements assign, without assignments within the arguments of a call."""
    found = ((statement, _assignment(statement, is_fortran)) for statement in statements)
    return frozenset(
        _plain(one[1]) for statement, one in found
        if one is not None and statement.count("(", 0, one.start()) == statement.count(")", 0, one.start())
    )


def _passed_on(statement: str, results: frozenset[str], is_fortran: bool) -> frozenset[str]:
    """The variables that depend on `results` after a statement."""
    found = _assignment(statement, is_fortran)
    if found is None:
        return results
    place = _plain(found[1])
    if any(_has(statement[found.end():], result) for result in results):
        return results | {place}
    return results if found[2] is not None else results - {place}


def _statements(lines: Sequence[str], is_fortran: bool) -> list[str]:
    comments = _FORTRAN_COMMENTS if is_fortran else _COMMENTS
    text = comments.sub(" ", "\n".join(line[:_LONGEST_LINE] for line in lines))
    if is_fortran:
        return [line for line in text.lower().split("\n") if line.strip()]
    return [part for part in re.split(r"[;{}]", text.replace("\n", " ")) if part.strip()]


def _assignment(statement: str, is_fortran: bool) -> re.Match[str] | None:
    found = _ASSIGNED.search(statement)
    # In Fortran, "/=" compares.
    return None if found is not None and is_fortran and found[2] is not None else found


def _plain(place: str) -> str:
    return re.sub(r"\s+", "", place)


def _has(text: str, place: str) -> bool:
    return re.search(rf"(?<![\w.>]){re.escape(place)}(?!\w)", _plain_places(text)) is not None


def _plain_places(text: str) -> str:
    """The text without blanks around subscripts and members, so that variables can be compared."""
    return re.sub(r"\s*([][().]|->)\s*", r"\1", text)
