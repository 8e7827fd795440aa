# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen of the gallery's programs names the line or the object that is to be found."""

from __future__ import annotations

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
