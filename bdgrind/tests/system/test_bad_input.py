# SPDX-License-Identifier: GPL-2.0-or-later
"""What users get wrong: a clear sentence, a proper status, and no profile lost in silence."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from harness import ENVIRONMENT, GUESTS, SMALL_CACHES, VALGRIND, check_profile, run_tool

GUEST = GUESTS / "exit_deep"
GUEST_STATUS = 5


def run(
    tmp_path: Path, *options: str, command: tuple[str, ...] = (str(GUEST),), folder: Path | None = None
) -> tuple[int, str]:
    """Status, and everything that was said; no file is written outside of tmp_path."""
    completed = subprocess.run(
        [str(VALGRIND), "--tool=bdgrind", *options, *command],
        capture_output=True,
        text=True,
        cwd=folder or tmp_path,
        env=ENVIRONMENT | {"TMPDIR": str(tmp_path)},
        timeout=60,
        check=False,
    )
    return completed.returncode, completed.stdout + completed.stderr


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--no-such-option=1", "Unknown option: --no-such-option=1"),
        ("--D1=48000,7,60", "'48000,7,60' is not a value for --D1=.*: the line size must be"),
        ("--D1=32768,0,64", "'32768,0,64' .* at least 1 way"),
        ("--I1=1024,2,8", "'1024,2,8' is not a value for --I1=.*: the line size must be"),
        ("--LL=1024,2,512", "'1024,2,512' is not a value for --LL=.*: the line size must be"),
        ("--D1=1000,2,64", "'1000,2,64' .* multiple of ways times line size"),
        ("--D1=0,2,64", "'0,2,64' .* size must not be 0"),
        ("--D1=1024,2", "'1024,2' .* three numbers"),
        ("--D1=1024,2,64,1", "'1024,2,64,1' .* three numbers"),
        ("--D1=32k,8,64", "'32k,8,64' .* three numbers"),
        ("--D1=-1024,2,64", "'-1024,2,64' .* three numbers"),
        ("--LL=99999999999999999999,2,64", "'99999999999999999999,2,64' is not a value"),
        ("--LL=1125899906842624,16,64", "'1125899906842624,16,64' .* at most"),
        ("--L2=1024,2,512", "'1024,2,512' is not a value for --L2=.*: the line size must be"),
        ("--LL-replacement=LRU", "'LRU' is not a value for --LL-replacement=<policy>: it must be lru, tree-plru"),
        ("--D1-replacement=plru", "'plru' is not a value for --D1-replacement=<policy>: it must be lru, tree-plru"),
        ("--D1-replacement=bit-plru", "'bit-plru' .*: it must be lru, tree-plru, lru3plru4, fifo or random"),
        ("--I1-replacement=QLRU_H11_M1_R0_U0", "'QLRU_H11_M1_R0_U0' .*: it must be lru, tree-plru, lru3plru4, fifo or"),
        ("--L2-replacement=QLRU_H11_M1_R0_U2", "'QLRU_H11_M1_R0_U2' .* R0 and R2 need a line of age 3"),
        ("--LL-replacement=random,x", "'random,x' .* behind random, there can be a comma and a number"),
        ("--LL-inclusion=yes", "'yes' is not a value for --LL-inclusion=.*: it must be none, inclusive or exclusive"),
        ("--LL-index=xor", "'xor' is not a value for --LL-index=.*: it must be bits or hash"),
        ("--pages=random:1", "'random:1' is not a value for --pages=.*: behind random, there can be a comma"),
        ("--pages=physical", "'physical' is not a value for --pages=.*: it must be virtual, contiguous or random"),
        ("--prefetch=stream,", "'stream,' is not a value for --prefetch=.*: it must be no, or some of adjacent"),
        ("--tlb=zen", "'zen' is not a value for --tlb=.*: it must be no, yes, a name that"),
        ("--tlb=64,5,1536,12", "'64,5,1536,12' is not a value for --tlb=.*: the entries of a TLB must be"),
        ("--machine=zen", "'zen' is not a value for --machine=.*: it must be native or a name that"),
        ("--dump-line=maybe", "'maybe' is not a value for --dump-line=.*: it must be yes or no"),
        ("--cacheuse=", "'' is not a value for --cacheuse="),
        ("--objects-depth=0", "'0' is not a value for --objects-depth=<n>: it must be from 1 to 64"),
        ("--objects-depth=65", "'65' is not a value for --objects-depth=<n>: it must be from 1 to 64"),
        ("--context-tree-nodes=1073741825", "for --context-tree-nodes=<n>: it must be at most 1073741824"),
        ("--bdgrind-out-file=", "'' is not a value for --bdgrind-out-file="),
    ],
)
def test_bad_options_are_refused_before_the_guest_runs(
    option: str, sentence: str, tmp_path: Path
) -> None:
    status, said = run(tmp_path, option, command=("/bin/sh", "-c", "echo the guest ran"))
    assert re.search(sentence, said), said
    assert status == 1
    assert "the guest ran" not in said
    assert not list(tmp_path.iterdir())


def test_an_ll_smaller_than_an_l1_is_a_warning(tmp_path: Path) -> None:
    options = ("--I1=1024,2,64", "--D1=32768,8,64", "--LL=1024,2,64")
    run = run_tool(tmp_path, [GUEST], options)
    assert "Warning: the LL cache is smaller than an L1 cache" in run.log
    assert run.status == GUEST_STATUS
    assert run.profile.totals["DLmr"] > 0


PATTERN_OPTIONS = (
    "dump-before",
    "zero-before",
    "dump-after",
    "toggle-collect",
    "separate-callers3",
    "separate-recs3",
    "fn-skip",
)


def test_names_that_nothing_has_are_listed_at_the_end(tmp_path: Path) -> None:
    wrong = [f"--{option}=nosuch{i}" for i, option in enumerate(PATTERN_OPTIONS)]
    right = ["--fn-skip=m?in", "--fn-skip=main", "--separate-recs4=*"]
    run = run_tool(tmp_path, [GUEST], [*SMALL_CACHES, *right, *wrong, "--obj-skip=*.no"])
    said = [line for line in run.log.splitlines() if line.endswith("has run.")]
    assert sorted(said) == sorted(
        [f"{option}: no function of that name has run." for option in wrong]
        + ["--obj-skip=*.no: no code of such an object file has run."]
    )
    quiet = run_tool(tmp_path, [GUEST], ["-q", *SMALL_CACHES, *wrong], name="quiet")
    assert quiet.log == ""


def test_a_missing_folder_for_the_profile(tmp_path: Path) -> None:
    status, said = run(
        tmp_path, "--bdgrind-out-file=/no/folder/x", command=("/bin/echo", "the guest ran")
    )
    assert "could not be written to /no/folder/x" in said and "there is no such folder" in said
    assert status == 1 and "the guest ran" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="no package helps: root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(0o555)
    status, said = run(tmp_path, folder=folder)
    assert "could not be written" in said and "permission" in said.lower()
    assert status == 1


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    status, said = run(tmp_path, f"--bdgrind-out-file={tmp_path}")
    assert "it is a folder" in said
    assert status == 1


def test_a_full_device_keeps_the_guest_status(tmp_path: Path) -> None:
    status, _ = run(tmp_path, "--bdgrind-out-file=/dev/full")
    assert status == GUEST_STATUS


def test_a_full_device_is_reported_and_the_profile_saved(tmp_path: Path) -> None:
    _, said = run(tmp_path, "--bdgrind-out-file=/dev/full")
    assert "could not be written to /dev/full: no space is left on the device" in said
    (saved,) = tmp_path.glob("bdgrind.out.*")
    assert f"The profile is in {saved} instead" in said
    assert "totals: " in saved.read_text()


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    status, said = run(tmp_path, command=("/no/such/program",))
    assert "/no/such/program: No such file or directory" in said
    assert status == 127
    assert not list(tmp_path.iterdir())


def test_no_program_at_all(tmp_path: Path) -> None:
    status, said = run(tmp_path, command=())
    assert "no program specified" in said
    assert status == 1


def test_the_default_file_is_named_after_the_process(tmp_path: Path) -> None:
    status, said = run(tmp_path, *SMALL_CACHES)
    (profile,) = tmp_path.iterdir()
    pid = re.search(r"==(\d+)==", said)
    assert pid and profile.name == f"bdgrind.out.{pid[1]}"
    assert f"\npid: {pid[1]}\n" in profile.read_text()
    assert status == GUEST_STATUS


def test_file_names_with_pid_and_environment(tmp_path: Path) -> None:
    run(tmp_path, "--bdgrind-out-file=a.%p.%q{LC_ALL}.%%")
    (profile,) = tmp_path.iterdir()
    assert re.fullmatch(r"a\.\d+\.C\.%", profile.name)


def test_a_newline_in_the_command(tmp_path: Path) -> None:
    run = run_tool(tmp_path, ["/bin/echo", "one\ntwo"], SMALL_CACHES)
    assert run.stdout == b"one\ntwo\n"
    assert run.profile.events[0] == "Ir"
    assert check_profile(run.profile_path) == ""


def test_nothing_but_the_log_is_printed(tmp_path: Path) -> None:
    """A profile or a message on the guest's standard output would break pipes."""
    quiet = run_tool(tmp_path, ["/bin/echo", "hello"], ["-q", *SMALL_CACHES])
    assert (quiet.stdout, quiet.stderr, quiet.log) == (b"hello\n", "", "")
