# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates the cycles of an iteration of a loop whose data hits L1, by LLVM's model of the processor (llvm-mca), from
the code that llvm-objdump finds in the object file.

Both tools come with the symbolizer. If one of them is missing, or does not know the processor or the code, the cycles
stay unknown; this is no error.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bdcommon.auxiliary import ToolError, answer_of

from ..model.errors import UserError
from ..model.machine import Machine
from ..model.work import Body, Cycles
from .object_files import require_object_file

_DISASSEMBLER, _SIMULATOR = "llvm-objdump", "llvm-mca"
_SECONDS = 60
_ITERATIONS = 200
# Starting the disassembler takes longer than disassembling this many bytes.
_APART = 1 << 14
# The name and operands of an instruction, without comments and names of symbols, which cannot be trusted.
_LINE = re.compile(r" *([0-9a-f]{1,16}):\s+([a-z][a-z0-9 ]*?)(?:\t([-+a-z0-9%$(),*:{} ]*?))?\s*(?:[<#].*)?")
_JUMPS = re.compile(r"j[a-z]+|loopn?e?")
_ENDS = re.compile(r"call[a-z]*|ret[a-z]*|sys[a-z]+|int[0-9]?|ud2|rep.*")

_MODEL = re.compile(r"(\w+) family (\d{1,3}) model (\d{1,3})\b.*")
# The names of processors in LLVM, by maker, family and models; the best first, as older releases know fewer.
_NAMES: Sequence[tuple[str, int, range, tuple[str, ...]]] = (
    ("AuthenticAMD", 23, range(0, 48), ("znver1",)),
    ("AuthenticAMD", 23, range(48, 256), ("znver2",)),
    ("AuthenticAMD", 25, range(16, 32), ("znver4", "znver3")),
    ("AuthenticAMD", 25, range(96, 192), ("znver4", "znver3")),
    ("AuthenticAMD", 25, range(0, 256), ("znver3",)),
    ("AuthenticAMD", 26, range(0, 256), ("znver5", "znver4", "znver3")),
    ("GenuineIntel", 6, range(60, 71), ("haswell",)),
    ("GenuineIntel", 6, range(78, 79), ("skylake",)),
    ("GenuineIntel", 6, range(85, 86), ("skylake-avx512",)),
    ("GenuineIntel", 6, range(94, 95), ("skylake",)),
    ("GenuineIntel", 6, range(106, 109), ("icelake-server",)),
    ("GenuineIntel", 6, range(142, 144), ("sapphirerapids", "icelake-server")),
    ("GenuineIntel", 6, range(151, 155), ("alderlake", "icelake-client")),
    ("GenuineIntel", 6, range(158, 159), ("skylake",)),
)

# Simulators, with processors that they do not know.
_unknown: set[tuple[str, str]] = set()


def read_loop_cycles(bodies: Iterable[Body], machine: Machine) -> dict[Body, Cycles]:
    """The cycles of the loops for which they are known."""
    names = names_of(machine.model)
    simulator = shutil.which(_SIMULATOR)
    if not names or simulator is None:
        return {}
    code: dict[Body, list[str]] = {}
    for group in _groups(bodies):
        code |= _code(group)
        # What lies between loops may be data, behind which instructions are not found.
        for body in group if len(group) > 1 else ():
            if body not in code:
                code |= _code([body])
    for name in names if code else ():
        if (simulator, name) in _unknown:
            continue
        text = "".join(
            f"# LLVM-MCA-BEGIN {number}\n" + "".join(f"{line}\n" for line in lines) + f"# LLVM-MCA-END {number}\n"
            for number, lines in enumerate(code.values())
        )
        options = (
            f"-mcpu={name}", f"-iterations={_ITERATIONS}", "-json", "-instruction-info=false",
            "-resource-pressure=false",
        )
        try:
            answer = answer_of([simulator, *options, "-"], text, _SECONDS)
            found = _cycles(answer, name)
        except (ToolError, ValueError, TypeError, KeyError):
            continue
        if found is None:
            _unknown.add((simulator, name))
        else:
            return {body: found[str(number)] for number, body in enumerate(code) if str(number) in found}
    return {}


def names_of(model: str) -> tuple[str, ...]:
    """The names that LLVM may have for a processor, from its description in a machine file."""
    match = _MODEL.fullmatch(model)
    if match is None:
        return ()
    maker, family, number = match[1], int(match[2]), int(match[3])
    return next(
        (names for one, other, models, names in _NAMES if (one, other) == (maker, family) and number in models), ()
    )


def _groups(bodies: Iterable[Body]) -> Iterator[list[Body]]:
    """Loops whose code is disassembled together, as they are near each other in an object file."""
    group: list[Body] = []
    for body in sorted(bodies, key=lambda one: (one.object, one.addresses)):
        if group and (body.object != group[0].object or body.addresses[0] > group[-1].addresses[-1] + _APART):
            yield group
            group = []
        group.append(body)
    if group:
        yield group


def _code(bodies: Sequence[Body]) -> dict[Body, list[str]]:
    """The instructions of loops of one object file, without jumps, as these are one operation with the comparison
    before them. Those that call or leave in between, and those whose code cannot be read, are left out."""
    disassembler, path = shutil.which(_DISASSEMBLER), bodies[0].object
    try:
        require_object_file(path)
        if disassembler is None:
            return {}
        listing = answer_of([
            disassembler, "-d", "--no-show-raw-insn", f"--start-address={bodies[0].addresses[0]:#x}",
            f"--stop-address={max(body.addresses[-1] for body in bodies) + 1:#x}", path,
        ], "", _SECONDS)
    except (ToolError, UserError):
        return {}
    known: dict[int, str | None] = {}
    for text in listing.split("\n"):
        if match := _LINE.fullmatch(text):
            name = match[2].strip()
            if not _ENDS.fullmatch(name):
                known[int(match[1], 16)] = None if _JUMPS.fullmatch(name) else f"{name} {match[3] or ''}"
    found: dict[Body, list[str]] = {}
    for body in bodies:
        if all(address in known for address in body.addresses):
            if lines := [line for address in body.addresses if (line := known[address]) is not None]:
                found[body] = lines
    return found


def _cycles(answer: str, name: str) -> Mapping[str, Cycles] | None:
    """The cycles by region. None if the answer is for another processor, as LLVM gives it if it does not know this
    one."""
    said = json.loads(answer)
    if said["SimulationParameters"]["-mcpu"] != name:
        return None
    found: dict[str, Cycles] = {}
    for region in said["CodeRegions"]:
        view = region["SummaryView"]
        least = float(view["BlockRThroughput"])
        cycles = float(view["TotalCycles"]) / _ITERATIONS
        if 0 < least < 1e6 and 0 < cycles < 1e6:
            found[str(region["Name"])] = Cycles(max(cycles, least), least)
    return found
