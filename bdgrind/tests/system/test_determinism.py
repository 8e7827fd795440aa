# SPDX-License-Identifier: GPL-2.0-or-later
"""Same program, same input, same environment: the same bytes.

Threads are left out: which one waits how often is up to the kernel, under every tool.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, run_tool, steady_environment

GUEST_NAMES = (
    "attribution",
    "coroutines",
    "exceptions",
    "handlers",
    "plugins",
    "siglongjmp",
    "workload",
    "written_code",
)


def without_pid(profile: Path) -> str:
    return re.sub(r"^pid: \d+$", "pid:", profile.read_text(), count=1, flags=re.MULTILINE)


@pytest.mark.parametrize("name", GUEST_NAMES)
def test_two_runs_write_the_same_profile(name: str, tmp_path: Path) -> None:
    command = [str(GUESTS / name)]
    environment = steady_environment(tmp_path, command)
    first, second = (
        run_tool(tmp_path, command, SMALL_CACHES, name=run, environment=environment)
        for run in ("first", "second")
    )
    assert first.status == second.status
    assert without_pid(first.profile_path) == without_pid(second.profile_path)
