# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are not ours open the profile without a complaint, and show the same numbers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import ENVIRONMENT, GUESTS, SMALL_CACHES, SOURCE, run_tool
from profile_reader import read_profile

SCREENSHOT = SOURCE / "docs" / "kcachegrind-screenshot.sh"

FORMS: dict[str, tuple[str, list[str]]] = {
    "lines": ("workload", []),
    "instructions": ("workload", ["--dump-instr=yes"]),
    "jumps": ("workload", ["--dump-instr=yes", "--collect-jumps=yes"]),
    "long names": ("workload", ["--compress-strings=no", "--compress-pos=no"]),
    "threads": ("threads", []),
}


@pytest.fixture(scope="module", params=FORMS)
def profile_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profile")
    guest, options = FORMS[request.param]
    return run_tool(folder, [GUESTS / guest], [*SMALL_CACHES, *options]).profile_path


def annotate(profile: Path, *options: str) -> str:
    program = shutil.which("callgrind_annotate")
    if not program:
        pytest.skip("callgrind_annotate is not installed")
    completed = subprocess.run(
        [program, *options, str(profile)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    return completed.stdout


def test_callgrind_annotate_shows_all_events(profile_path: Path) -> None:
    output = annotate(profile_path, "--threshold=100")
    events = re.search(r"^Events recorded: +(.*)$", output, re.MULTILINE)
    assert events and events[1].split()[-1] == "AccessDL"


@pytest.mark.parametrize("event", ["Ir", "SpLoss1", "Access2"])
def test_callgrind_annotate_shows_main_inclusively(profile_path: Path, event: str) -> None:
    expected = read_profile(profile_path)
    output = annotate(
        profile_path, "--threshold=100", "--inclusive=yes", f"--show={event}", f"--sort={event}"
    )
    total = re.search(r"^ *([\d,]+) .*PROGRAM TOTALS$", output, re.MULTILINE)
    main = re.search(r"^ *([\d,]+) .*:main \[", output, re.MULTILINE)
    assert total and int(total[1].replace(",", "")) == expected.totals[event]
    assert main and int(main[1].replace(",", "")) == expected.inclusive("main", event)


def test_kcachegrind_opens_it(profile_path: Path, tmp_path: Path) -> None:
    for program in ("kcachegrind", "xvfb-run", "dbus-run-session", "xdotool", "import"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    picture = tmp_path / "picture.png"
    completed = subprocess.run(
        ["sh", str(SCREENSHOT), str(profile_path), str(picture)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert picture.stat().st_size > 20_000  # an empty screen is far smaller
