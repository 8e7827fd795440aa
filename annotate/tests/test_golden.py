# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole reports, compared with stored ones. What they should say is worked out in the comments of
the profiles. After a wanted change: BD_UPDATE_GOLDEN=1 pytest ..., and read the difference."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parent

REPORTS = {
    "default": ["profiles/helper.out"],
}


@pytest.mark.parametrize("name, arguments", REPORTS.items(), ids=REPORTS.keys())
def test_report(name, arguments):
    # In the tests' folder, so that no path of this machine is in the output.
    result = subprocess.run(
        [sys.executable, str(TESTS.parent / "bd_annotate"), *arguments],
        cwd=TESTS, capture_output=True, timeout=60, encoding="utf-8",
    )
    output = f"{result.stdout}{result.stderr}status {result.returncode}\n"
    golden = TESTS / "golden" / f"{name}.txt"
    if os.environ.get("BD_UPDATE_GOLDEN"):
        golden.write_text(output)
    assert output == golden.read_text()
