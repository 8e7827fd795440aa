# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_annotate as a user runs it: output, messages and exit status."""

import bz2
import gzip
import lzma
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELPER = ROOT / "tests" / "profiles" / "helper.out"


def run(*arguments, stdin=None):
    command = [sys.executable, str(ROOT / "bd_annotate"), *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60)


def costs(result):
    """The output without the first line, which names the file."""
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.partition(b"\n")[2]


def test_check_is_a_status():
    assert run("--check", HELPER).returncode == 0
    broken = HELPER.read_bytes().replace(b"31 40000", b"31 40001")
    result = run("--check", "-", stdin=broken)
    assert result.returncode == 1
    assert b"its callers pay 78,001" in result.stderr


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_profiles_are_read_from_files_and_standard_input(pack, tmp_path):
    packed = pack(HELPER.read_bytes())
    path = tmp_path / "profile"
    path.write_bytes(packed)
    plain = costs(run(HELPER))
    assert b"columns  helper.c" in plain
    assert costs(run(path)) == plain
    assert costs(run("-", stdin=packed)) == plain


@pytest.mark.parametrize("arguments, stdin, message", [
    (["missing.out"], None, "missing.out: No such file or directory"),
    (["-"], b"", "standard input: the file is empty"),
    (["-"], b"\xff\xfe\x00garbage", "standard input:1: this is not a profile"),
    (["-"], b"x" * 10_000_000, "standard input:1: the line is too long"),
    (["-"], gzip.compress(HELPER.read_bytes())[:-20], "standard input: "),
    (["-"], HELPER.read_bytes().replace(b"totals: 100000", b"totals: 100001"), "totals: states Ir 100,001"),
    ([HELPER, "--sort=Foo"], None, "event 'Foo' is unknown; there are Ir Dr Dw"),
    ([HELPER, "--nonsense"], None, "--nonsense"),
], ids=["missing", "empty", "garbage", "long line", "cut gzip", "totals", "event", "option"])
def test_mistakes_are_one_sentence_and_status_2(arguments, stdin, message):
    result = run(*arguments, stdin=stdin)
    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert result.stderr.count(b"\n") == 1
    assert result.stdout == b""


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} {ROOT / 'bd_annotate'} {HELPER} | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")
