# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest programs: what their comments say must come true, to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest_spec import GuestSpec, read_spec
from harness import BD_ANNOTATE, GUESTS, SMALL_CACHES, SOURCE, oracle_totals, run_tool

GUEST_SOURCES = SOURCE / "bdgrind" / "tests" / "guest"
PEER_EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")

SPECS = [
    read_spec(source)
    for source in sorted(GUEST_SOURCES.glob("*.*"))
    if source.suffix in (".c", ".cpp", ".S") and "// expect: " in source.read_text()
]


def guests(specs: list[GuestSpec]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("guest", specs, ids=lambda guest: str(guest.name))


@pytest.fixture(autouse=True)
def skip_if_it_cannot_run(guest: GuestSpec) -> None:
    if missing := guest.missing_features():
        pytest.skip(f"{guest.name}: this processor has no {', '.join(missing)}")


def caches(guest: GuestSpec) -> tuple[str, ...]:
    return guest.run or SMALL_CACHES


def command(guest: GuestSpec) -> list[str]:
    return [str(GUESTS / guest.name), *guest.arguments]


@guests(SPECS)
def test_expectations(guest: GuestSpec, tmp_path: Path) -> None:
    """Costs and calls are those worked out in the comment, and the guest notices nothing."""
    none = run_tool(tmp_path, command(guest), tool="none", name="none")
    run = run_tool(tmp_path, command(guest), caches(guest))
    assert (run.status, run.stdout, run.stderr) == (none.status, none.stdout, none.stderr)
    assert run.status == guest.status
    profile = run.profile
    differences = [
        f"{expectation.text} (= {expectation.value}), but is {actual}"
        for expectation in guest.expectations
        if (actual := expectation.actual(profile)) != expectation.value
    ]
    assert not differences, "\n".join(differences)


@guests(SPECS)
def test_invariants(guest: GuestSpec, tmp_path: Path) -> None:
    run = run_tool(tmp_path, command(guest), caches(guest))
    for event in run.profile.events:
        assert run.profile.sum_of_self(event) == run.profile.totals[event], event
    assert run.profile.summary == run.profile.totals
    check = run_tool_check(run.profile_path)
    assert check == "", check


def run_tool_check(profile: Path) -> str:
    import subprocess

    completed = subprocess.run(
        [str(BD_ANNOTATE), "--check", str(profile)], capture_output=True, text=True, check=False
    )
    return completed.stdout + completed.stderr if completed.returncode else ""


@guests([spec for spec in SPECS if spec.static and spec.oracle])
def test_totals_equal_the_oracle(guest: GuestSpec, tmp_path: Path) -> None:
    expected = oracle_totals(tmp_path, command(guest), caches(guest))
    for expectation in guest.expectations:
        if expectation.kind == "total":
            assert expected[expectation.event] == expectation.value, expectation.text
    run = run_tool(tmp_path, command(guest), caches(guest))
    assert run.profile.totals == expected


@guests([spec for spec in SPECS if spec.static and spec.callgrind])
def test_totals_equal_callgrind(guest: GuestSpec, tmp_path: Path) -> None:
    options = ["--cache-sim=yes", *caches(guest)]
    peer = run_tool(tmp_path, command(guest), options, tool="callgrind", name="peer").profile
    run = run_tool(tmp_path, command(guest), caches(guest))
    expected = {event: peer.totals.get(event, 0) for event in PEER_EVENTS}
    expected["Ir"] += guest.last_block
    assert {event: run.profile.totals[event] for event in PEER_EVENTS} == expected
