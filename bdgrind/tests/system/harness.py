# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs programs under the tool as it was built, and under other tools to compare with."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import BinaryIO

import pytest
from profile_reader import Profile, read_profile

SOURCE = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(SOURCE / "annotate"), str(SOURCE / "bdgrind" / "tests" / "oracle")]

from bdannotate.cli import main as bd_annotate  # noqa: E402
from cache_oracle import FALLBACK_LLSC as FALLBACK_LLSC  # noqa: E402
from cache_oracle import CallgrindHierarchy as CallgrindHierarchy  # noqa: E402
from cache_oracle import Geometry, Hierarchy, simulate, trace_program  # noqa: E402

BUILD = Path(os.environ.get("BDGRIND_BUILD", SOURCE))
VALGRIND = BUILD / "vg-in-place"
GUESTS = BUILD / "bdgrind" / "tests" / "guest"
GUEST_SOURCES = SOURCE / "bdgrind" / "tests" / "guest"
IS_ARM64 = platform.machine() == "aarch64"
BDCOMPARE = BUILD / "bdgrind" / "tests" / "bdcompare"
needs_bdcompare = pytest.mark.skipif(
    not BDCOMPARE.exists(), reason="bdcompare is not built: `make check` does that if GoogleTest is there"
)
BD_ANNOTATE = SOURCE / "annotate" / "bd_annotate"

# What Callgrind has of the tool's events.
CALLGRIND_EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")

# A geometry of our own: results must not depend on the machine. Small enough for evictions.
SMALL_CACHES = ("--I1=4096,4,64", "--D1=4096,4,64", "--LL=262144,8,64")

# The same for every tool: the environment, the current folder in it, lies on the guest's stack and
# moves its addresses.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
FOLDER = "/"


def configured(variable: str) -> Path:
    """What `configure` has found."""
    makefile = (BUILD / "Makefile").read_text()
    (value,) = re.findall(rf"^{variable} = (.*)$", makefile, re.MULTILINE)
    return Path(value)


@cache
def why_no_x86() -> str:
    """Empty where 32-bit programs can be run. A compiler that makes 32-bit code may stand on a machine whose kernel has
    no support for it."""
    if str(configured("VG_ARCH")) != "amd64":
        return "no package helps: 32-bit programs are profiled on amd64 only"
    if "-m32" not in str(configured("BD_M32")):
        return "no tool for 32-bit programs was built: see configure's last lines"
    try:
        subprocess.run([GUESTS / "x86" / "recursion"], check=False, stdout=subprocess.DEVNULL)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return "no package helps: the kernel runs no 32-bit programs"
    return ""


def has_x86() -> bool:
    return not why_no_x86()


def guest_program(name: str) -> Path:
    """One of the guests. With those of 32 bits, a test is skipped where there can be none."""
    if name.startswith("x86/") and (why_not := why_no_x86()):
        pytest.skip(why_not)
    return GUESTS / name


def require_guests(words: Sequence[str]) -> None:
    """Skips a test whose guest is written in the instructions of x86 where there are others."""
    for path in map(Path, words):
        if IS_ARM64 and path.parent == GUESTS and not path.exists() and (GUEST_SOURCES / f"{path.name}.S").exists():
            pytest.skip(f"no package helps: {path.name} is written in the instructions of x86")


@dataclass
class Run:
    status: int
    stdout: bytes
    stderr: str  # the guest's
    log: str  # Valgrind's, without the ==pid== prefixes
    profile_path: Path
    command: list[str] = field(default_factory=list)

    @cached_property
    def profile(self) -> Profile:
        assert self.profile_path.exists(), f"no profile was written; log:\n{self.log}"
        return read_profile(self.profile_path)

    @cached_property
    def contexts(self) -> Profile:
        return read_profile(self.profile_path, contexts=True)


