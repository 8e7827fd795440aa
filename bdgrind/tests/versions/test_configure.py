# SPDX-License-Identifier: GPL-2.0-or-later
"""What configure says of the Valgrind that it finds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "system"))

from harness import SOURCE, configured  # noqa: E402

Configure = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Runs configure with a Valgrind like the one at hand, but of a version of our choice."""
    library, include = configured("VG_LIBDIR"), configured("VG_INCLUDEDIR")
    prefix = tmp_path / "usr"
    (prefix / "lib" / "pkgconfig").mkdir(parents=True)
    for place, target in {
        "lib/valgrind": library,
        "include/valgrind": include,
        "libexec/valgrind": configured("VG_LIBEXECDIR"),
        "bin/valgrind": configured("VALGRIND"),
    }.items():
        (prefix / place).parent.mkdir(exist_ok=True)
        (prefix / place).symlink_to(target)

    def run(version: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        (prefix / "lib" / "pkgconfig" / "valgrind.pc").write_text(
            f"prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include/valgrind\n"
            f"arch={configured('VG_ARCH')}\nos={configured('VG_OS')}\n"
            f"valt_load_address={configured('VG_LOAD_ADDRESS')}\n"
            f"Name: Valgrind\nDescription: a tool\nVersion: {version}\n"
        )
        folder = tmp_path / "build"
        folder.mkdir(exist_ok=True)
        return subprocess.run(
            [SOURCE / "configure", f"--with-valgrind={tmp_path}", *options],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_version_that_is_too_old_is_named(configure: Configure) -> None:
    completed = configure("3.15.0")
    assert completed.returncode != 0
    assert "error: this Valgrind is version 3.15.0, bdgrind needs 3.16 or newer" in completed.stderr


def test_a_version_that_is_newer_than_tested_is_named_and_taken(configure: Configure) -> None:
    completed = configure("3.28.0.GIT")
    assert completed.returncode == 0, completed.stderr
    assert "Valgrind 3.28.0.GIT is newer than those that bdgrind has been tested with" in completed.stdout


@pytest.mark.parametrize("option", ["--disable-x86", "--enable-x86"])
def test_whether_32_bit_programs_can_be_profiled_is_said(
    configure: Configure, option: str
) -> None:
    completed = configure("3.27.1", [option])
    assert "has been tested with" not in completed.stdout
    if option == "--disable-x86":
        assert completed.returncode == 0, completed.stderr
        assert "32-bit programs cannot be profiled: switched off by --disable-x86" in completed.stdout
    elif completed.returncode == 0:
        assert "bdgrind for 32-bit programs, too" in completed.stdout
    else:
        assert re.search("no tool for 32-bit programs can be built: .*", completed.stderr)
