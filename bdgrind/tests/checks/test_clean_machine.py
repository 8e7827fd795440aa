# SPDX-License-Identifier: GPL-2.0-or-later
"""clean_machine without the machines: what it is asked for, what it says when it cannot, and how it sums up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
CHECKS = TOP / "bdgrind" / "tests" / "checks"

# In place of what makes and enters a machine: what runs there is a shell that says what became of quickstart.
TOOLS = {
    "id": "echo 0",
    "debootstrap": "mkdir -p $3; cd $3 && mkdir -p etc/apt/apt.conf.d etc/dpkg/dpkg.cfg.d usr/local/share home; "
    "echo 12.0 >etc/debian_version",
    "unshare": 'while [ "$1" != -- ] && [ "$1" != true ]; do shift; done; [ "$1" = true ] || shift; exec "$@"',
    "mount": ":",
    "chown": ":",
    "apt-get": 'case $1 in indextargets) echo "Debian http://nowhere";; esac',
    "apt-config": 'echo \'Acquire::http::Timeout "9";\'',
    "npm": "exit 1",
    "git": 'case $* in *clone*) for last; do :; done; mkdir -p "$last";; *) echo 1234abc;; esac',
    "chroot": """
case $* in
*apt-get*install*) echo "installs: $*" >>"$CALLS";;
*quickstart*check) echo "runs: $*" >>"$CALLS"; echo '9 passed, 0 failed, 1 skipped'; [ ! -e "$FAILS" ];;
*quickstart*)
    echo "runs: $*" >>"$CALLS"
    case $*:$(cat "$CALLS") in
    *=1000:1000*installs:*) ;;
    *=1000:1000*) echo 'quickstart: packages are missing; please run: sudo apt-get install make zip'; exit 1;;
    esac;;
esac""",
}


class Machines:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.fails = folder / "fails"
        (folder / "bin").mkdir()
        for name, text in TOOLS.items():
            self.tool(name, text)

    def tool(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        return subprocess.run(
            [CHECKS / "clean_machine", *arguments],
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "CALLS": str(self.calls),
                "FAILS": str(self.fails),
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    if not Path("/usr/share/keyrings/debian-archive-keyring.gpg").exists():
        pytest.skip("the keys of Debian are missing; on Debian: apt-get install debian-archive-keyring")
    return Machines(tmp_path)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["machines", "buster-root"], ["machines", "trixie"]])
def test_what_it_does_not_know_is_named(machines: Machines, arguments: list[str]) -> None:
    completed = machines.run(*arguments)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.startswith("clean_machine: usage: ")


@pytest.mark.parametrize(
    ("tool", "text", "reason"),
    [
        ("id", "echo 1000", "only root can make file systems"),
        ("unshare", "exit 1", "no name spaces of mounts and processes can be made here"),
        ("apt-get", "exit 0", "no package helps: apt is not set up for a mirror of Debian here"),
    ],
)
def test_where_it_cannot_be_done_it_is_skipped(machines: Machines, tool: str, text: str, reason: str) -> None:
    machines.tool(tool, text)
    completed = machines.run("machines")
    assert (completed.returncode, completed.stdout) == (0, f"SKIPPED clean machines: {reason}\n")


def test_both_commands_run_in_order(machines: Machines) -> None:
    completed = machines.run("machines", "bookworm-root", "trixie-root")
    runs = [line.partition("./quickstart")[2] for line in machines.calls.read_text().splitlines()]
    assert runs == ["", " check"] * 2
    assert completed.returncode == 0, completed.stderr
    closing = completed.stdout.splitlines()[-4:]
    assert closing == [
        "== Of commit 1234abc",
        *(
            f"Debian 12.0 ({release}) as root: ./quickstart: done, 0 min; "
            "./quickstart check: 9 passed, 0 failed, 1 skipped, 0 min"
            for release in ("bookworm", "trixie")
        ),
        "clean machines: 2 passed, 0 failed, 0 skipped",
    ]
    assert not (machines.folder / "machines" / "trixie-root").exists()


def test_a_user_gets_what_quickstart_asks_for_from_root(machines: Machines) -> None:
    completed = machines.run("machines", "bookworm-user")
    assert completed.returncode == 0, completed.stdout
    calls = machines.calls.read_text().splitlines()
    assert [call.partition(":")[0] for call in calls] == ["runs", "installs", "runs", "runs"]
    assert ["--userspec=1000:1000" in call for call in calls] == [True, False, True, True]
    assert calls[1].endswith(" make zip")


def test_what_fails_is_a_failure(machines: Machines) -> None:
    machines.fails.touch()
    completed = machines.run("machines", "bookworm-root")
    assert completed.returncode == 1
    assert completed.stdout.splitlines()[-1] == "clean machines: 0 passed, 1 failed, 0 skipped"
