# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that write several files: parts, threads, processes.

Every run is made twice, with the engine on the program's own thread and on one of its own; both
must write the same files with the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import GUESTS, SMALL_CACHES, Run, check_profile, run_tool
from profile_reader import Arc, Profile, read_profile


@dataclass(frozen=True, slots=True)
class PartFile:
    path: Path
    ending: str  # of its name, behind the name of the option
    profile: Profile  # with contexts

    def description(self, key: str) -> str:
        """What stands behind `desc: key: `."""
        start = f"{key}: "
        (value,) = [
            text.removeprefix(start)
            for text in self.profile.header["desc"]
            if text.startswith(start)
        ]
        return value

    @property
    def trigger(self) -> str:
        return self.description("Trigger")

    @property
    def blocks(self) -> tuple[int, int]:
        match = re.fullmatch(r"Basic block (\d+) - (\d+)", self.description("Timerange"))
        assert match
        return int(match[1]), int(match[2])

    def calls(self, caller: str, callee: str) -> int:
        return self.profile.arcs.get((caller, callee), Arc()).calls

    def passed(self, caller: str, callee: str, event: str = "DLmr") -> int:
        """The inclusive cost of the calls."""
        return self.profile.arcs.get((caller, callee), Arc()).costs[event]

    def own(self, function: str, event: str = "DLmr") -> int:
        costs = self.profile.self_costs.get(function)
        return costs[event] if costs else 0


@dataclass(frozen=True, slots=True)
class Divided:
    run: Run
    files: list[PartFile]  # in the order in which they were written, the last one last

    @property
    def endings(self) -> list[str]:
        return [file.ending for file in self.files]


def normal_bytes(path: Path) -> str:
    return re.sub(r"^(pid: )\d+$", r"\1", path.read_text(), flags=re.MULTILINE)


def written_files(profile: Path) -> dict[str, Path]:
    """By the ending of their names; process numbers are left out of these."""
    found = profile.parent.glob(f"{profile.name}*")
    endings = {path: re.sub(r"^\.pid\d+", ".pid", path.name[len(profile.name) :]) for path in found}
    return {ending: path for path, ending in endings.items()}


def order(ending: str) -> tuple[str, float, str]:
    """By process, part and thread."""
    match = re.fullmatch(r"(\.pid)?(?:\.(\d+))?(-\d+)?", ending)
    assert match, f"a profile is called ...{ending}"
    process, part, thread = match.groups("")
    return process, float(part or "inf"), thread


def run_divided(
    folder: Path,
    command: Sequence[str | Path],
    *options: str,
    same_bytes: bool = True,
    name: str = "profile",
    environment: dict[str, str] | None = None,
) -> Divided:
    runs = {
        threads: run_tool(
            folder,
            command,
            [*SMALL_CACHES, f"--engine-threads={threads}", *options],
            name=f"{name}-{threads}",
            environment=environment,
        )
        for threads in ("0", "2")
    }
    files, others = (written_files(run.profile_path) for run in runs.values())
    assert files.keys() == others.keys()
    if same_bytes:
        for ending, path in files.items():
            assert normal_bytes(path) == normal_bytes(others[ending]), f"{path} has other bytes"
    run = runs["0"]
    assert run.status == runs["2"].status
    parts = [
        PartFile(files[ending], ending, read_profile(files[ending], contexts=True))
        for ending in sorted(files, key=order)
        if "totals: " in files[ending].read_text()
    ]
    return Divided(run, parts)


def steer(folder: Path, script: str, *options: str, group: str = "BD", name: str = "") -> Divided:
    """Runs the guest of that name, after what it does and which requests it makes."""
    command = [str(GUESTS / "steer"), script, group]
    divided = run_divided(folder, command, *options, name=name or group)
    assert divided.run.status == 0
    for file in divided.files:
        assert_sound(file)
    return divided


def assert_sound(file: PartFile) -> None:
    """What must hold of each part as of any profile."""
    profile = file.profile
    assert {event: profile.sum_of_self(event) for event in profile.events} == profile.totals
    counts = [count for costs in profile.self_costs.values() for count in costs.values()]
    counts += [count for arc in profile.arcs.values() for count in arc.costs.values()]
    assert all(count < 1 << 62 for count in counts), f"{file.path}: a count is below zero"
    assert check_profile(file.path) == ""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a function or a call costs, without what is zero."""

    totals: dict[str, int]
    self_costs: dict[str, dict[str, int]]
    calls: dict[tuple[str, str], int]
    inclusive: dict[tuple[str, str], dict[str, int]]


def sums(profiles: Iterable[Profile]) -> Sums:
    result = Sums({}, {}, {}, {})

    def add(to: dict[str, int], costs: dict[str, int]) -> None:
        for event, count in costs.items():
            if count != 0:
                to[event] = to.get(event, 0) + count

    for profile in profiles:
        add(result.totals, profile.totals)
        for function, costs in profile.self_costs.items():
            if any(costs.values()):
                add(result.self_costs.setdefault(function, {}), costs)
        for call, arc in profile.arcs.items():
            if arc.calls:
                result.calls[call] = result.calls.get(call, 0) + arc.calls
            if any(arc.costs.values()):
                add(result.inclusive.setdefault(call, {}), arc.costs)
    return result


def assert_parts_add_up(parts: Divided, whole: Divided) -> None:
    """Function by function and call by call, in every event."""
    assert len(parts.files) > 1
    (undivided,) = whole.files
    found = sums(file.profile for file in parts.files)
    expected = sums([undivided.profile])
    assert found.totals == expected.totals
    assert found.self_costs == expected.self_costs
    assert found.calls == expected.calls
    assert found.inclusive == expected.inclusive
