# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes the engine's comparisons, sums and constants one at a time, and counts how many the unit tests notice.

    check_mutation.py [--again] [--only=PREFIX]... [--tests=PATTERN]... SOURCES WORK FILE...

SOURCES: the folder bdgrind. WORK: a folder for the mutated copy of it, the tests and what came out (results.json).
FILE...: what the unit tests are built from, below SOURCES, beside the engine and the profile.
What survives is printed, unless accepted.txt has a reason for it. Needs libclang's Python bindings.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
import fnmatch
import json
import os
from pathlib import Path
import resource
import subprocess
import sys

from mutants import Finder, Mutant, number

HERE = Path(__file__).parent
# The rooms of the engine that have rules of the simulation.
ROOMS = ("cache", "calls", "costs", "objects", "order", "program", "replay", "why")
BATCHES_MS = (20, 700, 10**9)  # tests that take so long at most are run together, the fastest first
MOST_MS_OF_EXPLAINED = BATCHES_MS[1]  # what has a reason is not tried with tests that take longer
LEAST_SHARE = 0.95


@dataclass(slots=True)
class Test:
    name: str
    ms: float


@dataclass(slots=True)
class Outcome:
    """What has noticed a mutant: a test's name, or what happened; "": nothing has."""

    mutant: Mutant
    tests: list[Test] = field(default_factory=list)  # for which its value was another one
    is_reached: bool = False
    is_impossible: bool = False
    killer: str = ""


@dataclass(slots=True)
class Reason:
    """A line of accepted.txt: PATH | FUNCTION | CODE | REASON, the first three with wildcards."""

    line: int
    patterns: tuple[str, str, str]
    used: bool = False

    def fits(self, mutant: Mutant) -> bool:
        names = (mutant.path, mutant.function, f"{mutant.change}: {mutant.code}")
        pairs = zip(names, self.patterns, strict=True)
        return all(fnmatch.fnmatchcase(escape(name), pattern) for name, pattern in pairs)


def escape(text: str) -> str:
    """Brackets would be wildcards, in patterns."""
    return text.replace("[", "{").replace("]", "}")


def read_reasons(path: Path) -> list[Reason]:
    reasons = []
    for line, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        parts = [part.strip() for part in text.split(" | ")]
        if len(parts) != 4 or not parts[3]:
            raise SystemExit(f"{path}:{line}: expected PATH | FUNCTION | CHANGE: CODE | REASON")
        reasons.append(Reason(line, (escape(parts[0]), escape(parts[1]), escape(parts[2]))))
    return reasons


