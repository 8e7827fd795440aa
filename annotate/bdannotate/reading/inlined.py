# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads chains of inlined calls from debug information.

LLVM's symbolizer reads DWARF 2 to 5: compressed, split (.dwo), or in separate files, which the object file names or
which are in /usr/lib/debug by build id. It gets only addresses that were executed in functions that are shown. Names
that it cannot demangle (LLVM 14: some templates of the C++ library) are left to c++filt, if that is installed.

A report asks several times. The symbolizers of the object files stay until it is done, as they take longer to start,
and to read what belongs to an address, than to answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bdcommon.auxiliary import Dialog, ToolError

from ..model.errors import UserError, shorten
from ..model.frames import Chain, Position
from ..model.rust_names import has_rust_hash, with_arguments
from .demangle import demangled
from .object_files import require_object_file

_SYMBOLIZER = "llvm-symbolizer"
_SECONDS = 600
# The maximum number of symbolizers that wait for further questions, as each may take much memory.
_MOST_WAITING = 4
# What is beyond has no answer, and only a damaged profile has it.
_ADDRESSES = 1 << 64
# Another build has the same lines at hardly any address.
_FEWEST_RIGHT = 0.5


@dataclass(frozen=True, slots=True)
class InlinedCalls:
    """chains: by object file and address. notes: sentences that say what is unknown, and why. changed: the object files
    whose lines show that they are not those that ran."""

    chains: Mapping[str, Mapping[int, Chain]]
    notes: tuple[str, ...]
    changed: frozenset[str] = frozenset()


def read_inlined_calls(
    wanted: Mapping[str, Mapping[int, int]], with_types: bool = False, with_starts: bool = False,
    seconds: int = _SECONDS,
) -> InlinedCalls:
    """Asks for the chains of addresses. wanted: for each object file, addresses with their source lines in the profile,
    0 if it has none. with_types: whether names of Rust get their type arguments, which takes twice as long.
    with_starts: whether positions get the first lines of their functions. seconds: the most time for each object
    file."""
    wanted = {
        name: {address: line for address, line in lines.items() if 0 <= address < _ADDRESSES}
        for name, lines in wanted.items() if any(lines.values())
    }
    chains: dict[str, Mapping[int, Chain]] = {}
    notes: list[str] = []
    changed: set[str] = set()
    for name, lines in sorted(wanted.items()):
        try:
            found = _ask(name, sorted(lines), with_types, seconds)
        except UserError as error:
            notes.append(f"inlined functions of {shorten(name)} are not shown: {error}")
            continue
        known = [address for address, line in lines.items() if line]
        right = sum(
            address in found and found[address][-1].line == lines[address] for address in known
        )
        if right < _FEWEST_RIGHT * len(known):
            changed.add(name)
            notes.append(
                f"inlined functions of {shorten(name)} are not shown: the file is not the one that ran, or its "
                "debug information is missing"
            )
            continue
        chains[name] = found if with_starts else _without_starts(found)
    return InlinedCalls(_demangled(chains), tuple(notes), frozenset(changed))


def _without_starts(chains: Mapping[int, Chain]) -> Mapping[int, Chain]:
    return {address: tuple(place._replace(start=0) for place in chain) for address, chain in chains.items()}


def _ask(name: str, addresses: list[int], with_types: bool, seconds: int) -> dict[int, Chain]:
    require_object_file(name)
    answers = _answers(name, addresses, seconds, "--verbose")
    if with_types and any(has_rust_hash(place.function) for chain in answers for place in chain):
        alone = _answers(name, addresses, seconds, "--functions=short")
        answers = [
            tuple(
                place._replace(function=with_arguments(place.function, own.function))
                if has_rust_hash(place.function) else place
                for place, own in zip(*chains)
            )
            for chains in zip(answers, alone)
        ]
    return {
        address: chain for address, chain in zip(addresses, answers) if chain[-1].line
    }


# By object file and option: those that wait, the one that was asked last at the end; and what all have said.
_waiting: dict[tuple[str, str], Dialog] = {}
_known: dict[tuple[str, str], dict[int, Chain]] = {}


def end_symbolizers() -> None:
    """End those that wait, and forget what they have said. To be called when no more is asked, or files may change."""
    _known.clear()
    while _waiting:
        _waiting.popitem()[1].close()


def _answers(name: str, addresses: list[int], seconds: int, option: str) -> list[Chain]:
    """A chain for each address. UserError: the symbolizer is missing or fails."""
    known = _known.setdefault((name, option), {})
    new = [address for address in addresses if address not in known]
    if new:
        known.update(zip(new, _new_answers(name, new, seconds, option)))
    return [known[address] for address in addresses]


def _new_answers(name: str, addresses: list[int], seconds: int, option: str) -> list[Chain]:
    asked = _waiting.pop((name, option), None)
    try:
        if asked is None:
            tool = shutil.which(_SYMBOLIZER)
            if tool is None:
                raise UserError(f"that needs {_SYMBOLIZER} (package llvm)")
            asked = Dialog([tool, f"--obj={name}", "--inlines", "--demangle", "--output-style=LLVM", option])
        answers = list(_chains(asked.answers([f"{address:#x}" for address in addresses], seconds)))
    except ToolError as error:
        raise UserError(f"{_SYMBOLIZER} failed: {shorten(str(error))}") from None
    if len(answers) != len(addresses):
        asked.close()
        raise UserError(f"{_SYMBOLIZER} gave {len(answers)} answers for {len(addresses)} addresses")
    _waiting[name, option] = asked
    if len(_waiting) > _MOST_WAITING:
        _waiting.pop(next(iter(_waiting))).close()
    return answers


def _demangled(chains: Mapping[str, Mapping[int, Chain]]) -> Mapping[str, Mapping[int, Chain]]:
    known = demangled(
        place.function for found in chains.values() for chain in found.values() for place in chain
    )
    if not known:
        return chains
    return {
        name: {
            address: tuple(
                place._replace(function=known.get(place.function, place.function))
                for place in chain
            )
            for address, chain in found.items()
        }
        for name, found in chains.items()
    }


def _chains(text: str) -> Iterator[Chain]:
    """Splits the symbolizer's answers. Each function has two lines, the innermost first: its name, and
    FILE:LINE:COLUMN; or with --verbose, the name and indented lines with keys. An empty line ends a chain."""
    positions: list[Position] = []
    lines = iter(text.split("\n"))
    name = ""
    for text in lines:
        key, _, value = text.partition(": ")
        if name and text.startswith("  ") and positions:
            positions[-1] = _with_field(positions[-1], key.strip(), value)
        elif text:
            name = text
            where = next(lines, "")
            if where.startswith("  Filename: "):
                positions.append(Position(name, where.partition(": ")[2], 0))
                continue
            file, _, numbers = where.rpartition(":")[0].rpartition(":")
            positions.append(Position(name, file, _number(numbers)))
        elif positions:
            positions.reverse()
            yield tuple(positions)
            positions = []
            name = ""


def _with_field(position: Position, key: str, value: str) -> Position:
    if key == "Line":
        return position._replace(line=_number(value))
    return position._replace(start=_number(value)) if key == "Function start line" else position


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
