# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of single instructions, from a profile written with --dump-instr=yes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bdcommon.auxiliary import ToolError, answer_of
from bdcommon.regular_files import is_regular_file

from ...model.errors import UserError
from ...model.profile import Function, Row, add_rows
from .report import Report, key_limits
from .source import LineCall
from .windows import windows

_INSTRUCTION_SHARE = 0.1  # the threshold of an instruction, as a share of that of a function
_CONTEXT = 2  # how many instructions are shown around a notable one
_OBJDUMP_SECONDS = 60
# Starting objdump takes as long as disassembling this many bytes, or this share of a large file.
_APART = 1 << 14
_APART_SHARE = 1 / 512
# The maximum bytes of an instruction. objdump would show only the first byte of one that is cut.
_LONGEST = 16


@dataclass(frozen=True, slots=True)
class InstructionLine:
    """An instruction with its costs and calls."""

    address: int
    file: str
    line: int
    cost: Row
    text: str  # disassembled; empty if that was not possible
    calls: tuple[LineCall, ...]


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """The executed instructions of a function to show, by address, in groups without gaps."""

    function: Function
    groups: tuple[tuple[InstructionLine, ...], ...]


def function_codes(report: Report) -> list[FunctionCode]:
    """The instructions of the report's functions that reach a tenth of the threshold, and some around each. Raises
    UserError if the profile has no instructions."""
    if not report.profile.instructions:
        raise UserError("the profile has no instructions: it needs --dump-instr=yes")
    by_function = _instructions(report, {entry.function for entry in report.entries})
    calls = _calls(report)
    found: list[FunctionCode] = []
    for entry in report.entries:
        lines = by_function.get(entry.function)
        if entry.is_cycle or not lines:
            continue
        addresses = sorted(lines)
        own_calls = {address: calls.get((entry.function, address), []) for address in addresses}
        notable = _notable(report, lines, own_calls, addresses)
        kept = windows(notable, _CONTEXT, 0, len(addresses) - 1)
        if not kept:
            continue
        shown = (addresses[index] for window in kept for index in window)
        texts = disassemble(entry.function.object, shown)
        groups = tuple(
            tuple(
                InstructionLine(
                    address, *lines[address], texts.get(address, ""), tuple(own_calls[address])
                )
                for address in (addresses[index] for index in window)
            )
            for window in kept
        )
        found.append(FunctionCode(entry.function, groups))
    return found


_Known = dict[int, tuple[str, int, Row]]  # file, line and costs, by address


def _instructions(report: Report, wanted: Container[Function]) -> dict[Function, _Known]:
    found: dict[Function, _Known] = {}
    for place in report.profile.instructions:
        if place.function not in wanted:
            continue
        mine = found.setdefault(place.function, {})
        for address, (line, cost) in report.profile.instructions[place].items():
            known = mine.get(address)
            total = add_rows(known[2], cost) if known else cost
            mine[address] = (place.file, line, total)
    return found


def _calls(report: Report) -> dict[tuple[Function, int], list[LineCall]]:
    found: dict[tuple[Function, int], list[LineCall]] = {}
    for key, call in sorted(report.profile.instruction_calls.items()):
        within = report.graph.within_cycle(key.caller, key.callee)
        line_call = LineCall(key.callee, call.calls, None if within else call.cost)
        found.setdefault((key.caller, key.address), []).append(line_call)
    return found


def _notable(
    report: Report, lines: _Known, calls: Mapping[int, list[LineCall]], addresses: list[int]
) -> set[int]:
    """The indices into `addresses` of the instructions that reach the threshold, themselves or by their calls."""
    metric = report.selection.keys[0].column.metric
    limits = key_limits(report.selection, report.totals)
    smallest = limits[0][1] if limits else 1
    least = smallest if metric.is_ratio else max(smallest * _INSTRUCTION_SHARE, 1)
    if report.selection.function:
        least = smallest = 0
    return {
        index
        for index, address in enumerate(addresses)
        if abs(metric.value(lines[address][2]) or 0) >= least
        or any(
            call.cost and abs(metric.value(call.cost) or 0) >= smallest for call in calls[address]
        )
    }


def disassemble(path: str, addresses: Iterable[int]) -> dict[int, str]:
    """The texts of instructions by address; empty without objdump or the object file. path: that of the object file.
    The report is complete but for these texts."""
    objdump = shutil.which("objdump")
    if not objdump or not path.startswith("/") or not is_regular_file(path):
        return {}
    wanted = {f"{address:x}": address for address in addresses}
    found: dict[int, str] = {}
    for start, stop in _pieces(sorted(wanted.values()), max(_APART, int(_APART_SHARE * _size(path)))):
        command = [
            objdump, "-d", "-C", "--no-show-raw-insn", f"--start-address={start:#x}",
            f"--stop-address={stop:#x}", path,
        ]
        try:
            text = answer_of(command, "", _OBJDUMP_SECONDS)
        except ToolError:
            return {}
        for line in text.split("\n"):
            at, _, shown = line.partition(":\t")
            address = wanted.get(at.lstrip()) if shown else None
            if address is not None:
                found[address] = shown.expandtabs(8)
    return found


def _size(path: str) -> int:
    """Bytes of a file; 0 if it is gone."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _pieces(addresses: Sequence[int], apart: int = _APART) -> Iterator[tuple[int, int]]:
    """The ranges of addresses to disassemble, each from its start to behind its end. The code between parts of a
    function that are far from each other, by more than `apart` bytes, may be most of a program, so it is skipped."""
    start = before = None
    for address in addresses:
        if start is None or before is None or address - before > apart:
            if start is not None and before is not None:
                yield start, before + _LONGEST
            start = address
        before = address
    if start is not None and before is not None:
        yield start, before + _LONGEST
