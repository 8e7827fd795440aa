# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen of the gallery's programs names the line or the object that is to be found."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from harness import SOURCE, VALGRIND

sys.path.insert(0, str(SOURCE / "docs" / "gallery"))

import gallery  # noqa: E402


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_the_first_screen_says_where(name: str, tmp_path: Path) -> None:
    program = gallery.PROGRAMS[name]
    if need := gallery.missing(program):
        pytest.skip(f"{need} is missing")
    gallery.build(program, tmp_path)
    screen = gallery.first_screen(tmp_path, gallery.profile(program, tmp_path, VALGRIND, name))
    lines = screen.split("\n")
    for pattern in program.finds:
        pattern = pattern.replace("{guilty}", re.escape(program.guilty()))
        assert any(re.search(pattern, line) for line in lines), f"{pattern} is not in\n{screen}"
    assert max(map(len, lines)) <= 80
    assert len(lines) - 1 <= 40


# As Open MPI's does for root, and with more ranks than processors.
MPIRUN = """#!/bin/sh
for name in OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe; do
    [ "$(printenv $name)" = 1 ] || { echo "mpirun: $name is not 1" >&2; exit 1; }
done
shift 2
exec "$@"
"""


@pytest.mark.parametrize(("status", "missing"), [(0, ""), (1, "mpi.h")])
def test_a_compiler_needs_the_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, missing: str
) -> None:
    for name in "mpicc", "mpirun":
        (tmp_path / name).write_text(f"#!/bin/sh\ngrep -q 'include <mpi.h>' && exit {status}\nexit 2\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert gallery.missing(gallery.PROGRAMS["ranks"]) == missing


def test_ranks_run_for_root_and_on_one_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = gallery.PROGRAMS["ranks"]
    assert program.launcher[:2] == ("mpirun", "-np")
    valgrind = tmp_path / "valgrind"
    for path, text in (tmp_path / "mpirun", MPIRUN), (valgrind, "#!/bin/sh\ntouch bdgrind.out.ranks.1\n"):
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert gallery.profile(program, tmp_path, valgrind, "ranks") == "bdgrind.out.ranks.1"
