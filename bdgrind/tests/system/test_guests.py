# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest programs: what their comments say must come true, to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from guest_spec import GuestSpec, evaluate, read_spec
from harness import (
    CALLGRIND_EVENTS,
    FALLBACK_LLSC,
    GUEST_SOURCES,
    IS_ARM64,
    SMALL_CACHES,
    Run,
    check_profile,
    counted,
    guest_program,
    oracle_totals,
    run_tool,
    steady_environment,
)

# What is written in a machine's instructions, the others have in a folder of their own.
ASSEMBLY = GUEST_SOURCES / "arm64" if IS_ARM64 else GUEST_SOURCES
ALL_SOURCES = sorted(
    [*GUEST_SOURCES.glob("*.c"), *GUEST_SOURCES.glob("*.cpp"), *ASSEMBLY.glob("*.S")],
    key=lambda source: source.name,
)
SOURCES = [source for source in ALL_SOURCES if "// expect: " in source.read_text()]


def own_spec(source: Path) -> GuestSpec:
    """What a source says, which is of amd64: on arm64, the C library ends a process with another block."""
    spec = read_spec(source)
    ends_alike = source.suffix != ".S" and spec.last_block == 2
    return replace(spec, last_block=7) if IS_ARM64 and ends_alike else spec


OWN_SPECS = [own_spec(source) for source in SOURCES]

# Those in C and C++ are there with 32 bits, too, beside amd64.
X86_SPECS = [
    replace(
        spec,
        name=f"x86/{spec.name}",
        oracle=spec.x86_oracle,
        last_block=spec.last_block - 1,
    )
    for spec, source in zip(OWN_SPECS, SOURCES, strict=True)
    if source.suffix != ".S" and spec.x86 and not IS_ARM64
]
SPECS = OWN_SPECS + X86_SPECS

# They have timers, or ask for what depends on the time, and count something else each time.
UNSTEADY = ("random_requests", "timer")
# Libraries, and what is only ended from outside.
NOT_ALONE = ("plugin_green", "plugin_red", "restless")

KNOWN_FAILURES: dict[str, str] = {}


def guests(specs: list[GuestSpec]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("guest", specs, ids=lambda guest: str(guest.name))


def caches(guest: GuestSpec) -> tuple[str, ...]:
    return guest.run or SMALL_CACHES


def command(guest: GuestSpec) -> list[str]:
    """How to run it. Where that cannot be done, the test is skipped."""
    if missing := guest.missing_features():
        pytest.skip(f"no package helps: {guest.name}: this processor has no {', '.join(missing)}")
    return [str(guest_program(guest.name)), *guest.arguments]


class Runs:
    """One run of each guest for all tests that look at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: dict[str, Run] = {}

    def of(self, guest: GuestSpec) -> Run:
        if guest.name not in self.runs:
            name = guest.name.replace("/", "-")
            run = run_tool(self.folder, command(guest), caches(guest), name=name)
            self.runs[guest.name] = run
        return self.runs[guest.name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    yield Runs(tmp_path_factory.mktemp("guests"))


@guests(SPECS)
def test_guest_notices_nothing(guest: GuestSpec, runs: Runs, tmp_path: Path) -> None:
    run = runs.of(guest)
    none = run_tool(tmp_path, command(guest), tool="none", name="none")
    assert run.status == none.status == guest.status
    assert run.stderr == none.stderr
    if not guest.output_varies:
        assert run.stdout == none.stdout


@guests(SPECS)
def test_costs_and_calls_are_those_worked_out(
    guest: GuestSpec, runs: Runs, request: pytest.FixtureRequest
) -> None:
    if reason := KNOWN_FAILURES.get(guest.name):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    run = runs.of(guest)
    printed = run.stdout.decode(errors="replace")
    differences = [
        f"{expectation.text} (= {expected}), but is {actual}"
        for expectation in guest.expectations
        if (actual := expectation.actual(run.profile))
        != (expected := evaluate(expectation.value, printed))
    ]
    assert not differences, "\n".join(differences)


@guests(SPECS)
def test_invariants(guest: GuestSpec, runs: Runs) -> None:
    profile = runs.of(guest).profile
    assert {event: profile.sum_of_self(event) for event in profile.events} == profile.totals
    assert profile.summary == profile.totals
    assert check_profile(runs.of(guest).profile_path) == ""


@guests([read_spec(source) for source in ALL_SOURCES if source.stem not in NOT_ALONE])
def test_data_objects_add_up_and_change_nothing(guest: GuestSpec, runs: Runs, tmp_path: Path) -> None:
    is_steady = not guest.threads and guest.name not in UNSTEADY
    if guest.static or not is_steady:
        environment = None
        without = runs.of(guest)
    else:
        environment = steady_environment(tmp_path, command(guest))
        without = run_tool(tmp_path, command(guest), caches(guest), environment=environment)
    with_objects = run_tool(
        tmp_path, command(guest), [*caches(guest), "--objects=yes"], name="with", environment=environment
    )
    assert (with_objects.status, with_objects.stderr) == (without.status, without.stderr)
    assert with_objects.profile_path.with_name("objects.with.out").exists()
    for profile in tmp_path.glob("with.out*"):
        assert check_profile(profile) == ""
    if is_steady:
        assert counted(with_objects.profile_path) == counted(without.profile_path)


@guests([spec for spec in SPECS if spec.static and spec.oracle])
def test_totals_equal_the_oracle(guest: GuestSpec, runs: Runs, tmp_path: Path) -> None:
    run = runs.of(guest)
    expected = oracle_totals(tmp_path, command(guest), caches(guest))
    if IS_ARM64:
        # With this hint, which the oracle needs there, exclusive stores read what they replace.
        run = run_tool(tmp_path, command(guest), [*caches(guest), FALLBACK_LLSC])
    for expectation in guest.expectations:
        if expectation.kind == "total" and expectation.event in expected and not IS_ARM64:
            assert expected[expectation.event] == evaluate(expectation.value), expectation.text
    assert {event: run.profile.totals[event] for event in expected} == expected


@guests([spec for spec in SPECS if spec.static and spec.callgrind])
def test_totals_equal_callgrind(guest: GuestSpec, runs: Runs, tmp_path: Path) -> None:
    run = runs.of(guest)
    options = ["--cache-sim=yes", *caches(guest)]
    peer = run_tool(tmp_path, command(guest), options, tool="callgrind", name="callgrind").profile
    assert set(peer.events) >= set(CALLGRIND_EVENTS)
    # Callgrind's totals are without the last block, its fetches' misses, too; its summary has all.
    left_out = peer.summary["Ir"] - peer.totals["Ir"]
    # Of some programs with 32 bits, Callgrind counts the last block, too.
    assert left_out == guest.last_block or (guest.name.startswith("x86/") and left_out == 0)
    expected = {event: peer.summary.get(event, 0) for event in peer.events}
    assert {event: run.profile.totals[event] for event in peer.events} == expected
