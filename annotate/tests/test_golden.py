# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole reports, compared with stored ones. What they should say is worked out in the comments of
the profiles. After a wanted change: BD_UPDATE_GOLDEN=1 pytest ..., and read the difference."""

import os
import pathlib
import shutil

import pytest
from annotating import bd_annotate

TESTS = pathlib.Path(__file__).resolve().parent

REPORTS = {
    "default": ["helper.out"],
    "exact": ["helper.out", "--show=SpLoss1,SpLoss1:self,Unused1,LLm#,Ir%", "--sort=Ir:self:5"],
    "no_percs": ["helper.out", "--show-percs=no"],
    "tree": ["helper.out", "--tree=both", "--threshold=0.05"],
    "function": ["helper.out", "--tree=caller", "--function=^fetch$", "--full-names"],
    "narrow": ["helper.out", "--width=80"],
    "colour": ["helper.out", "--color=yes"],
    "files": ["cachegrind.out", "--files"],
    "cachegrind": ["cachegrind.out", "--sort=D1m,DLm:0.5", "--threshold=20"],
    "recursion": ["recursion.out", "--tree=both"],
    "self": ["recursion.out", "--inclusive=no"],
    "sources": ["sources.out", "-I", "sources", "--auto=yes", "--context=1"],
    "instructions": ["instructions.out", "--instructions"],
    "structure": ["instructions.out", "--structure"],
    "json_structure": ["instructions.out", "--structure", "--format=json"],
    "threads": ["threads.out"],
    "hints": ["helper.out", "--hints"],
    "diff": ["--diff", "helper.out", "repaired.out"],
    "diff_renamed": [
        "--diff", "rank0.out", "rank2.out", "--mod-funcname=s/^w.*/WORK_OR_WAIT/", "--sort=Ir:self",
    ],
    "sum": ["rank0.out", "rank1.out", "rank2.out"],
    "per_file": ["--per-file", "rank0.out", "rank1.out", "rank2.out", "--sort=Ir:incl"],
    "json": ["recursion.out", "--format=json"],
    "json_diff": ["--diff", "rank0.out", "rank1.out", "--format=json"],
    "json_per_file": ["--per-file", "rank0.out", "rank1.out", "--format=json"],
    "csv": ["helper.out", "--format=csv"],
    "csv_diff": ["--diff", "helper.out", "repaired.out", "--format=csv", "--show=SpLoss1,Unused1"],
    "csv_per_file": ["--per-file", "rank0.out", "rank1.out", "--format=csv"],
    "fail_if": [
        "repaired.out", "--baseline=helper.out",
        "--fail-if=SpLoss1 > 300",
        "--fail-if=SpLoss1 > 320",  # does not hold
        "--fail-if=Ir of columns >= 50%",
        "--fail-if=self Ir of columns >= 10.1%",  # does not hold
        "--fail-if=Unused1 of once > 20%",
        "--fail-if=AccLine1 < 9",
        "--fail-if=EvLine1 < -70%",
        "--fail-if=EvLine1 < -80%",  # does not hold
        "--fail-if=AccLine1 > +6",
    ],
    "check": ["--check", "threads.out"],
}


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """The profiles, written after all sources but one. No path of this machine is in the output."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "sources").mkdir()
    # Contents only: the folders of an unpacked release may be read-only.
    for path in (TESTS / "profiles").iterdir():
        shutil.copyfile(path, folder / path.name)
    for path in (TESTS / "sources").iterdir():
        shutil.copyfile(path, folder / "sources" / path.name)
    (folder / "sources" / "secret.c").mkdir()
    for path in folder.rglob("*"):
        is_newer = path.name == "newer.c"
        seconds = 3000 if is_newer else 1000 if path.parent.name == "sources" else 2000
        os.utime(path, (seconds, seconds))
    return folder


@pytest.mark.parametrize("name, arguments", REPORTS.items(), ids=REPORTS.keys())
def test_report(name, arguments, folder):
    result = bd_annotate(*arguments, cwd=folder, text=True)
    output = f"{result.stdout}{result.stderr}status {result.returncode}\n"
    golden = TESTS / "golden" / f"{name}.txt"
    if os.environ.get("BD_UPDATE_GOLDEN"):
        golden.write_text(output)
    assert output == golden.read_text()


def test_every_golden_file_is_used():
    assert {path.stem for path in (TESTS / "golden").iterdir()} == set(REPORTS)