def run_tool(
    folder: Path,
    command: Sequence[str | Path],
    options: Sequence[str] = (),
    *,
    tool: str = "bdgrind",
    stdin: bytes = b"",
    environment: dict[str, str] | None = None,
    name: str = "profile",
    cwd: str | Path = FOLDER,
    timeout: int = 120,
    valgrind: Path = VALGRIND,
) -> Run:
    """One run under a Valgrind tool; its profile, if it writes one, goes into `folder`."""
    profile, log = folder / f"{name}.out", folder / f"{name}.log"
    own = [f"--{tool}-out-file={profile}"] if tool in ("bdgrind", "callgrind") else []
    if tool == "bdgrind":
        own.append("--check-ir=yes")
    words = [str(word) for word in command]
    require_guests(words)
    with stdout_file(folder) as stdout:
        completed = subprocess.run(
            [str(valgrind), f"--tool={tool}", f"--log-file={log}", *own, *options, *words],
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=ENVIRONMENT | (environment or {}),
            timeout=timeout,
            check=False,
        )
        stdout.seek(0)
        output = stdout.read()
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    text = "\n".join(line.partition(" ")[2] if line.startswith("==") else line for line in lines)
    stderr = completed.stderr.decode(errors="replace")
    return Run(completed.returncode, output, stderr, text, profile, words)


def steady_environment(folder: Path, command: Sequence[str]) -> dict[str, str]:
    """An environment in which a dynamic program does the same each time.

    ld.so looks for blanks in LD_PRELOAD, which Valgrind sets, four bytes at a time, and uses what
    it reads as indices into a table. Behind LD_PRELOAD on the stack lie 16 random bytes
    (AT_RANDOM): the right padding in the environment lets it end where a group of four ends.
    """
    size = sum(len(word) + 1 for word in command)
    probe = str(GUESTS / "preload_end")
    same_size = "x" * ((size - len(probe) - 2) % 4)
    if same_size not in _paddings:
        for padding in ("", "x", "xx", "xxx"):
            run = run_tool(folder, [probe, same_size], tool="none", environment=_padded(padding))
            if run.stdout == b"3\n":
                _paddings[same_size] = padding
                break
        else:
            raise AssertionError("padding does not move the end of LD_PRELOAD")
    return _padded(_paddings[same_size])


_paddings: dict[str, str] = {}


def _padded(padding: str) -> dict[str, str]:
    return {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PADDING": padding}


def annotate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What bd_annotate prints, and its status. In this process, as there are thousands of profiles, and starting one
    takes longer than most of what it does."""
    words = [str(argument) for argument in arguments]
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        status = bd_annotate(words)
    for stream in streams:
        stream.seek(0)
    output, errors = (stream.read() for stream in streams)
    return subprocess.CompletedProcess(words, status, output, errors)


def annotated(*arguments: str | Path) -> str:
    """What bd_annotate prints, which must succeed."""
    completed = annotate(*arguments)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def check(profile: Path) -> tuple[int, str]:
    """The status of `bd_annotate --check` and what it says."""
    completed = annotate("--check", profile)
    return completed.returncode, completed.stdout + completed.stderr


def check_profile(profile: Path) -> str:
    """The first violated invariant; empty if all hold."""
    status, said = check(profile)
    return said if status else ""


def counted(profile: Path) -> str:
    """All that stands in a profile, but for the process and its command line."""
    return re.sub(r"^(pid|cmd): .*\n", "", profile.read_text(), flags=re.MULTILINE)


def stdout_file(folder: Path) -> BinaryIO:
    """A file for a guest's output: stdio takes other ways through its code for other kinds."""
    return (folder / "stdout").open("w+b")


def geometry(options: Sequence[str], level: str) -> Geometry:
    (value,) = [option for option in options if option.startswith(f"--{level}=")]
    return Geometry.parse(value.partition("=")[2])


def oracle_totals(
    folder: Path, command: Sequence[str | Path], caches: Sequence[str], hierarchy: type[Hierarchy] = Hierarchy
) -> dict[str, int]:
    """The totals of a program as the independent simulator sees them."""
    words = [str(word) for word in command]
    with stdout_file(folder) as stdout:
        trace = trace_program(
            words, (str(VALGRIND),), environment=ENVIRONMENT, cwd=FOLDER, stdout=stdout
        )
        i1, d1, ll = (geometry(caches, level) for level in ("I1", "D1", "LL"))
        return simulate(trace, i1, d1, ll, hierarchy)
