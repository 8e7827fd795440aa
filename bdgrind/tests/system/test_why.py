# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded: a file beside each profile, which `bd_annotate --check` compares with it.

Causes and distances themselves are compared with a naive engine: in the unit tests, and here on recorded traces.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from bdannotate.model.why import Instruction, Why
from bdannotate.reading.why import read_why
from harness import BDCOMPARE, BUILD, GUESTS, SMALL_CACHES, Run, check, guest_program, needs_bdcompare, run_tool

YES = "--why=yes"


def run(folder: Path, command: Sequence[str | Path], *options: str, name: str = "profile") -> Run:
    return run_tool(folder, command, [*SMALL_CACHES, *options], name=name)


def checked(profile: Path) -> int:
    """Whether the file beside a profile fits it; how many lines were missed."""
    status, said = check(profile)
    assert status == 0, said
    why = re.escape(str(profile.with_name(f"why.{profile.name}")))
    (lines,) = re.findall(rf"^{why}: ([\d,]+) lines missed by .*: from the same run as", said, re.MULTILINE)
    return int(lines.replace(",", ""))


def distances(why: Why) -> list[tuple[Instruction | None, int, int, int]]:
    rows = ((why.places[row.place], row.bucket, row.misses, row.last_level) for row in why.distances)
    return sorted(rows, key=repr)


def profiles(folder: Path) -> list[Path]:
    """Those in the folder, each of which has such a file beside it."""
    found = sorted(folder.glob("profile.out*"))
    assert {path.name for path in found} == {path.name.removeprefix("why.") for path in folder.glob("why.*")}
    return found


@pytest.mark.parametrize(
    ("guest", "options"),
    [
        ("attribution", []),
        ("handlers", ["--simulate-wb=yes", "--simulate-hwpref=yes", "--branch-sim=yes"]),
        ("odd_sets", ["--D1=3072,3,32", "--LL=12288,3,128"]),
        ("straddle", ["--D1=512,8,64"]),
        ("recursion", ["--cacheuse=no"]),
        ("objects", ["--objects=yes", "--structure=yes"]),
        ("longjmp", ["--toggle-collect=main", "--engine-threads=0"]),
        ("x86/recursion", ["--context-tree=yes"]),
    ],
)
def test_a_file_fits_its_profile(guest: str, options: list[str], tmp_path: Path) -> None:
    assert checked(run(tmp_path, [guest_program(guest)], YES, *options).profile_path) > 5


