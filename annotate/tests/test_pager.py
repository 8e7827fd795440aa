# SPDX-License-Identifier: GPL-2.0-or-later
"""Which pager gets the report, and when."""

import os
import stat
import subprocess
import sys

import pytest

from bdannotate.pager import pager

from screens import HELPER, ROOT


@pytest.mark.parametrize("environment, command", [
    ({"BD_PAGER": "mine -x", "PAGER": "other"}, ["mine", "-x"]),
    ({"PAGER": "other"}, ["other"]),
    ({"BD_PAGER": "", "PAGER": "other"}, []),
    ({"PAGER": "cat"}, []),
    ({"PAGER": "'"}, []),
    ({"BD_PAGER": "missing"}, []),
    ({"TERM": "dumb", "PAGER": "other"}, []),
    ({}, ["less"]),
])
def test_which_pager(monkeypatch, environment, command):
    monkeypatch.setattr("shutil.which", lambda name: None if name == "missing" else f"/bin/{name}")
    assert pager(environment) == command


def test_a_pager_gets_the_report_on_a_terminal_only(tmp_path):
    mine = tmp_path / "mine"
    mine.write_text(f"#!/bin/sh\necho \"$LESS\" >{tmp_path}/options\ncat >{tmp_path}/paged\n")
    mine.chmod(mine.stat().st_mode | stat.S_IXUSR)
    command = f"{sys.executable} {ROOT}/bd_annotate {HELPER}"
    inherited = {k: v for k, v in os.environ.items() if k != "LESS"}
    environment = inherited | {"BD_PAGER": str(mine), "TERM": "xterm"}  # a dumb terminal gets no pager
    subprocess.run(
        [sys.executable, "-c", "import pty, sys; pty.spawn(['sh', '-c', sys.argv[1]])", command],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True,
    )
    assert "What to change" in (tmp_path / "paged").read_text()
    assert (tmp_path / "options").read_text() == "FRX\n"
    (tmp_path / "paged").unlink()
    subprocess.run(command.split(), env=environment, capture_output=True, timeout=60, check=True)
    assert not (tmp_path / "paged").exists()
