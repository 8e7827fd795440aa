# SPDX-License-Identifier: GPL-2.0-or-later
"""bdgrind with other versions of Valgrind: it builds, system tests pass, and what is counted is the same.

BDGRIND_RELEASES: the Debian releases whose Valgrind is wanted; fetched by `fetch`, into the build folder.
BDGRIND_SYSTEM_TESTS: files of system tests to run with each; `.` is all of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "system"))

from guest_spec import GuestSpec  # noqa: E402
from harness import BUILD, GUESTS, SOURCE, configured, has_x86, run_tool  # noqa: E402
from test_guests import SPECS, caches, command  # noqa: E402
from test_viewers import STRUCTURED, check_structured  # noqa: E402

RELEASES = os.environ.get("BDGRIND_RELEASES", "").split()
SYSTEM_TESTS = os.environ.get("BDGRIND_SYSTEM_TESTS", "").split()
FOLDER = BUILD / "versions"

# Programs whose addresses are always the same, and where no scheduler decides what comes next.
STEADY = [
    spec
    for spec in SPECS
    if spec.static and not spec.threads and not spec.output_varies and not spec.status < 0
]


def succeed(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    completed = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode != 0:
        pytest.fail((completed.stdout + completed.stderr)[-10000:], pytrace=False)
    return completed.stdout


@dataclass(frozen=True, slots=True)
class Build:
    release: str
    package: Path
    folder: Path

    @property
    def version(self) -> str:
        (pc,) = self.package.glob("usr/lib/*/pkgconfig/valgrind.pc")
        (version,) = re.findall(r"^Version: (.*)$", pc.read_text(), re.MULTILINE)
        return str(version)


def copy_objects(folder: Path) -> None:
    """Of what knows nothing of Valgrind: it would only be compiled to the same once more."""
    # With what they are made of: an object must be newer than its source, and than the stamp of its folder.
    for pattern in ("bdgrind_*.o", "*.cpp", ".dirstamp"):
        for path in (BUILD / "bdgrind").glob(f"**/{pattern}"):
            if path.relative_to(BUILD / "bdgrind").parts[0] in ("engine", "parts") and not path.stem.endswith("tool"):
                place = folder / path.relative_to(BUILD)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)


@pytest.fixture(scope="module", params=RELEASES)
def package(request: pytest.FixtureRequest) -> Path:
    release = str(request.param)
    package = FOLDER / "packages" / release
    if not package.exists():
        skipped = package.with_suffix(".skipped")
        reason = skipped.read_text().strip() if skipped.exists() else "it was not fetched"
        pytest.skip(f"{reason} (Valgrind of Debian {release})")
    return package


@pytest.fixture(scope="module")
def build(package: Path) -> Build:
    release = package.name
    folder = FOLDER / f"build-{release}"
    folder.mkdir(exist_ok=True)
    compiler = str(configured("CXX"))
    options = ["--quiet", "--enable-werror", f"--with-valgrind={package}", f"CXX={compiler}"]
    if shutil.which("ld.gold"):  # see docs/platforms.md
        options.append("LDFLAGS=-fuse-ld=gold")
    succeed([SOURCE / "configure", *options], folder)
    copy_objects(folder)
    processors = str(os.cpu_count() or 1)
    tools = [f"bdgrind-{architecture}-linux" for architecture in ("amd64", *(["x86"] if has_x86() else []))]
    targets = [f"../vg-in-place.d/{tool}" for tool in tools]
    succeed(["make", f"-j{processors}", "-C", "bdgrind", *targets], folder)
    guests = folder / GUESTS.relative_to(BUILD)
    if not guests.is_symlink():
        shutil.rmtree(guests)
        guests.symlink_to(GUESTS)
    return Build(release, package, folder)


def test_it_is_the_tool_of_this_version(build: Build, tmp_path: Path) -> None:
    run = run_tool(tmp_path, ["/bin/true"], ["-v"], valgrind=build.folder / "vg-in-place")
    assert f"Using Valgrind-{build.version}" in run.log
    assert (build.folder / "vg-in-place.d" / "bdgrind-amd64-linux").exists()


@pytest.mark.parametrize("form", STRUCTURED)
def test_its_callgrind_annotate_passes_over_structure(package: Path, form: str, tmp_path: Path) -> None:
    check_structured(form, tmp_path, package / "usr" / "bin" / "callgrind_annotate")


def test_system_tests_pass(build: Build, record_property: Callable[[str, object], None]) -> None:
    files = [TESTS / "system" / name for name in SYSTEM_TESTS]
    result = build.folder / "check-system.xml"
    output = succeed(
        [TESTS / "checks" / "run_pytest", result, "--parallel", *files],
        SOURCE,
        PYTHON=sys.executable,
        BDGRIND_BUILD=str(build.folder),
    )
    summary = output.splitlines()[-1]
    record_property("system tests", summary)
    assert re.search(r"\d+ passed", summary)


def profile_with(build: Path, guest: GuestSpec, folder: Path) -> str:
    """The profile of a guest, without the line that names this run."""
    # The folder's name is in the guest's environment, and so on its stack.
    folder.mkdir(exist_ok=True)
    link = folder / "lib"
    link.unlink(missing_ok=True)
    link.symlink_to(build / "vg-in-place.d")
    wrapper = Path(re.findall(r"^VALGRIND = (.*)$", (build / "Makefile").read_text(), re.MULTILINE)[0])
    launcher = wrapper.with_name("valgrind.bin")
    run = run_tool(
        folder,
        command(guest),
        caches(guest),
        environment={"VALGRIND_LIB": str(link)},
        valgrind=launcher if launcher.exists() else wrapper,
    )
    assert run.status == guest.status, run.log
    return re.sub(r"^pid: .*\n", "", run.profile_path.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("guest", STEADY, ids=lambda guest: str(guest.name))
def test_counts_are_the_same(build: Build, guest: GuestSpec, tmp_path: Path) -> None:
    profiles = [profile_with(folder, guest, tmp_path) for folder in (build.folder, BUILD)]
    if build.version.startswith(("3.16.", "3.17.")):  # they know no DWARF 5, and so no names
        profiles = re.findall("^summary: .*$", "\n".join(profiles), re.MULTILINE)
        assert len(profiles) == 2
    assert profiles[0] == profiles[1]
