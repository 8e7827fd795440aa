# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool compiles for arm64, without a warning. There is no such machine here to run it on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
BDGRIND = TESTS.parent
sys.path.insert(0, str(TESTS / "system"))

from harness import configured  # noqa: E402

# Debian's metapackage has the first name, the package that it depends on the others.
COMPILERS = ["aarch64-linux-gnu-g++", *(f"aarch64-linux-gnu-g++-{n}" for n in range(20, 10, -1))]
FLAGS = [
    *("-std=c++20", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"),
    *("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector"),
    *("-fno-pic", "-fno-pie", "-DBOOST_DISABLE_ASSERTS"),
    *("-DVGA_arm64=1", "-DVGO_linux=1", "-DVGP_arm64_linux=1", "-DVGPV_arm64_linux_vanilla=1"),
    '-DPACKAGE_VERSION="cross"',
]
LAYERS = ("engine", "profile", "tool")


def test_every_file_of_the_tool_compiles(tmp_path: Path) -> None:
    """All in one, which takes a tenth of the time: so names at file scope must differ between files, too."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        pytest.skip("no cross compiler; on Debian: apt-get install g++-aarch64-linux-gnu")
    # Valgrind's headers are the same for all architectures.
    flags = [*FLAGS, f"-I{BDGRIND}", "-isystem", str(configured("VG_INCLUDEDIR")), "-fsyntax-only"]
    sources = sorted(path for layer in LAYERS for path in (BDGRIND / layer).glob("**/*.cpp"))
    assert len(sources) > len(LAYERS)
    together = tmp_path / "together.cpp"
    together.write_text("".join(f'#include "{source}"\n' for source in sources))
    command = [str(compiler), *flags, str(together)]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
