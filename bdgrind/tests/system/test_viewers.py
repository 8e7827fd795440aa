# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are not ours open the profile without a complaint, and show the same numbers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import BD_ANNOTATE, ENVIRONMENT, GUESTS, SMALL_CACHES, SOURCE, run_tool
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


def annotate(profile: Path, *options: str, program: str | Path = "callgrind_annotate") -> str:
    """What callgrind_annotate says of it, without a complaint."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    completed = subprocess.run(
        [program, *options, str(profile)],
        capture_output=True,
        encoding="utf-8",
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


# The functions that each form has. Sources are left out (--auto=no): of lines without the last events,
# callgrind_annotate complains of undefined values, in Callgrind's own profiles, too.
STRUCTURED: dict[str, tuple[list[str], str]] = {
    "own": ([], "main"),
    "loops": (["--separate-loops"], "main › loop workload.c:"),
    "inlined": (["--separate-inlines"], "main"),
    "both": (["--separate-loops", "--separate-inlines"], "main › loop workload.c:"),
}


def check_structured(form: str, folder: Path, program: str | Path) -> None:
    """That a profile with structure in it, or made functions of, is read in silence and as a whole."""
    options, function = STRUCTURED[form]
    profile = run_tool(folder, [GUESTS / "workload"], [*SMALL_CACHES, "--structure=yes"]).profile_path
    expected = read_profile(profile)
    if options:
        exported = folder / "exported"
        command = [BD_ANNOTATE, "--export=callgrind", *options, "-o", exported, profile]
        subprocess.run([sys.executable, *map(str, command)], check=True)
        profile = exported
    for inclusive in ("no", "yes"):
        output = annotate(
            profile, "--auto=no", "--threshold=100", f"--inclusive={inclusive}", "--tree=both",
            "--show=Ir,SpLoss1", program=program,
        )
        total = re.search(r"^ *([\d,]+) .*?([\d,]+) (?:\(.*?\) *)?PROGRAM TOTALS$", output, re.MULTILINE)
        assert total
        counts = [int(count.replace(",", "")) for count in total.groups()]
        assert counts == [expected.totals["Ir"], expected.totals["SpLoss1"]]
        assert function in output


@pytest.mark.parametrize("form", STRUCTURED)
def test_callgrind_annotate_passes_over_structure(form: str, tmp_path: Path) -> None:
    check_structured(form, tmp_path, "callgrind_annotate")


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
