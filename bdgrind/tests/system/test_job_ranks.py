# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile of a rank of a parallel job says which one it is, and where it ran."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from harness import GUESTS, run_tool, steady_environment

LAUNCHERS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def described(tmp_path: Path, **variables: str) -> list[str]:
    """The rank and the host that the head of a profile tells, of a run with these environment variables."""
    command = [str(GUESTS / "attribution")]
    environment = {
        name: value for name, value in steady_environment(tmp_path, command).items()
        if name not in (*LAUNCHERS, "SLURMD_NODENAME", "HOSTNAME")
    }
    run = run_tool(tmp_path, command, environment={**environment, **variables})
    return re.findall(r"^desc: ((?:Rank|Host): .*)$", run.profile_path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_each_launcher_is_known(name: str, tmp_path: Path) -> None:
    assert described(tmp_path, **{name: "12"}) == ["Rank: 12", f"Host: {socket.gethostname()}"]


def test_the_inner_launcher_counts(tmp_path: Path) -> None:
    variables = {"SLURM_PROCID": "1", "OMPI_COMM_WORLD_RANK": "7", "SLURMD_NODENAME": "node3", "HOSTNAME": "login"}
    assert described(tmp_path, **variables) == ["Rank: 7", "Host: node3"]
    del variables["SLURMD_NODENAME"]
    assert described(tmp_path, **variables) == ["Rank: 7", "Host: login"]


def test_other_processes_have_neither(tmp_path: Path) -> None:
    assert described(tmp_path, HOSTNAME="login", PMI_RANK="first") == []


def test_what_the_environment_says_is_one_line(tmp_path: Path) -> None:
    assert described(tmp_path, PMI_RANK="0", HOSTNAME="a\nevents: b") == ["Rank: 0", "Host: a"]
