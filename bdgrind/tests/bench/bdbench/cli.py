# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of the benchmark, and the rounds."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bdbench import guests, render, variants
from bdbench.measure import Outcome, run, wait_for_quiet
from bdbench.model import Absent, BenchError, Campaign, Geometry, Guest, Sample, Variant
from bdbench.profiles import complaint
from bdbench.workshop import Workshop

TOP = Path(__file__).resolve().parents[4]
QUICK_SCALE = 0.1

# That of the machine in the paper that bdgrind is built on.
DEFAULT_GEOMETRY = Geometry("32768,8,64", "32768,8,64", "6291456,12,64")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, checked."""

    valgrind: str
    work: Path
    geometry: Geometry
    programs: list[guests.Entry]
    variants: list[Variant]
    sweep: str
    rounds: int
    scale: float
    timeout_s: float
    quiet_s: float
    json: Path | None
    markdown: Path | None


def main(argv: list[str]) -> int:
    """0: all is well; 1: a run failed or is missing; 2: nothing was measured."""
    # A run in the background ignores SIGINT, and must not leave its guest behind on SIGTERM.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        options = _parse(argv)
        if options is None:
            return 0
        campaign = _measure(options)
        print(render.as_text(campaign), end="")
        if options.json:
            options.json.write_text(render.as_json(campaign), encoding="utf-8")
        if options.markdown:
            options.markdown.write_text(render.as_markdown(campaign), encoding="utf-8")
    except KeyboardInterrupt:  # before the first run; later, _run_rounds takes it
        return 2
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    return 1 if any(campaign.failures()) or campaign.missing_runs() else 0


def _parse(argv: list[str]) -> Options | None:
    """None if there is nothing to measure."""
    parser = argparse.ArgumentParser(
        prog="run",
        description="Measure bdgrind against its peers. See docs/performance.md.",
        epilog="Time goes by: a full round takes about a quarter of an hour. Interrupting it "
        "(Ctrl-C or SIGTERM) prints what has been measured so far.",
    )
    parser.add_argument("--list", action="store_true", help="list programs, variants and sweeps")
    parser.add_argument("--programs", default="", metavar="A,B", help="only these programs")
    parser.add_argument("--variants", default="", metavar="A,B", help="only these variants")
    parser.add_argument("--sweep", default="", choices=list(guests.SWEEPS),
                        help="instead of the programs, vary one thing and show the growth")
    parser.add_argument("--rounds", type=int, help="how often everything is run (default 3)")
    parser.add_argument("--scale", type=float,
                        help="amount of work (default 1: 1 to 3 s each under none)")
    parser.add_argument("--quick", action="store_true",
                        help=f"one round at scale {QUICK_SCALE}, unless these are given")
    parser.add_argument("--I1", default=DEFAULT_GEOMETRY.i1, metavar="SIZE,WAYS,LINE")
    parser.add_argument("--D1", default=DEFAULT_GEOMETRY.d1, metavar="SIZE,WAYS,LINE")
    parser.add_argument("--LL", default=DEFAULT_GEOMETRY.ll, metavar="SIZE,WAYS,LINE",
                        help="simulated caches, the same for all tools")
    parser.add_argument("--timeout", type=float, default=900, metavar="S",
                        help="seconds after which a run has failed (default 900)")
    parser.add_argument("--wait-quiet", type=float, default=0, metavar="S",
                        help="before each run, wait up to S seconds for other programs to pause")
    parser.add_argument("--valgrind", metavar="FILE",
                        help="the valgrind to use; default: vg-in-place of the build folder "
                        "($BDGRIND_BUILD, else the source folder), else the installed one")
    parser.add_argument("--work", type=Path, metavar="FOLDER",
                        help="where programs and inputs are made and kept; default: "
                        "bdgrind/tests/bench/work in the build folder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables")
    args = parser.parse_args(argv)
    if args.list:
        _list()
        return None
    build = Path(os.environ.get("BDGRIND_BUILD") or TOP).resolve()
    rounds = args.rounds if args.rounds is not None else 1 if args.quick else 3
    scale = args.scale if args.scale is not None else QUICK_SCALE if args.quick else 1.0
    if rounds < 1:
        raise BenchError("--rounds must be at least 1")
    if not 0 < scale < float("inf"):
        raise BenchError("--scale must be above 0")
    work = args.work.resolve() if args.work else build / "bdgrind" / "tests" / "bench" / "work"
    return Options(
        valgrind=_find_valgrind(args.valgrind, build),
        work=work,
        geometry=Geometry(args.I1, args.D1, args.LL),
        programs=guests.select(_names(args.programs)),
        variants=variants.select(_names(args.variants)),
        sweep=args.sweep,
        rounds=rounds,
        scale=scale,
        timeout_s=args.timeout,
        quiet_s=args.wait_quiet,
        json=args.json,
        markdown=args.markdown,
    )


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _find_valgrind(wanted: str | None, build: Path) -> str:
    if not wanted and os.access(build / "vg-in-place", os.X_OK):
        return str(build / "vg-in-place")
    found = shutil.which(wanted or "valgrind")
    if found is None:
        raise BenchError(f"there is no program '{wanted or 'valgrind'}'")
    return os.path.abspath(found)


def _list() -> None:
    print("Programs:")
    for entry in guests.CATALOGUE:
        print(f"  {entry.name:20}{entry.about}")
    print("Variants:")
    for variant in variants.VARIANTS:
        print(f"  {variant.name:20}{variant.about}")
    print(f"Sweeps: {', '.join(guests.SWEEPS)}")


def _measure(options: Options) -> Campaign:
    options.work.mkdir(parents=True, exist_ok=True)
    shop = Workshop(options.work, options.scale)
    with tempfile.TemporaryDirectory(prefix="run-", dir=options.work) as name:
        folder = Path(name)
        absent: list[str] = []
        contestants = _present_variants(options, shop, folder, absent)
        programs = _present_guests(options, shop, absent)
        if not contestants or not programs:
            raise BenchError("nothing to measure: " + "; ".join(absent))
        samples = _run_rounds(options, programs, contestants, folder)
        version = run((options.valgrind, "--version"), None, folder, timeout_s=60)
        version_text = (folder / "stdout").read_text(encoding="utf-8", errors="replace").strip()
    return Campaign(
        machine=_machine(),
        valgrind=version_text if not version.failure else "of unknown version",
        geometry=options.geometry,
        scale=options.scale,
        rounds=options.rounds,
        sweep=options.sweep,
        guests=tuple(guest.name for guest in programs),
        variants=tuple(contestants),
        absent=tuple(absent),
        samples=tuple(samples),
    )


def _present_variants(
    options: Options, shop: Workshop, folder: Path, absent: list[str]
) -> list[Variant]:
    trivial = guests.make_trivial(shop)
    present = []
    for variant in options.variants:
        try:
            present.append(
                variants.probe(variant, options.valgrind, trivial, options.geometry, folder)
            )
        except Absent as reason:
            absent.append(f"{variant.name}: {reason}")
    return present


def _present_guests(options: Options, shop: Workshop, absent: list[str]) -> list[Guest]:
    if options.sweep:
        return guests.SWEEPS[options.sweep](shop, options.geometry)
    present = []
    for entry in options.programs:
        _progress(f"preparing {entry.name}")
        try:
            present.append(entry.make(shop))
        except Absent as reason:
            absent.append(f"{entry.name}: {reason}")
    return present


def _run_rounds(
    options: Options, programs: list[Guest], contestants: list[Variant], folder: Path
) -> list[Sample]:
    """Variants take turns on each program, starting with another one in each round.

    So a disturbance of some seconds does not hit one contestant only, and none always runs
    after the same neighbour.
    """
    expected = {guest.name: _native_digest(guest, folder, options.timeout_s) for guest in programs}
    samples: list[Sample] = []
    try:
        for number in range(options.rounds):
            first = number % len(contestants)
            for guest in programs:
                for variant in contestants[first:] + contestants[:first]:
                    sample = _run_one(options, guest, variant, number, expected, folder)
                    _progress(
                        f"round {number + 1}/{options.rounds}  {guest.name:20} "
                        f"{variant.name:20} {sample.wall_s:7.2f} s  {sample.failure}"
                    )
                    samples.append(sample)
    except KeyboardInterrupt:
        if not samples:
            raise
        _progress("interrupted")
    return samples


def _native_digest(guest: Guest, folder: Path, timeout_s: float) -> str:
    """What the guest prints without any tool: under each tool it must print the same."""
    outcome = run(guest.command, guest.stdin, folder, timeout_s)
    if outcome.failure:
        raise BenchError(f"{guest.name} fails without any tool: {outcome.failure}")
    return outcome.stdout_digest


def _run_one(
    options: Options,
    guest: Guest,
    variant: Variant,
    number: int,
    expected: dict[str, str],
    folder: Path,
) -> Sample:
    profile = folder / "profile.out"
    profile.unlink(missing_ok=True)
    wait_for_quiet(options.quiet_s)
    geometry = guest.geometry or options.geometry
    command = (options.valgrind, *variant.tool_args(geometry, profile), *guest.command)
    outcome = run(command, guest.stdin, folder, options.timeout_s)
    failure = _judge(outcome, expected[guest.name])
    if not failure and variant.writes_profile:
        failure = complaint(profile, variant, geometry)
    return Sample(
        guest=guest.name,
        variant=variant.name,
        round=number,
        wall_s=outcome.wall_s,
        user_s=outcome.user_s,
        system_s=outcome.system_s,
        peak_memory_kib=outcome.peak_memory_kib,
        elsewhere_cpus=outcome.elsewhere_cpus,
        failure=failure,
    )


def _judge(outcome: Outcome, expected_digest: str) -> str:
    if outcome.failure:
        return outcome.failure
    if outcome.stdout_digest != expected_digest:
        return "the program's output differs from that without a tool"
    return ""


def _machine() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} processors"


def _progress(text: str) -> None:
    """On standard error; the final table alone goes to standard output."""
    print(text.rstrip(), file=sys.stderr, flush=True)
