# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool compiles for arm64, without a warning. There is no such machine here to run it on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        pytest.skip("no cross compiler; on Debian: apt-get install g++-aarch64-linux-gnu")
    # Valgrind's headers are the same for all architectures.
    flags = [*FLAGS, f"-I{BDGRIND}", "-isystem", str(configured("VG_INCLUDEDIR"))]

    def compile_one(source: Path) -> str:
        out = tmp_path / f"{source.parent.name}-{source.stem}.o"
        command = [str(compiler), *flags, "-c", str(source), "-o", str(out)]
        completed = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=False
        )
        return completed.stderr if completed.returncode else ""

    sources = sorted(path for layer in LAYERS for path in (BDGRIND / layer).glob("**/*.cpp"))
    assert sources
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = "".join(pool.map(compile_one, sources))
    assert complaints == ""
    assert len(list(tmp_path.glob("*.o"))) == len(sources)
