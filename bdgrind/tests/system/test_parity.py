# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/callgrind.md says where bdgrind has what Callgrind has: compared with what both really have."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from harness import ENVIRONMENT, SOURCE, VALGRIND, configured

PAGE = (SOURCE / "docs" / "callgrind.md").read_text()


def rows(title: str) -> list[list[str]]:
    """The cells of the tables below a title, without their heads."""
    section = re.split(r"^## ", PAGE.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    assert cells
    return cells


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def described(title: str) -> dict[str, list[str]]:
    """What stands in the first column, each with the rest of its row."""
    found: dict[str, list[str]] = {}
    for first, *rest in rows(title):
        for name in names(first):
            assert name not in found, f"{name} is described twice"
            found[name] = rest
    return found


def counterpart(name: str, table: dict[str, list[str]]) -> str:
    return name if table[name][0] == "same" else names(table[name][0])[0]


def help_of(tool: str) -> str:
    completed = subprocess.run(
        [str(VALGRIND), f"--tool={tool}", "--help"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    own = re.split(r"^  user options for .*$", completed.stdout, flags=re.MULTILINE)[-1]
    return own.partition("  Extra options read from")[0]


def options_of(tool: str) -> dict[str, str]:
    """The names of a tool's own options, each with its default."""
    found: dict[str, str] = {}
    name = ""
    for line in help_of(tool).splitlines():
        if match := re.match(r"    (--[\w-]+(?:<n>)?)=", line):
            name = match[1]
            found[name] = ""
        if name and (match := re.search(r"\[([^][]*)\]$", line)):
            found[name] = match[1]
    assert len(found) > 25
    return found


def test_every_option_of_callgrind_is_described() -> None:
    old_and_new = described("Options")
    callgrinds = options_of("callgrind")
    assert sorted(callgrinds.keys() - old_and_new.keys()) == []


def test_every_option_is_where_the_page_says() -> None:
    callgrinds, own = options_of("callgrind"), options_of("bdgrind")
    table = described("Options")
    expected = set()
    for name in table.keys() & callgrinds.keys():
        assert table[name][0] == "same" or names(table[name][0]) != [name]
        expected.add(counterpart(name, table))
    new = table.keys() - callgrinds.keys()
    assert sorted((expected | new) - own.keys()) == []
    assert sorted(own.keys() - expected - new - {"--obj-skip"}) == []


def test_other_defaults_are_said() -> None:
    callgrinds, own = options_of("callgrind"), options_of("bdgrind")
    table = described("Options")
    equal = {"0=never": "0", "": "none"}
    for name, default in callgrinds.items():
        ours = own[counterpart(name, table)]
        if ours != equal.get(default, default):
            assert "default is" in table[name][1] or "As `--I1`" in table[name][1], (
                f"{name}: {default}, but here {ours}"
            )


def test_requests_are_those_of_the_headers() -> None:
    table = described("Client requests")
    own = re.findall(r"#define (BDGRIND_[A-Z_]+)", (SOURCE / "bdgrind" / "bdgrind.h").read_text())
    counterparts = [names(rest[0])[0] for rest in table.values()]
    assert sorted(counterparts) == sorted(set(own) - {"BDGRIND_H"})
    header = configured("VG_INCLUDEDIR") / "callgrind.h"
    if not header.exists():
        pytest.skip("callgrind.h is not installed")
    assert set(re.findall(r"#define (CALLGRIND_[A-Z_]+)", header.read_text())) == set(table)


def test_monitor_commands_are_those_of_the_tool() -> None:
    source = (SOURCE / "bdgrind" / "tool" / "monitor.cpp").read_text()
    (keywords,) = re.findall(r'keyword_id\)\("([^"]*)"', source)
    assert sorted(described("Monitor commands")) == sorted(keywords.split())


def test_options_of_the_controls() -> None:
    table = described("callgrind_control")
    own = subprocess.run(
        [sys.executable, str(SOURCE / "annotate" / "bd_control"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for option in table:
        assert re.search(rf"^  .*{option}\b", own, re.MULTILINE), option
    program = shutil.which("callgrind_control")
    if not program:
        pytest.skip("callgrind_control is not installed")
    theirs = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    lines = re.findall(r"^  (-.*)$", theirs.stdout + theirs.stderr, re.MULTILINE)
    options = {word for line in lines for word in re.findall(r"(?:^|(?<= ))--?[a-z-]+", line)}
    assert sorted(options - {"-"} - table.keys()) == []


def test_every_option_is_tested() -> None:
    sources = (SOURCE / "bdgrind" / "tests" / "system").glob("test_*.py")
    tests = "".join(path.read_text() for path in sources if path.name != "test_parity.py")
    untested = [name for name in options_of("bdgrind") if name.replace("<n>", "") not in tests]
    assert untested == []


def test_the_page_is_found() -> None:
    assert "docs/callgrind.md" in (SOURCE / "README.md").read_text()