def write_if_changed(path: Path, data: bytes) -> None:
    """An unchanged file keeps its time, so that it is not compiled again."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def folders_of(only: tuple[str, ...]) -> list[str]:
    """The rooms that have files whose paths begin with one of these prefixes."""
    folders = [f"engine/{room}" for room in ROOMS]
    return [each for each in folders if each.startswith(only) or any(prefix.startswith(f"{each}/") for prefix in only)]


def write_copy(sources: Path, work: Path, folders: list[str]) -> list[Mutant]:
    finder = Finder(sources, folders)
    finder.parse(os.environ.get("CPPFLAGS", "").split())
    mutants, mutated = number(finder.sources)
    changed = {file.path: file.text for file in mutated}
    for path in sorted(sources.rglob("*")):
        if path.suffix in (".cpp", ".h"):
            name = str(path.relative_to(sources))
            write_if_changed(work / name, changed.get(name) or path.read_bytes())
    return mutants


def is_built(name: str, patterns: list[str] | None) -> bool:
    """Whether a file is compiled: each that has no tests does, and, where there are patterns, tests that fit one."""
    stem = Path(name).stem
    has_tests = stem.endswith("_test")
    return not has_tests or patterns is None or any(fnmatch.fnmatchcase(stem, pattern) for pattern in patterns)


def build(work: Path, names: list[str], jobs: int) -> Path:
    files = [name.replace("tests/unit/main.cpp", "tests/mutation/main.cpp") for name in names]
    for layer in ("engine/*", "profile"):
        files += [str(path.relative_to(work)) for path in sorted(work.glob(f"{layer}/*.cpp"))]
    make = ["make", "--no-print-directory", "-C", str(work), "-f", str(HERE / "mutation.mk")]
    subprocess.run([*make, f"-j{jobs}", f"SOURCES={' '.join(files)}"], check=True)
    return work / "unit_tests"


def find_tests(tests: Path, work: Path, mutants: list[Mutant]) -> list[Outcome]:
    """Runs all tests once without a mutant, to see which of them could notice which."""
    outcomes = [Outcome(mutant) for mutant in mutants]
    path = work / "seen"
    if subprocess.run([tests], env={**os.environ, "BD_SEEN": str(path)}, check=False).returncode != 0:
        raise SystemExit("A test fails without any mutant.")
    for line in path.read_text().splitlines():
        name, us, *seen = line.split()
        test = Test(name, int(us) / 1000)
        for item in seen:
            outcome = outcomes[int(item.rstrip("rx")) - 1]
            outcome.is_reached = True
            if item.endswith("x"):
                outcome.is_impossible = True
            elif not item.endswith("r"):
                outcome.tests.append(test)
    return [outcome for outcome in outcomes if not outcome.is_impossible]


def run_mutant(tests: Path, outcome: Outcome, most_ms: float) -> None:
    least = -1.0
    for most in BATCHES_MS:
        batch = [test for test in outcome.tests if least < test.ms <= min(most, most_ms)]
        least = most
        if not batch:
            continue
        seconds = 2 + round(sum(test.ms for test in batch) / 1000 * 4)

        def limit(seconds: int = seconds) -> None:
            os.nice(5)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        try:
            run = subprocess.run(
                [tests, "--gtest_filter=" + ":".join(test.name for test in batch)],
                env={**os.environ, "BD_MUTANT": str(outcome.mutant.id)},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=10 * seconds,
                preexec_fn=limit,
                check=False,
                errors="replace",
                text=True,
            )
        except subprocess.TimeoutExpired:
            outcome.killer = "hangs"
            return
        if run.returncode != 0:
            last = run.stdout.splitlines()[-1:] if run.returncode == 1 else [f"signal {-run.returncode}"]
            outcome.killer = last[0] if last else "a failed check"
            return


def report(outcomes: list[Outcome], reasons: list[Reason], only: tuple[str, ...]) -> bool:
    survivors = [outcome for outcome in outcomes if not outcome.killer]
    open_ones = []
    for outcome in survivors:
        fitting = [reason for reason in reasons if reason.fits(outcome.mutant)]
        for reason in fitting:
            reason.used = True
        if not fitting:
            open_ones.append(outcome)
    of_file = Counter(outcome.mutant.path for outcome in outcomes)
    left_of_file = Counter(outcome.mutant.path for outcome in survivors)
    open_of_file = Counter(outcome.mutant.path for outcome in open_ones)
    print(f"{'file':44}{'mutants':>9}{'survive':>9}{'without a reason':>18}")
    for path, count in sorted(of_file.items()):
        print(f"{path:44}{count:9}{left_of_file[path]:9}{open_of_file[path]:18}")
    for outcome in open_ones:
        how = "survives" if outcome.tests else "changes no value" if outcome.is_reached else "is not reached"
        print(f"{how}: {outcome.mutant}")
    for reason in reasons:
        if not reason.used and reason.patterns[0].startswith(only):
            print(f"accepted.txt:{reason.line}: no survivor fits this line")
    killed = len(outcomes) - len(survivors)
    share = killed / len(outcomes)
    print(
        f"mutation: {killed} of {len(outcomes)} noticed, {100 * share:.1f} %; of the others,"
        f" {len(survivors) - len(open_ones)} have a reason and {len(open_ones)} have none"
    )
    return (len(outcomes) - len(open_ones)) / len(outcomes) >= LEAST_SHARE


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts the changes of the engine that its unit tests notice.")
    parser.add_argument("sources", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--again", action="store_true", help="only what survived the last time, in these sources")
    parser.add_argument("--only", metavar="PREFIX", action="append", help="only files whose paths begin so, of SOURCES")
    parser.add_argument("--tests", metavar="PATTERN", action="append", help="only files of tests with such names")
    parser.add_argument("--most-ms", type=int, default=10**9, help="leave out the tests that take longer")
    parser.add_argument("--runs", type=int, default=100, help="random programs in each test that makes such")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many are compiled, or run, at a time")
    options = parser.parse_args()
    work = options.work.absolute()
    os.environ["BD_RUNS"] = str(options.runs)
    reasons = read_reasons(HERE / "accepted.txt")
    only = tuple(options.only or [""])
    mutants = write_copy(options.sources.resolve(), work, folders_of(only))
    tests = build(work, [name for name in options.files if is_built(name, options.tests)], options.jobs)
    outcomes = [outcome for outcome in find_tests(tests, work, mutants) if outcome.mutant.path.startswith(only)]
    if not outcomes:
        raise SystemExit("Nothing of these files can be changed.")
    results = work / "results.json"
    if options.again:
        before = dict(json.loads(results.read_text()))
        for outcome in outcomes:
            outcome.killer = before.get(str(outcome.mutant), "")

    def run(outcome: Outcome) -> None:
        has_reason = any(reason.fits(outcome.mutant) for reason in reasons)
        run_mutant(tests, outcome, min(options.most_ms, MOST_MS_OF_EXPLAINED) if has_reason else options.most_ms)

    with ThreadPoolExecutor(options.jobs) as pool:
        for done, _ in enumerate(pool.map(run, [each for each in outcomes if not each.killer]), 1):
            if done % 100 == 0:
                print(f"{done} mutants run", file=sys.stderr, flush=True)
    killers: dict[str, str] = {}
    for outcome in outcomes:  # where two have one name, both are run again if one has survived
        name = str(outcome.mutant)
        killers[name] = outcome.killer if killers.get(name, outcome.killer) else ""
    results.write_text(json.dumps(killers, indent=1))
    return 0 if report(outcomes, reasons, only) else 1


if __name__ == "__main__":
    sys.exit(main())
