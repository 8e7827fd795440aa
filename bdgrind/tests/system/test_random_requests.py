# SPDX-License-Identifier: GPL-2.0-or-later
"""Client requests at random, with arguments that make no sense: the guest notices nothing, and every part that is
written conserves. More of them with BDGRIND_LONG in the environment, which `make check-long` sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, check_profile, run_tool
from part_files import written_files

SEEDS = range(100 if os.environ.get("BDGRIND_LONG") else 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_requests(seed: int, tmp_path: Path) -> None:
    threads = ["--separate-threads=yes"] if seed % 3 == 0 else []
    run = run_tool(tmp_path, [GUESTS / "random_requests", str(seed)], [*SMALL_CACHES, *threads])
    assert (run.status, run.stdout, run.stderr) == (0, b"40 requests\n", "")
    parts = written_files(run.profile_path)
    # A few seeds ask for no dump: then there is what the end writes. The first ones do ask.
    at_the_end = 2 if threads else 1
    assert len(parts) > at_the_end or (seed >= 3 and len(parts) == at_the_end)
    for path in parts.values():
        assert check_profile(path) == "", path.name
