# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a loop needs what another one, in front of it in the same source file, adds up over its whole run: a sum, a
count, a largest value. Then the two cannot be one.

The text of the source is looked at, not parsed: what the first loop accumulates, which it does not set itself; where
the statements between the loops take that; and whether the second one reads it. Of a loop in a function that was
inlined, the statement that calls it is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...model.profile import Profile
from ..code.source_text import SourceText, read_source
from .loop_nests import LoopPlace
from .sites import Sites

# Whether the second of two loops needs what the first adds up; None where that is not known.
Needs = Callable[[LoopPlace, LoopPlace], bool | None]

# Longer texts are not looked at.
_MOST_LINES = 200
_LONGEST_LINE = 400
_LONGEST_STATEMENT = 10  # lines

_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_FORTRAN_COMMENTS = re.compile(r"![^\n]*|\"[^\"\n]*\"|'[^'\n]*'")
_PLACE = r"[A-Za-z_]\w*(?:(?:\.|->)\w+|\[[^][]*\]|\([^()]*\))*"
_ASSIGNED = re.compile(rf"(?<![\w.>])({_PLACE})\s*([-+*/|&^%]|<<|>>)?=(?![=>])")
_NAME = re.compile(r"[A-Za-z_]\w*")


def needs_of(sites: Sites, profile: Profile, include: Sequence[str]) -> Needs:
    """By the sources, as far as they can be read."""
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
        # A call may pass on what it computes in other ways, too, and use what its statement does not name.
        return found if found or is_first_loop and is_second_loop else None

    return needs


_Place = tuple[str, int]


def _parted(
    first: Sequence[_Place], second: Sequence[_Place]
) -> tuple[_Place, _Place, bool, bool] | None:
    """Where the code of two loops is no longer the same: files and lines, and whether each is the loop itself, not a
    call that was inlined. None where that is not one file, or in another order."""
    for depth, (one, other) in enumerate(zip(first, second)):
        if one != other:
            if one[0] != other[0] or not 0 < one[1] < other[1]:
                return None
            return one, other, depth == len(first) - 1, depth == len(second) - 1
    return None


def _end_of_statement(lines: Sequence[str], start: int) -> int:
    """The line where the statement of a line ends."""
    for number in range(start, min(start + _LONGEST_STATEMENT, len(lines))):
        if ";" in lines[number - 1] or "{" in lines[number - 1]:
            return number
    return start


def _last_line(loop: LoopPlace, sites: Sites, profile: Profile) -> int:
    """Of its instructions, that stand in its file."""
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
    """Of these lines of source: whether the second ones read what the first ones accumulate, or what the ones between
    make of it. is_call: the first ones call what has a loop; what they assign is its result."""
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
    """What keeps its value from iteration to iteration, and gets another one from it: not what the loop itself sets,
    nor elements that change with what it sets."""
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
    """Not what parts of a call assign."""
    found = ((statement, _assignment(statement, is_fortran)) for statement in statements)
    return frozenset(
        _plain(one[1]) for statement, one in found
        if one is not None and statement.count("(", 0, one.start()) == statement.count(")", 0, one.start())
    )


def _passed_on(statement: str, results: frozenset[str], is_fortran: bool) -> frozenset[str]:
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
    # Not equal, in Fortran.
    return None if found is not None and is_fortran and found[2] is not None else found


def _plain(place: str) -> str:
    return re.sub(r"\s+", "", place)


def _has(text: str, place: str) -> bool:
    return re.search(rf"(?<![\w.>]){re.escape(place)}(?!\w)", _plain_places(text)) is not None


def _plain_places(text: str) -> str:
    """Without blanks within subscripts, so that places can be compared."""
    return re.sub(r"\s*([][().]|->)\s*", r"\1", text)
