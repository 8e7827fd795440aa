# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages and completion say what --help says, and work where they are to be read."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BDGRIND_BUILD", TOP))
sys.path[:0] = [str(TOP / "docs"), str(TOP / "annotate")]

from bdcommon.described import Command  # noqa: E402
from manual.bash import bash_completion  # noqa: E402
from manual.commands import pages  # noqa: E402
from manual.roff import manual_page  # noqa: E402
from manual.zsh import zsh_completion  # noqa: E402

PAGES = pages()


def built(name: str) -> Path:
    """In a release, what is generated lies beside the sources."""
    path = BUILD / "docs" / name
    return path if path.exists() else TOP / "docs" / name


def test_the_page_of_the_report_defines_its_columns() -> None:
    """All that reports have without --show, of profiles with and without what only bdgrind tells."""
    profiles = sorted((TOP / "annotate" / "tests" / "profiles").glob("*.out"))
    sides = {"self", "incl", "function"}
    found: set[str] = set()
    for profile in profiles:
        done = subprocess.run(
            [sys.executable, str(TOP / "annotate" / "bd_annotate"), "--width=300", str(profile)],
            capture_output=True, text=True, check=True,
        )
        _, _, table = done.stdout.partition("== Functions by ")
        found |= set(re.split(r"\s{2,}", table.split("\n")[1].strip()))
    assert {"never used", "unused", "instr."} <= found
    (columns,) = (section for section in PAGES["bd_annotate"].sections if section.title == "Columns")
    assert (found | sides) - {"function"} <= {term for term, _ in columns.items}


@pytest.mark.parametrize("name", PAGES)
def test_what_is_installed_is_up_to_date(name: str) -> None:
    page = PAGES[name]
    assert built(f"{name}.1").read_text() == manual_page(page)
    if name != "bdgrind":  # its options are those of the command valgrind
        assert built(f"bash/{name}").read_text() == bash_completion(page.command)
        assert built(f"zsh/_{name}").read_text() == zsh_completion(page.command)


def words(text: str) -> str:
    return " ".join(text.split())


def tool_help() -> str:
    said = subprocess.run(
        [BUILD / "vg-in-place", "--tool=bdgrind", "--help"], capture_output=True, text=True,
        check=True,
    ).stdout
    (own,) = re.findall(r"user options for bdgrind:\n(.*?)\n  Extra options read", said, re.DOTALL)
    return str(own)


def listed(command: Command) -> str:
    """All groups, options and texts, in their order."""
    return " ".join(
        f"{group.title}: "
        + " ".join(f"{option.invocation()} {option.text}" for option in group.options)
        for group in command.groups
    )


def test_the_tool_prints_the_table_that_its_page_is_made_from() -> None:
    assert words(tool_help()) == words(listed(PAGES["bdgrind"].command))


def test_what_measures_the_machine_prints_the_table_of_its_page() -> None:
    said = subprocess.run(
        [BUILD / "bdgrind" / "bd_calibrate", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert words(listed(PAGES["bd_calibrate"].command)) in words(said)


@pytest.mark.parametrize("name", ["bd_annotate", "bd_control"])
def test_the_scripts_print_the_table_that_their_pages_are_made_from(name: str) -> None:
    said = subprocess.run(
        [sys.executable, TOP / "annotate" / name, "--help"], capture_output=True, text=True,
        check=True,
    ).stdout
    assert words(listed(PAGES[name].command)) in words(said)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_as_man_shows_it_has_every_option_with_its_text(name: str) -> None:
    if not shutil.which("groff"):
        pytest.skip("groff is missing; on Debian: apt-get install groff-base")
    shown = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-rHY=0", "-ww", built(f"{name}.1")],
        capture_output=True, text=True, check=True,
    )
    assert shown.stderr == ""
    page = PAGES[name]
    # At the end of a line, man breaks words where they have hyphens.
    text = re.sub(r"-\s+", "-", words(shown.stdout))
    for option in page.command.options():
        assert re.sub(r"-\s+", "-", words(f"{option.invocation()} {option.text}")) in text
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
        assert re.search(rf"^{heading}$", shown.stdout, re.MULTILINE)


# --- Completion -----------------------------------------------------------------------------------

OFFERED = [
    ("bd_annotate", ["--fo"], ["--format="]),
    ("bd_annotate", ["--format", "="], ["text", "markdown", "json", "csv", "sarif"]),
    ("bd_annotate", ["--format", "=", "j"], ["json"]),
    ("bd_annotate", ["--hints", "=", ""], ["yes", "no"]),
    ("bd_annotate", ["--hints", "--per"], ["--per-file"]),
    ("bd_annotate", ["--width", "=", ""], []),
    ("bd_calibrate", ["--p"], ["--passes="]),
    ("bd_control", ["-i", ""], ["on", "off"]),
    ("bd_control", ["--instr", "=", "of"], ["off"]),
    ("bd_control", ["--z"], ["--zero"]),
]


@pytest.mark.parametrize("name, typed, offered", OFFERED)
def test_bash_offers_options_and_values(name: str, typed: list[str], offered: list[str]) -> None:
    if not shutil.which("bash"):
        pytest.skip("bash is missing")
    script = (
        f'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); compopt() {{ :; }}; '
        f'_{name}; echo "${{COMPREPLY[@]}}"; complete -p {name}'
    )
    said = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", built(f"bash/{name}"), name, *typed],
        capture_output=True, text=True, check=True,
    )
    words_offered, registered = said.stdout.splitlines()
    assert (words_offered.split(), said.stderr) == (offered, "")
    assert registered.endswith(f"-F _{name} {name}")


def read_until(terminal: int, wanted: bytes, seconds: float = 30) -> bytes:
    """What the terminal shows: without bells, and without what was taken back."""
    seen = b""
    until = time.monotonic() + seconds
    while wanted not in seen and time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 4096)
            seen = re.sub(rb"[^\x08]\x08|\x07", b"", seen)
    return seen


@pytest.mark.parametrize("typed, completed", [
    (b"bd_annotate --form\tj\t", b"bd_annotate --format=json"),
    (b"bd_control --ze\t", b"bd_control --zero"),
    (b"bd_control -i of\t", b"bd_control -i off"),
])
def test_zsh_completes(typed: bytes, completed: bytes, tmp_path: Path) -> None:
    if not shutil.which("zsh"):
        pytest.skip("zsh is missing; on Debian: apt-get install zsh")
    pid, terminal = pty.fork()
    if pid == 0:
        folder = built("zsh/_bd_control").parent
        environment = {"TERM": "dumb", "HOME": str(tmp_path), "FPATH_OF_BDGRIND": str(folder)}
        os.execvpe("zsh", ["zsh", "-f", "-i"], os.environ | environment)
    try:
        os.write(terminal, b"PS1='$ '; fpath=($FPATH_OF_BDGRIND $fpath)\n")
        os.write(terminal, b"autoload -Uz compinit && compinit -u -D && echo rea''dy\n")
        assert b"ready" in read_until(terminal, b"ready")
        os.write(terminal, typed)
        # What is completed is printed as it is inserted: the line's pieces follow each other.
        assert completed in read_until(terminal, completed)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
