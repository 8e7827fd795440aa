# SPDX-License-Identifier: GPL-2.0-or-later
"""A small reader of callgrind-format profiles, for tests.

It is deliberately not bd_annotate's parser: a mistake in that one must not hide one in the tool. It
reads one part, keeps costs per function name and ignores positions and files.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_NAME = re.compile(r"(fn|cfn|fl|fi|fe|ob|cfi|cfl|cob|jfi|jfn)=(?:\((\d+)\)(?: (.*))?|(.*))$")

# Levels of recursion have such suffixes; here they are one function.
_RECURSION = re.compile(r"'\d+$")


@dataclass(slots=True)
class Arc:
    """All calls from one function to another."""

    calls: int = 0
    costs: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Profile:
    header: dict[str, list[str]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    self_costs: dict[str, Counter[str]] = field(default_factory=dict)
    arcs: dict[tuple[str, str], Arc] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    summary: dict[str, int] = field(default_factory=dict)

    def self_cost(self, function: str, event: str) -> int:
        return self.self_costs[function][event]

    def inclusive(self, function: str, event: str) -> int:
        """Self cost and calls to others: for functions that are not part of a larger recursion."""
        arcs = self.arcs.items()
        called = sum(arc.costs[event] for (f, g), arc in arcs if f == function and g != function)
        return self.self_cost(function, event) + called

    def calls_to(self, function: str, caller: str | None = None) -> int:
        arcs = self.arcs.items()
        return sum(arc.calls for (f, g), arc in arcs if g == function and caller in (f, None))

    def sum_of_self(self, event: str) -> int:
        return sum(costs[event] for costs in self.self_costs.values())


def read_profile(path: Path, contexts: bool = False) -> Profile:
    """`contexts`: keep functions apart as the file does, by recursion and callers."""
    profile = Profile()
    names: dict[tuple[str, str], str] = {}
    function = callee = ""
    calls: int | None = None
    positions = 1
    lines = path.read_text(errors="surrogateescape").splitlines()
    assert lines and lines[0] == "# callgrind format", f"{path}: not a profile"
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#") or line.startswith(("jump=", "jcnd=")):
            continue
        if match := _NAME.match(line):
            kind, identity, new_name, plain = match.groups()
            space = kind[-2:].replace("fi", "fl").replace("fe", "fl")
            if identity and new_name is not None:
                assert (space, identity) not in names, f"{path}:{number}: {line} defined twice"
                names[space, identity] = new_name
            name = names[space, identity] if identity else plain
            if not contexts:
                name = _RECURSION.sub("", name)
            if kind == "fn":
                function = name
                profile.self_costs.setdefault(function, Counter())
            elif kind == "cfn":
                callee = name
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif line[0].isdigit() or line[0] in "+-*":
            values = [int(value) for value in line.split()[positions:]]
            costs = Counter(dict(zip(profile.events, values, strict=False)))
            if calls is None:
                profile.self_costs[function].update(costs)
            else:
                arc = profile.arcs.setdefault((function, callee), Arc())
                arc.calls += calls
                arc.costs.update(costs)
                calls = None
        else:
            key, colon, value = line.partition(":")
            assert colon, f"{path}:{number}: {line!r}"
            value = value.strip()
            profile.header.setdefault(key, []).append(value)
            if key == "positions":
                positions = len(value.split())
            elif key == "events":
                profile.events = value.split()
            elif key in ("totals", "summary"):
                numbers = dict.fromkeys(profile.events, 0)  # Callgrind leaves out trailing zeros
                numbers.update(zip(profile.events, map(int, value.split()), strict=False))
                setattr(profile, key, numbers)
    return profile
