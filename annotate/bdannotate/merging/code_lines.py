# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the functions of a profile by instruction, in callgrind format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import sub

from ..exports.callgrind import FunctionWriter
from ..model.profile import Call, CallSite, Function, InstructionCall, Jump, JumpCount, Place, Profile, Row
from .code_tally import CallSum, CodeRows, CodeTally

_Calls = list[tuple[int, CallSum]]  # by address


def code_functions(writer: FunctionWriter, profile: Profile, code: CodeTally) -> Iterator[str]:
    """All costs of the profile by line, and all calls. They are written by instruction as far as instructions account
    for them; the rest gets the address 0."""
    lines: dict[Function, dict[str, Mapping[int, Row]]] = {}
    for place, rows in profile.lines.items():
        lines.setdefault(place.function, {})[place.file] = rows
    calls: dict[Function, dict[str, list[CallSite]]] = {}
    for site in profile.calls:
        calls.setdefault(site.caller, {}).setdefault(site.file, []).append(site)
    jumps: dict[Function, dict[str, list[tuple[Jump, JumpCount]]]] = {}
    for jump, count in code.jumps.items():
        jumps.setdefault(jump.source.function, {}).setdefault(jump.source.file, []).append((jump, count))
    by_site = _calls_by_site(profile, code)
    for function in sorted({*lines, *calls, *jumps}):
        yield f"\nob={writer.objects.written(function.object)}\nfl={writer.files.written(function.file)}\n"
        yield f"fn={writer.functions.written(function.name)}\n"
        own, sites, ways = lines.get(function, {}), calls.get(function, {}), jumps.get(function, {})
        position = _Position()
        for file in sorted({*own, *sites, *ways}, key=lambda file: (file != function.file, file)):
            if file != function.file:
                yield f"fi={writer.files.written(file)}\n"
            of_code = code.rows.get(Place(function, file), {})
            yield from _rows(writer, position, own.get(file, {}), of_code, profile.zero)
            for site in sorted(sites.get(file, ())):
                for address, found in by_site[site]:
                    yield from _call(writer, position, site, address, found, code.beginnings.get(site.callee, 0))
            for jump, count in sorted(ways.get(file, ()), key=_order_of_jump):
                yield from _jump(writer, position, jump, count)


class _Position:
    """The position in what is written of a function. The first one is absolute, the others are relative to the previous
    one, as bdgrind writes them."""

    def __init__(self) -> None:
        self._known: tuple[int, int] | None = None

    def moved(self, address: int, line: int) -> str:
        known, self._known = self._known, (address, line)
        if known is None:
            return f"{address:#x} {line}"
        return f"{_step(address - known[0], hex(address))} {_step(line - known[1], str(line))}"


_NEAR = 1 << 16


def _step(by: int, to: str) -> str:
    if by == 0:
        return "*"
    return to if abs(by) >= _NEAR else f"{by:+d}"


def _rows(
    writer: FunctionWriter, position: _Position, lines: Mapping[int, Row], rows: CodeRows, zero: Row
) -> Iterator[str]:
    left = dict(lines)
    for (address, line), row in sorted(rows.items()):
        whole = row + zero[len(row):]
        left[line] = tuple(map(sub, left.get(line, zero), whole))
        yield f"{position.moved(address, line)} {_text(writer, whole)}"
    for line, row in sorted(left.items()):
        if any(row):
            yield f"{position.moved(0, line)} {_text(writer, row)}"


def _text(writer: FunctionWriter, row: Row) -> str:
    return f"{' '.join(map(str, writer.row(row)))}\n"


def _call(
    writer: FunctionWriter, position: _Position, site: CallSite, address: int, found: CallSum, begin: int
) -> Iterator[str]:
    callee = site.callee
    yield f"cob={writer.objects.written(callee.object)}\ncfi={writer.files.written(callee.file)}\n"
    yield f"cfn={writer.functions.written(callee.name)}\ncalls={found.calls} {begin:#x} 0\n"
    yield f"{position.moved(address, site.line)} {_text(writer, found.cost)}"


def _jump(writer: FunctionWriter, position: _Position, jump: Jump, count: JumpCount) -> Iterator[str]:
    source, target = jump.source, jump.target
    if target.file != source.file:
        yield f"jfi={writer.files.written(target.file)}\n"
    if target.function != source.function:
        yield f"jfn={writer.functions.written(target.function.name)}\n"
    counts = f"jcnd={count.followed}/{count.executed}" if jump.conditional else f"jump={count.executed}"
    yield f"{counts} {jump.target_address:#x} {jump.target_line}\n"
    yield f"{position.moved(jump.source_address, jump.source_line)}\n"


def _order_of_jump(found: tuple[Jump, JumpCount]) -> tuple[int, int, Jump]:
    return found[0].source_address, found[0].source_line, found[0]


def _calls_by_site(profile: Profile, code: CodeTally) -> dict[CallSite, _Calls]:
    """The calls by instruction, under the line that each instruction belongs to. Calls of a line that no instruction
    accounts for get the address 0."""
    wanted: dict[tuple[Function, Function], list[CallSite]] = {}
    for site in profile.calls:
        wanted.setdefault((site.caller, site.callee), []).append(site)
    found: dict[CallSite, _Calls] = {site: [] for site in profile.calls}
    for key, call in sorted(code.calls.items()):
        at = _site_of(key, sorted(wanted.get((key.caller, key.callee), ())), code)
        if at is not None:
            found[at].append((key.address, call))
    return {site: _with_rest(profile.calls[site], calls) for site, calls in found.items()}


def _site_of(key: InstructionCall, sites: list[CallSite], code: CodeTally) -> CallSite | None:
    return next((
        site for site in sites if (key.address, site.line) in code.rows.get(Place(key.caller, site.file), {})
    ), None)


def _with_rest(whole: Call, calls: _Calls) -> _Calls:
    zero = (0,) * len(whole.cost)
    left, cost = whole.calls, whole.cost
    for _, call in calls:
        left -= call.calls
        cost = tuple(map(sub, cost, call.cost + zero[len(call.cost):]))
    if left < 0:
        return [(0, CallSum(*whole))]  # of another line: nothing is known of them
    if left or any(cost):
        return [*calls, (0, CallSum(left, cost))]
    return calls
