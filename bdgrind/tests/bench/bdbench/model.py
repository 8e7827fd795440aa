# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: guests under variants of tools, and the samples that come out."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class BenchError(Exception):
    """Something the user must hear about in one sentence."""


class Absent(Exception):
    """A program or variant that this machine or this tool does not have; not an error."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The simulated caches, each as size,ways,line size in bytes."""

    i1: str
    d1: str
    ll: str

    def args(self) -> tuple[str, ...]:
        return (f"--I1={self.i1}", f"--D1={self.d1}", f"--LL={self.ll}")


@dataclass(frozen=True, slots=True)
class Guest:
    """A program with its arguments, ready to run."""

    name: str
    command: tuple[str, ...]
    stdin: Path | None = None
    geometry: Geometry | None = None  # instead of the campaign's


class Simulation(enum.Enum):
    """How much a tool simulates; the value is how to say it."""

    NO_CACHES = "no caches"
    CACHES = "caches"
    CACHE_USE = "cache use"


@dataclass(frozen=True, slots=True)
class Variant:
    """A tool with the options that make it a contestant of its own."""

    name: str
    about: str
    tool: str
    simulation: Simulation
    args: tuple[str, ...] = ()
    # Options that name what a tool without them does anyway: left out where it does not know them.
    assumed: tuple[str, ...] = ()

    def tool_args(self, geometry: Geometry, profile: Path) -> tuple[str, ...]:
        """All options but the launcher; the profile is written where the tool writes one."""
        args = (f"--tool={self.tool}", *self.args, *self.assumed)
        if not self.writes_profile:
            return args
        # Callgrind simulates caches as soon as it is told their geometry.
        if self.simulation is not Simulation.NO_CACHES:
            args = (*args, *geometry.args())
        return (*args, f"--{self.tool}-out-file={profile}")

    @property
    def writes_profile(self) -> bool:
        return self.tool != "none"


class Metric(enum.Enum):
    """A measured quantity; the value is its heading."""

    CPU = "CPU time"
    WALL = "Wall time"
    MEMORY = "Peak memory"

    @property
    def unit(self) -> str:
        return "MiB" if self is Metric.MEMORY else "s"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run. `failure` is empty for a run that counts."""

    guest: str
    variant: str
    round: int
    wall_s: float
    user_s: float
    system_s: float
    peak_memory_kib: int
    elsewhere_cpus: float  # processors that other programs kept busy meanwhile, on average
    failure: str = ""

    def value(self, metric: Metric) -> float:
        if metric is Metric.CPU:
            return self.user_s + self.system_s
        if metric is Metric.WALL:
            return self.wall_s
        return self.peak_memory_kib / 1024


@dataclass(frozen=True, slots=True)
class Campaign:
    """Everything one call of the driver measured, and under what circumstances."""

    machine: str
    valgrind: str
    geometry: Geometry
    scale: float
    rounds: int
    sweep: str  # empty for the benchmark proper
    guests: tuple[str, ...]
    variants: tuple[Variant, ...]
    absent: tuple[str, ...]  # sentences: what is missing and why
    samples: tuple[Sample, ...]

    def failures(self) -> Iterable[Sample]:
        return (sample for sample in self.samples if sample.failure)

    def missing_runs(self) -> int:
        """Runs that an interruption left undone."""
        return self.rounds * len(self.guests) * len(self.variants) - len(self.samples)

    def has(self, *names: str) -> bool:
        present = {variant.name for variant in self.variants}
        return all(name in present for name in names)
