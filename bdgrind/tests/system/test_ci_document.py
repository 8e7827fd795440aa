# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/ci.md: its script does what it says, run as a job would, with the bundled example as the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import BD_ANNOTATE, SOURCE, VALGRIND

DOCUMENT = (SOURCE / "docs" / "ci.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture(name="checkout")
def fixture_checkout(tmp_path: Path) -> Path:
    """A folder with the script and the example; the programs that it calls are those of the build folder."""
    (script,) = blocks("sh")
    folder = tmp_path / "checkout"
    shutil.copytree(SOURCE / "docs" / "example", folder / "docs" / "example")
    (folder / "profile.sh").write_text(script)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, target in (("valgrind", VALGRIND), ("bd_annotate", BD_ANNOTATE)):
        (programs / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        (programs / name).chmod(0o755)
    return folder


def profile(checkout: Path, source: str = "wasteful") -> subprocess.CompletedProcess[str]:
    script = checkout / "profile.sh"
    text = script.read_text().replace("example/wasteful.c", f"example/{source}.c")
    environment = {"PATH": f"{checkout.parent / 'bin'}:/usr/bin:/bin", "LC_ALL": "C"}
    return subprocess.run(
        ["sh", "-c", text], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_the_script_profiles_comments_and_compares(checkout: Path) -> None:
    first = profile(checkout)
    assert first.returncode == 0, first.stderr
    assert "- **First**: " in (checkout / "comment.md").read_text()
    results = json.loads((checkout / "bdgrind.sarif").read_text())["runs"][0]["results"]
    places = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results
    }
    assert places == {"docs/example/wasteful.c"}

    (checkout / "now.out").rename(checkout / "base.out")
    better = profile(checkout, "repaired")
    assert better.returncode == 0, better.stderr
    assert "- **Before**: base.out" in (checkout / "comment.md").read_text()

    (checkout / "now.out").rename(checkout / "base.out")
    worse = profile(checkout)
    assert worse.returncode == 1
    assert "bd_annotate: failed: SpLoss1 went from" in worse.stderr
    assert (checkout / "comment.md").read_text().startswith("- **Before**: base.out")


def test_jobs_are_written_in_yaml_that_can_be_read() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is missing; on Debian: apt-get install python3-yaml")
    github, gitlab = map(yaml.safe_load, blocks("yaml"))
    steps = github["jobs"]["caches"]["steps"]
    assert [step for step in steps if step.get("run") == "sh profile.sh"]
    assert "sh profile.sh" in gitlab["caches"]["script"]
    commands = [step["run"] for step in steps if "run" in step]
    commands += gitlab["caches"]["script"] + gitlab["caches"]["after_script"]
    for command in commands:
        subprocess.run(["sh", "-n", "-c", command.replace("${{", "").replace("}}", "")], check=True)
