# SPDX-License-Identifier: GPL-2.0-or-later
"""sum_up.py: what GoogleTest and pytest really write is counted, and what did not run, or for want of packages in small
part, is no success."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SUM_UP = Path(__file__).parent / "sum_up.py"

# As GoogleTest 1.12 writes it.
GOOGLE_TEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" disabled="1" errors="0" time="0.1" name="AllTests">
  <testsuite name="Suite" tests="4" failures="1" disabled="1" skipped="1" errors="0" time="0.1">
    <testcase name="Passes" status="run" result="completed" time="0." classname="Suite" />
    <testcase name="Skips" status="run" result="skipped" time="0." classname="Suite">
      <skipped message="a.cpp:4&#x0A;not here"><![CDATA[a.cpp:4]]></skipped>
    </testcase>
    <testcase name="Fails" status="run" result="completed" time="0." classname="Suite">
      <failure message="a.cpp:5" type=""><![CDATA[a.cpp:5]]></failure>
      <failure message="a.cpp:6" type=""><![CDATA[a.cpp:6]]></failure>
    </testcase>
    <testcase name="DISABLED_Off" status="notrun" result="suppressed" time="0." classname="Suite" />
  </testsuite>
</testsuites>
"""

TESTS = """
import pytest

def test_passes(): pass
def test_passes_too(): pass
def test_fails(): assert False
def test_is_skipped(): pytest.skip("g++ is missing")
def test_is_skipped_here(): pytest.skip("no package helps: it has no AVX")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
@pytest.mark.skipif(True, reason="g++ is missing")
def test_is_marked(): pass
@pytest.fixture
def broken(): raise OSError
def test_has_a_broken_fixture(broken): pass
"""

PASSED = '<testsuites><testsuite><testcase name="one"/></testsuite></testsuites>'
SKIPPED = '<testsuites><testsuite><testcase name="a"><skipped/></testcase></testsuite></testsuites>'


def sum_up(folder: Path, *kinds: str) -> tuple[int, list[str]]:
    completed = subprocess.run(
        [sys.executable, SUM_UP, folder, *kinds], capture_output=True, text=True, check=False
    )
    assert completed.stderr == ""
    return completed.returncode, completed.stdout.splitlines()


def test_all_kinds_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "check-unit.xml").write_text(GOOGLE_TEST)
    (tmp_path / "check-gates.xml").write_text(PASSED)
    assert sum_up(tmp_path, "unit", "gates") == (
        1,
        [
            "unit   1 passed, 1 failed, 2 skipped",
            "       1 skipped: not here",
            "gates  1 passed, 0 failed, 0 skipped",
            "2 passed, 1 failed, 2 skipped; PACKAGES ARE MISSING: unit",
        ],
    )


def test_what_pytest_writes_is_counted(tmp_path: Path) -> None:
    tests = tmp_path / "test_all.py"
    tests.write_text(TESTS)
    subprocess.run(
        [sys.executable, "-m", "pytest", f"--junitxml={tmp_path}/check-system.xml", tests],
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    status, lines = sum_up(tmp_path, "system")
    assert status == 1
    assert lines == [
        "system  2 passed, 2 failed, 4 skipped",
        "        2 skipped: g++ is missing",
        "2 passed, 2 failed, 4 skipped; PACKAGES ARE MISSING: system",
    ]


def of_a_kind(passed: int, *reasons: str) -> str:
    skipped = "".join(f'<testcase><skipped message="{reason}"/></testcase>' for reason in reasons)
    return f"<testsuites>{'<testcase/>' * passed}{skipped}</testsuites>"


NODE = "node is missing"
HERE = "no package helps: the kernel runs no 32-bit programs"


# GoogleTest names the file and the line first.
@pytest.mark.parametrize(
    ("passed", "reasons", "fails"),
    [
        (1, [NODE] * 40, True),
        (9, [NODE], False),
        (8, [NODE], True),
        (17, [NODE, "npm is missing"], True),
        (1, [HERE] * 40, False),
        (1, [f"/a.cpp:4&#x0A;{HERE}"] * 40, False),
        (8, [f"/a.cpp:4&#x0A;{NODE}"], True),
        (8, ["npm cannot get it:&#x0A;no such host"], True),
        (8, ["no package helps: Error:&#x0A;no such kernel"], False),
        (8, [""], True),
        (18, [NODE, HERE], False),
    ],
)  # fmt: skip
def test_a_kind_that_wants_packages_is_a_failure(
    passed: int, reasons: list[str], fails: bool, tmp_path: Path
) -> None:
    (tmp_path / "check-unit.xml").write_text(PASSED)
    (tmp_path / "check-web.xml").write_text(of_a_kind(passed, *reasons))
    status, lines = sum_up(tmp_path, "unit", "web")
    counts = f"{passed + 1} passed, 0 failed, {len(reasons)} skipped"
    assert (status, lines[-1]) == (int(fails), counts + "; PACKAGES ARE MISSING: web" * fails)
    said = [reason.removeprefix("/a.cpp:4&#x0A;").replace("&#x0A;", " ") for reason in reasons]
    expected = [f"{said.count(each)} skipped: {each or 'no reason is given'}" for each in dict.fromkeys(said)]
    assert [line.strip() for line in lines[2:-1]] == (expected if fails else [])


def test_success_is_status_0(tmp_path: Path) -> None:
    (tmp_path / "check-unit.xml").write_text(PASSED)
    assert sum_up(tmp_path, "unit") == (
        0,
        ["unit  1 passed, 0 failed, 0 skipped", "1 passed, 0 failed, 0 skipped"],
    )


@pytest.mark.parametrize(
    "result", [None, "", PASSED[:-5], SKIPPED, "<testsuites/>"],
    ids=["missing", "empty", "cut", "skipped", "nothing"],
)  # fmt: skip
def test_a_whole_kind_without_a_result_is_a_failure(result: str | None, tmp_path: Path) -> None:
    (tmp_path / "check-unit.xml").write_text(PASSED)
    if result is not None:
        (tmp_path / "check-system.xml").write_text(result)
    status, lines = sum_up(tmp_path, "unit", "system")
    assert status == 1
    assert lines[-1].startswith("1 passed, 0 failed, ")
    assert lines[-1].endswith(" skipped; DID NOT RUN: system")
