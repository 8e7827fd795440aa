# SPDX-License-Identifier: GPL-2.0-or-later
"""The contestants, and which of them the tools at hand know."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from bdbench.measure import Outcome, run
from bdbench.model import Absent, BenchError, Geometry, Guest, Simulation, Variant
from bdbench.profiles import complaint

BASELINE = "none"
PROBE = "probe.out"
ONE_THREAD = "--engine-threads=0"

_NO_CACHES = Simulation.NO_CACHES
_CACHES = Simulation.CACHES
_CACHE_USE = Simulation.CACHE_USE

VARIANTS = (
    Variant(BASELINE, "Valgrind's own translation: the floor", "none", _NO_CACHES),
    Variant("callgrind", "calls, no caches", "callgrind", _NO_CACHES),
    Variant("callgrind-cache", "calls and caches", "callgrind", _CACHES, ("--cache-sim=yes",)),
    Variant(
        "callgrind-cacheuse", "calls and cache use", "callgrind", _CACHE_USE, ("--cacheuse=yes",)
    ),
    Variant("cachegrind", "caches, no calls", "cachegrind", _CACHES, ("--cache-sim=yes",)),
    Variant("bdgrind", "everything, on one thread", "bdgrind", _CACHE_USE, (), (ONE_THREAD,)),
    Variant(
        "bdgrind-thread",
        "the engine on a second thread",
        "bdgrind",
        _CACHE_USE,
        ("--engine-threads=1",),
    ),
    Variant(
        "bdgrind-threads",
        "the engine on two more threads",
        "bdgrind",
        _CACHE_USE,
        ("--engine-threads=2",),
    ),
    Variant(
        "bdgrind-nocacheuse", "no cache use", "bdgrind", _CACHES, ("--cacheuse=no",), (ONE_THREAD,)
    ),
    Variant(
        "bdgrind-nocache",
        "calls, no caches",
        "bdgrind",
        _NO_CACHES,
        ("--cache-sim=no",),
        (ONE_THREAD,),
    ),
    *(
        Variant(f"bdgrind-{name}", f"everything, and {what}", "bdgrind", _CACHE_USE, (option,), (ONE_THREAD,))
        for name, what, option in (
            ("structure", "jumps, for loops", "--structure=yes"),
            ("tree", "the calling context tree", "--context-tree=yes"),
            ("objects", "data objects", "--objects=yes"),
            ("causes", "causes and distances of misses", "--why=causes"),
            ("why", "why lines are loaded", "--why=yes"),
        )
    ),
)

PEERS = ("none", "callgrind", "callgrind-cache", "callgrind-cacheuse", "cachegrind")

# Users run these; the other variants of bdgrind tell where the time goes, and CPU time says that.
OWN_IN_FULL = ("bdgrind", "bdgrind-thread")

_UNKNOWN = re.compile(r"[Uu]nknown option|failed to start tool|[Uu]nrecognised option")


def select(names: list[str]) -> list[Variant]:
    """The variants of these names, in the order of the table above; all without names."""
    known = {variant.name: variant for variant in VARIANTS}
    for name in names:
        if name not in known:
            raise BenchError(f"no variant '{name}'; there are {', '.join(known)}")
    return [variant for variant in VARIANTS if not names or variant.name in names]


def probe(
    variant: Variant, launcher: str, guest: Guest, geometry: Geometry, folder: Path
) -> Variant:
    """The variant as the tool at hand can run it; Absent where it cannot.

    Anything but a refusal of the tool or of an option is an error: a contestant that crashes is
    not to be left out in silence.
    """
    outcome = _try(variant, launcher, guest, geometry, folder)
    if outcome.failure and _UNKNOWN.search(outcome.stderr) and variant.assumed:
        variant = dataclasses.replace(variant, assumed=())
        outcome = _try(variant, launcher, guest, geometry, folder)
    if not outcome.failure:
        reason = complaint(folder / PROBE, variant, geometry) if variant.writes_profile else ""
        if reason:
            raise BenchError(f"{variant.name}: the trial run is not what it should be: {reason}")
        return variant
    refusal = next((line for line in outcome.stderr.splitlines() if _UNKNOWN.search(line)), None)
    if refusal is None:
        lines = outcome.stderr.strip().splitlines() or ["nothing on standard error"]
        raise BenchError(f"{variant.name}: the trial run failed: {outcome.failure}; {lines[0]}")
    raise Absent(re.sub(r"^==\d+==\s*|^valgrind:\s*", "", refusal))


def _try(
    variant: Variant, launcher: str, guest: Guest, geometry: Geometry, folder: Path
) -> Outcome:
    profile = folder / PROBE
    profile.unlink(missing_ok=True)
    command = (launcher, *variant.tool_args(geometry, profile), *guest.command)
    return run(command, None, folder, timeout_s=60)
