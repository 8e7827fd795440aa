# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles and file names from strangers, and outputs that take nothing: one sentence, no
traceback, no control characters, no file read that is no source."""

import bz2
import csv
import gzip
import io
import os
import pathlib
import subprocess
import sys

import pytest
from annotating import bd_annotate

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELPER = ROOT / "tests" / "profiles" / "helper.out"
BD_ANNOTATE = [sys.executable, str(ROOT / "bd_annotate")]
NOT_UTF8 = b"na\xffme\x1b[2J.out"


def run(*arguments, stdin=None, cwd=None):
    return bd_annotate(*arguments, stdin=stdin, cwd=cwd)


def shell(command, *arguments):
    """The command with bd_annotate and its arguments behind it."""
    words = ["sh", "-c", command, "sh", *BD_ANNOTATE, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, timeout=60)


# --- Terminals ----------------------------------------------------------------------------------


@pytest.fixture(name="oddly_named")
def fixture_oddly_named(tmp_path):
    path = os.fsencode(tmp_path) + b"/" + NOT_UTF8
    with open(path, "wb") as file:
        file.write(HELPER.read_bytes())
    return tmp_path


@pytest.mark.parametrize("encoding", ["", "ascii:strict", "utf-8:strict"])
@pytest.mark.parametrize("arguments", [["--check"], []])
def test_a_file_name_is_any_bytes_and_no_commands_for_the_terminal(
    arguments, encoding, oddly_named
):
    result = subprocess.run(
        [*BD_ANNOTATE, *arguments, NOT_UTF8], capture_output=True, timeout=60, cwd=oddly_named,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"na\xffme?[2J.out" in result.stdout
    assert b"\x1b" not in result.stdout


@pytest.mark.parametrize("change, arguments", [
    ((b"\nfn=(1) ", b"\nfn=(1) \x1b[2J"), ["--check"]),
    ((b"31 40000", b"31 40001"), ["--check"]),
    ((b"totals: 1", b"totals: 2"), []),
    ((b"fn=(1)", b"\x1b[2J\x9b2J=(1)"), []),
    ((b"events: Ir", b"events: \x1b[2J"), []),
    ((b"desc: ", b"event: \x1b[2J = Ir : \x1b[2J\ndesc: "), ["--show=?"]),
    ((b"fn=(1)", b"fn=(1)"), ["--sort=\x1b[2J"]),
    ((b"fn=(1)", b"fn=(1)"), ["--fail-if", "Ir of \x1b[2J > 1"]),
    ((b"fn=(1)", b"fn=(1)"), ["--\x1b[2J"]),
])
def test_messages_cannot_control_the_terminal(change, arguments, oddly_named):
    path = os.fsencode(oddly_named) + b"/" + NOT_UTF8
    text = HELPER.read_bytes()
    assert change[0] in text
    with open(path, "wb") as file:
        file.write(text.replace(*change))
    result = run(*arguments, NOT_UTF8, cwd=oddly_named)
    assert b"\x1b" not in result.stdout + result.stderr
    assert b"\x9b" not in result.stdout + result.stderr
    assert b"Traceback" not in result.stderr
    assert result.returncode == (0 if b"\nfn=" in change[0] else 1 if b"31" in change[0] else 2)


def test_bytes_that_terminals_take_for_control_characters_are_replaced():
    text = HELPER.read_bytes().replace(b"columns", b"col\x9b2J\x85\xa0")
    assert b"col?2J?\xa0" in run("-", stdin=text).stdout


# --- Outputs that take nothing --------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    ["--check", str(HELPER)], [str(HELPER)], [str(HELPER), "--format=json"],
    [str(HELPER), "--format=csv"], ["--help"],
    ["--version"],
], ids=lambda words: words[-1])
@pytest.mark.parametrize("command, why", [
    ('"$@" >&-', b"standard output: it is closed"),
    ('"$@" >/dev/full', b"standard output: No space left on device"),
])
def test_output_that_cannot_be_written_is_one_sentence(command, why, arguments):
    result = shell(command, *arguments)
    assert (result.returncode, result.stderr) == (2, b"bd_annotate: " + why + b"\n")


@pytest.mark.parametrize("command, status", [
    ('"$@" 2>&-', 0), ('"$@" nosuch.out 2>&-', 2), ('"$@" nosuch.out 2>/dev/full', 2),
    ('"$@" - <&-', 2),
])
def test_other_streams_may_be_closed(command, status):
    result = shell(command, HELPER)
    assert result.returncode == status
    assert b"Traceback" not in result.stderr


# --- Sources --------------------------------------------------------------------------------------


def annotated(source, *arguments, cwd):
    profile = f"events: Ir\nfl={source}\nfn=f\n1 100\n2 100\n"
    result = run("--annotate", "-", *arguments, stdin=profile.encode(), cwd=cwd)
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


@pytest.mark.parametrize("source, why", [
    ("/dev/zero", "not a regular file"),
    ("/dev/tty", "not a regular file"),
    ("/proc/kmsg", "not a regular file"),
    ("/proc/self/../kmsg", "not a regular file"),
    ("/sys/kernel/notes", "not a regular file"),
    ("fifo.c", "not a regular file"),
    ("link.c", "not a regular file"),
    ("folder.c", "not a regular file"),
    ("huge.c", "larger than 32 MiB"),
    ("gone.c", "not found"),
    ("loop.c", "Too many levels of symbolic links"),
    ("huge.c/x", "not found"),
])
def test_only_sources_are_opened_as_sources(source, why, tmp_path):
    os.mkfifo(tmp_path / "fifo.c")
    (tmp_path / "folder.c").mkdir()
    (tmp_path / "link.c").symlink_to("/dev/zero")
    (tmp_path / "loop.c").symlink_to("loop.c")
    with open(tmp_path / "huge.c", "wb") as file:
        file.truncate(50 << 30)
    assert f"{source}: {why}\n" in annotated(source, cwd=tmp_path)


OUTSIDE = "Not read: it is outside the current folder"


@pytest.mark.parametrize("source, arguments, is_outside", [
    ("../secret.c", [], True),
    ("below/link.c", [], True),
    ("../secret.c", ["-I", ".."], False),
    ("below/code.c", [], False),
    ("code.c", ["-I", "below"], False),
    ("../../secret.c", ["-I", "below"], True),
])
def test_a_source_from_elsewhere_is_named_as_such(source, arguments, is_outside, tmp_path):
    work = tmp_path / "work"
    (work / "below").mkdir(parents=True)
    (work / "below" / "code.c").write_text("text\n")
    (work / "below" / "link.c").symlink_to(tmp_path / "secret.c")
    (tmp_path / "secret.c").write_text("text\n")
    report = annotated(source, *arguments, cwd=work)
    assert (OUTSIDE in report) == is_outside
    # Said before its first line is shown.
    assert report.index(OUTSIDE if is_outside else "Source:") < report.index("text")


def test_sources_of_any_line_ends_are_shown(tmp_path):
    (tmp_path / "dos.c").write_bytes(b"int main()\r\n{\r\n")
    assert "1  int main()\n" in annotated("dos.c", cwd=tmp_path)


# --- Spreadsheets and archives --------------------------------------------------------------------


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_cell_of_a_table_is_a_formula(start):
    name = f'{start}HYPERLINK("http://example.org")'
    text = HELPER.read_text().replace("columns", name)
    report = run("-", "--format=csv", stdin=text.encode()).stdout.decode()
    rows = list(csv.reader(io.StringIO(report)))
    assert [row[0] for row in rows if "HYPERLINK" in row[0]] == [f"'{name}"]
    assert not [cell for row in rows for cell in row if cell.startswith(start)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(pack):
    piece = pack(b"\n" * (1 << 20))
    bomb = pack(HELPER.read_bytes()) + piece * 8
    result = run("--check", "-", stdin=bomb)
    assert result.returncode == 2
    assert b"standard input: unpacks to more than 300 times its size" in result.stderr
    # The same is read if it comes unpacked, or if it is not that much.
    assert run("--check", "-", stdin=pack(HELPER.read_bytes()) + piece).returncode == 0
