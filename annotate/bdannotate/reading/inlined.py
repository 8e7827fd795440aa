# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains of inlined calls, from the debug information of the program that ran.

LLVM's symbolizer reads it: DWARF 2 to 5, compressed, in separate files that the object names or
that stand under its build id in /usr/lib/debug, and split ones (.dwo). It is asked only for
addresses that were executed, in functions that are to be shown. What it cannot demangle, as that of
LLVM 14 some templates of the C++ library, c++filt can, where that is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bdcommon.auxiliary import ToolError, answer_of

from ..model.errors import UserError, shorten
from ..model.frames import Chain, Position
from ..model.rust_names import has_rust_hash, with_arguments
from .demangle import demangled
from .object_files import require_object_file

_SYMBOLIZER = "llvm-symbolizer"
_SECONDS = 600
# Another program has hardly a line at the same address.
_FEWEST_RIGHT = 0.5


@dataclass(frozen=True, slots=True)
class InlinedCalls:
    """chains by object and address. notes say in sentences what is not known, and why. changed are
    the objects whose code is not the one that ran, as far as lines tell."""

    chains: Mapping[str, Mapping[int, Chain]]
    notes: tuple[str, ...]
    changed: frozenset[str] = frozenset()


def read_inlined_calls(
    wanted: Mapping[str, Mapping[int, int]], with_types: bool = False, with_starts: bool = False,
    seconds: int = _SECONDS,
) -> InlinedCalls:
    """wanted: for each object, the addresses with the source lines that the profile has for them,
    0 where it has none. with_types: whether names of Rust are to have what their parameters stand
    for, which takes twice as long. with_starts: whether positions are to say where their functions
    begin. seconds: how long each object may take."""
    options = ("--verbose",) if with_starts else ()
    wanted = {name: lines for name, lines in wanted.items() if any(lines.values())}
    chains: dict[str, Mapping[int, Chain]] = {}
    notes: list[str] = []
    changed: set[str] = set()
    for name, lines in sorted(wanted.items()):
        try:
            found = _ask(name, sorted(lines), with_types, seconds, options)
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
        chains[name] = found
    return InlinedCalls(_demangled(chains), tuple(notes), frozenset(changed))


def _ask(
    name: str, addresses: list[int], with_types: bool, seconds: int, options: Sequence[str]
) -> dict[int, Chain]:
    require_object_file(name)
    answers = _answers(name, addresses, seconds, *options)
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


def _answers(name: str, addresses: list[int], seconds: int, *options: str) -> list[Chain]:
    """A chain for each."""
    tool = shutil.which(_SYMBOLIZER)
    if tool is None:
        raise UserError(f"that needs {_SYMBOLIZER} (package llvm)")
    command = [tool, f"--obj={name}", "--inlines", "--demangle", "--output-style=LLVM", *options]
    try:
        text = answer_of(command, "".join(f"{address:#x}\n" for address in addresses), seconds)
    except ToolError as error:
        raise UserError(f"{_SYMBOLIZER} failed: {shorten(str(error))}") from None
    answers = list(_chains(text))
    if len(answers) != len(addresses):
        raise UserError(f"{_SYMBOLIZER} gave {len(answers)} answers for {len(addresses)} addresses")
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
    """Two lines for each function, innermost first: its name, and FILE:LINE:COLUMN; or, if verbose, the
    name and indented lines with a key. An empty line ends a chain."""
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