@pytest.mark.parametrize(
    ("guest", "options"),
    [
        ("attribution", []),
        ("objects", ["--objects=yes", "--context-tree=yes"]),
        ("handlers", ["--simulate-wb=yes", "--branch-sim=yes", "--engine-threads=0"]),
        ("longjmp", ["--branch-sim=yes", "--toggle-collect=main"]),
        ("recursion", ["--cacheuse=no"]),
    ],
)
def test_causes_alone_are_those_of_all(guest: str, options: list[str], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    given = ["--why=causes", f"--record-trace={trace}", *options]
    assert checked(run(tmp_path, [guest_program(guest)], *given).profile_path) > 5
    found: list[tuple[Why, str]] = []
    for choice in ("causes", "yes"):
        replayed = tmp_path / choice
        # So that both have the same lines in the profile.
        again = [*SMALL_CACHES, f"--why={choice}", "--structure=yes", *options, f"--out={replayed}", str(trace)]
        subprocess.run([str(BUILD / "bdgrind" / "bdreplay"), *again], check=True, capture_output=True)
        found.append((read_why(str(tmp_path / f"why.{choice}")), replayed.read_text()))
    (causes, profile_of_causes), (everything, profile_of_all) = found
    assert profile_of_causes == profile_of_all
    assert causes.reuses is None and causes.stays is None and causes.orders is None and len(causes.scopes) == 1
    assert everything.reuses and everything.stays is not None and everything.orders is not None
    assert distances(causes) == distances(everything)
    assert causes.data == everything.data
    assert sorted(causes.inclusive or (), key=repr) == sorted(everything.inclusive or (), key=repr)
    assert (causes.data is not None) == ("--objects=yes" in options)


def test_causes_alone_do_not_include_the_structure(tmp_path: Path) -> None:
    text = run(tmp_path, [GUESTS / "recursion"], "--why=causes").profile_path.read_text()
    assert "D1conf" in text and "positions: line" in text and "jcnd=" not in text and "jump=" not in text


@pytest.mark.parametrize("options", [["--dump-every-bb=20000", "--separate-threads=yes"], ["--dump-every-bb=20000"]])
def test_each_part_has_its_file(options: list[str], tmp_path: Path) -> None:
    run(tmp_path, [GUESTS / "threads"], YES, *options)
    found = profiles(tmp_path)
    assert len(found) > 2
    assert sum(checked(profile) for profile in found) > 100


@pytest.mark.parametrize("combine", ["no", "yes"])
def test_parts_before_an_exec(combine: str, tmp_path: Path) -> None:
    options = ["--trace-children=yes", f"--combine-dumps={combine}"]
    run(tmp_path, ["/usr/bin/env", "/usr/bin/env", GUESTS / "recursion"], YES, *options)
    found = profiles(tmp_path)
    assert len(found) == (1 if combine == "yes" else 3)
    for profile in found:
        checked(profile)


def test_forked_children_have_files_of_their_own(tmp_path: Path) -> None:
    run(tmp_path, [GUESTS / "forks"], YES)
    found = profiles(tmp_path)
    assert len(found) > 1
    for profile in found:
        checked(profile)


@needs_bdcompare
@pytest.mark.parametrize(
    ("guest", "caches"),
    [
        ("attribution", ["--D1=1024,2,64", "--LL=8192,4,64"]),
        ("handlers", ["--D1=1024,2,32", "--LL=20480,5,128", "--simulate-hwpref=yes"]),
        ("workload", ["--D1=4096,4,64", "--LL=16384,8,64"]),
    ],
)
def test_causes_and_distances_equal_the_naive_engines(tmp_path: Path, guest: str, caches: list[str]) -> None:
    trace = tmp_path / "trace"
    options = ["--I1=1024,2,64", *caches, YES]
    run_tool(tmp_path, [GUESTS / guest], [*options, f"--record-trace={trace}"])
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    (distances,) = re.findall(r" (\d+) distances, ", compared.stdout)
    assert int(distances) > 0


@needs_bdcompare
@pytest.mark.parametrize(
    "command",
    [
        ["bzip2", "-k", "-c", "/etc/passwd"],
        ["sqlite3", ":memory:", "create table t(a); insert into t values(1),(2); select sum(a) from t;"],
        ["perl", "-e", "my %h; $h{$_*7%100}.=$_ for 1..150; print scalar keys %h"],
    ],
    ids=["bzip2", "sqlite3", "perl"],
)
def test_real_programs_equal_the_naive_engines(tmp_path: Path, command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing")
    trace = tmp_path / "trace"
    options = [*SMALL_CACHES, YES]
    run_tool(tmp_path, [shutil.which(command[0]) or "", *command[1:]], [*options, f"--record-trace={trace}"])
    compared = subprocess.run([BDCOMPARE, *options, trace], capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "no difference" in compared.stdout


def test_a_traced_run_gives_the_same_file(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = run(tmp_path, [GUESTS / "handlers"], YES, f"--record-trace={trace}")
    replayed = tmp_path / "replayed.out"
    bdreplay: list[str | Path] = [BUILD / "bdgrind" / "bdreplay", YES, *SMALL_CACHES, f"--out={replayed}", trace]
    subprocess.run(bdreplay, check=True, capture_output=True)
    assert (tmp_path / "why.replayed.out").read_bytes() == (tmp_path / "why.profile.out").read_bytes()
    assert replayed.read_bytes() == done.profile_path.read_bytes()


def test_there_is_no_file_beside_a_stream(tmp_path: Path) -> None:
    done = run(tmp_path, [GUESTS / "tail_call"], YES, "--bdgrind-out-file=/dev/stdout")
    assert done.status == 1
    assert "No why file can be written beside /dev/stdout, which is not a file" in done.log
    assert not list(tmp_path.glob("why.*"))


def test_without_caches_there_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, [GUESTS / "tail_call"], YES, "--cache-sim=no")
    assert "Warning: --why does nothing with --cache-sim=no." in done.log
    assert not list(tmp_path.glob("why.*"))
