# SPDX-License-Identifier: GPL-2.0-or-later
"""What speedscope reads: its own form, and the callgrind form."""

import json
import pathlib
import shutil
import subprocess

import pytest

from bdannotate.reading.parser import parse_text

from exporting import HELPER, ROOT, run


@pytest.fixture(name="read_by_speedscope")
def fixture_read_by_speedscope():
    npm = shutil.which("npm")
    root = npm and subprocess.run([npm, "root", "-g"], capture_output=True, text=True).stdout.strip()
    bundles = list(pathlib.Path(root or "/missing").glob("speedscope/dist/release/speedscope-*.js"))
    if not bundles:
        pytest.skip("speedscope is missing; with node: npm install -g speedscope")

    def read(path):
        command = ["node", str(ROOT / "tests" / "readers" / "speedscope.js"), bundles[0], path]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr[-2000:]
        return [json.loads(line) for line in result.stdout.splitlines()]

    return read


def test_speedscope_reads_the_callgrind_form(read_by_speedscope, tmp_path):
    path = tmp_path / "callgrind.out.1"
    assert run(HELPER, "--export=callgrind", "--events=DLmr,SpLoss1", "-o", path).stderr == ""
    profile = parse_text(path.read_text())
    found = read_by_speedscope(path)
    assert [shown["name"] for shown in found] == [
        f"callgrind.out.1 -- {event}" for event in profile.events
    ]
    for shown, total in zip(found, profile.totals()):
        assert (shown["not_numbers"], round(shown["total"])) == (0, total)
    # What the form is for: with trailing zeros left out, it shows NaN.
    assert any(shown["not_numbers"] for shown in read_by_speedscope(HELPER))


def test_speedscope_reads_its_own_form(read_by_speedscope, tmp_path):
    path = tmp_path / "profile.speedscope.json"
    run(HELPER, "--export=speedscope", "--events=Ir,SpLoss1", "-o", path)
    instructions, loss = read_by_speedscope(path)
    assert (instructions["name"], instructions["total"]) == ("Ir: Instructions executed", 100_000)
    assert instructions["self"]["fetch"] == 78_000
    assert (loss["total"], loss["self"]["fetch"]) == (448_320, 448_320)
