# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest program says about itself, in comment lines of its source.

    // build: FLAGS                        read by the Makefile
    // run: OPTIONS                        options of the tool
    // arguments: WORDS                    of the guest
    // needs: FLAG...                      processor features (/proc/cpuinfo); else skipped
    // output: varies                      from run to run, under every tool
    // oracle: no                          not comparable with the oracle, or with Callgrind, as
    // callgrind: no                         the comment explains
    // oracle: amd64                       with 32 bits not compared: tracing it would take a minute
    // x86: no (REASON)                    expects what is not true of it with 32 bits
    // last: N                             instructions of the last block; else 2, of libc's _exit
    // expect: exit N                      exit status, or -N for death by signal N; else 0
    // expect: total EVENT = VALUE
    // expect: self FUNCTION EVENT = VALUE
    // expect: inclusive FUNCTION EVENT = VALUE
    // expect: calls FUNCTION = VALUE      from everywhere
    // expect: calls CALLER > FUNCTION = VALUE

Several expectations stand in a line, separated by semicolons; what one leaves out (kind, function)
it takes from the one before.

Callgrind does not count the block that ends the process. Where that block loads a line or makes an
access (many a program without a library is a single block) the two cannot be compared.

A value is written as it was worked out: 2 * (3 + 1000 // 7). A name in it stands for a number that
the guest prints, in a line `NAME NUMBER`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from profile_reader import Profile

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def evaluate(text: str, printed: str = "") -> int:
    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return int(re.findall(rf"^{node.id} (\d+)$", printed, re.MULTILINE)[0])
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            result = _OPERATORS[type(node.op)](value(node.left), value(node.right))
            assert isinstance(result, int)
            return result
        raise ValueError(f"not a worked-out value: {text}")

    return value(ast.parse(text.strip(), mode="eval").body)


@dataclass(frozen=True, slots=True)
class Expectation:
    text: str
    kind: str  # total, self, inclusive, calls
    function: str
    caller: str | None
    event: str
    value: str

    def actual(self, profile: Profile) -> int:
        if self.kind == "total":
            return profile.totals[self.event]
        if self.kind == "calls":
            return profile.calls_to(self.function, self.caller)
        if self.function not in profile.self_costs:
            return 0
        if self.kind == "self":
            return profile.self_cost(self.function, self.event)
        return profile.inclusive(self.function, self.event)


def parse_expectations(text: str) -> Iterator[Expectation]:
    kind = function = ""
    for part in text.split(";"):
        first, _, rest = part.strip().partition(" ")
        if first in ("total", "self", "inclusive", "calls"):
            kind, part = first, rest
        left, equals, right = part.strip().partition(" = ")
        assert equals, f"an expectation without a value: {text}"
        caller = None
        event = ""
        if kind == "calls":
            caller, arrow, function = left.rpartition(" > ")
            caller = caller if arrow else None
        elif kind == "total":
            event = left
        elif kind in ("self", "inclusive"):
            named, _, event = left.rpartition(" ")
            function = named or function
        else:
            raise ValueError(f"unknown expectation: {text}")
        yield Expectation(f"{kind} {part.strip()}", kind, function, caller, event, right)


@dataclass(frozen=True, slots=True)
class GuestSpec:
    name: str
    run: tuple[str, ...]
    arguments: tuple[str, ...]
    needs: tuple[str, ...]
    output_varies: bool
    oracle: bool
    x86_oracle: bool
    callgrind: bool
    x86: bool
    last_block: int
    static: bool
    threads: bool
    status: int
    expectations: tuple[Expectation, ...]

    def missing_features(self) -> list[str]:
        features = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))
        return [feature for feature in self.needs if feature not in features]


def read_spec(source: Path) -> GuestSpec:
    lines: dict[str, list[str]] = {}
    for key, value in re.findall(r"^// (\w+): (.*)$", source.read_text(), re.MULTILINE):
        lines.setdefault(key, []).append(value)
    expected = lines.get("expect", [])
    statuses = [int(text.removeprefix("exit ")) for text in expected if text.startswith("exit ")]
    build = lines.get("build", [""])[0].split()
    return GuestSpec(
        name=source.stem,
        run=tuple(" ".join(lines.get("run", [])).split()),
        arguments=tuple(" ".join(lines.get("arguments", [])).split()),
        needs=tuple(" ".join(lines.get("needs", [])).split()),
        output_varies=lines.get("output") == ["varies"],
        oracle=lines.get("oracle") != ["no"],
        x86_oracle="oracle" not in lines,
        callgrind=lines.get("callgrind") != ["no"],
        x86=not lines.get("x86", [""])[0].startswith("no"),
        last_block=int(lines.get("last", ["2"])[0]),
        static="-static" in build,
        threads="-pthread" in build or "-fopenmp" in build,
        status=statuses[0] if statuses else 0,
        expectations=tuple(
            expectation
            for text in expected
            if not text.startswith("exit ")
            for expectation in parse_expectations(text)
        ),
    )
