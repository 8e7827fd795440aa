# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_annotate as a user runs it: output, messages and exit status."""

import bz2
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil

import pytest
from annotating import bd_annotate

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = ROOT / "tests" / "profiles"
HELPER = PROFILES / "helper.out"


def run(*arguments, stdin=None, cwd=None):
    return bd_annotate(*arguments, stdin=stdin, cwd=cwd)


def costs(result):
    """The output without the first line and the last paragraph, which name the file."""
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.partition(b"\n")[2].partition(b"\nNext ")[0]


def test_check_is_a_status():
    assert run("--check", HELPER).returncode == 0
    broken = HELPER.read_bytes().replace(b"31 40000", b"31 40001")
    result = run("--check", "-", stdin=broken)
    assert result.returncode == 1
    assert b"its callers account for 78,001" in result.stderr


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
    (["-"], HELPER.read_bytes().replace(b"totals: 1", b"totals: 2"), "totals: states Ir 200,000"),
    ([HELPER, "--sort=Foo"], None, "event 'Foo' is unknown; known are Ir Dr Dw"),
    ([HELPER, "--nonsense"], None, "--nonsense"),
    ([HELPER, "--threshold=99"], None, "must be from 0 to 20 percent"),
    ([HELPER, "--width=3"], None, "--width must be at least 40"),
    ([HELPER, "--show=Ir:both"], None, "'both' is not self, incl or a percentage"),
    ([HELPER, "--function=("], None, "'(' is not a regular expression"),
    ([HELPER, "--mod-filename=x"], None, "'x' is not of the form s/OLD/NEW/"),
    ([HELPER, "--mod-filename=s/(a)/\\2/"], None, "invalid group reference"),
    ([HELPER, "--instructions"], None, "needs --dump-instr=yes"),
    ([HELPER, "--structure"], None, "from which loops are found: run with --structure=yes"),
    ([HELPER, "--annotate", "-I", "/missing"], None, "-I /missing: there is no such folder"),
    ([HELPER, "--diff"], None, "--diff takes two profiles, not 1"),
    ([HELPER, HELPER, "--diff", "--files"], None, "--files cannot be combined with --diff"),
    ([HELPER, HELPER, "--diff", "--annotate", "--include-before=/missing"], None,
     "/missing: there is no such folder"),
    ([HELPER, "--include-before=/"], None, "--include-before is for --diff"),
    ([HELPER, PROFILES / "rank0.out"], None, "rank0.out has Ir, but the profile before it Ir Dr"),
    ([PROFILES / "rank0.out", "--hints"], None, "--hints needs the cache use that bdgrind counts"),
    ([HELPER, "--baseline", HELPER], None, "--baseline is for --fail-if"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_mistakes_are_one_sentence_and_status_2(arguments, stdin, message):
    result = run(*arguments, stdin=stdin)
    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert result.stderr.count(b"\n") == 1
    assert result.stdout == b""


@pytest.mark.parametrize("condition, message", [
    ("SpLoss1", "must read [self|incl] METRIC [of FUNCTION]"),
    ("SpLoss1 > 100MB", "'MB' is not a unit; numbers may end with k, M, G or T (thousands, not 1024), or with %: "
     "SpLoss1 > 100M"),
    ("SpLoss1 of main >= +2.5 KiB", "'KiB' is not a unit;"),
    ("Ir > x", "must read [self|incl] METRIC [of FUNCTION]"),
    ("Foo > 1", "has no event 'Foo'; it has Ir Dr"),
    ("Ir of missing > 1", "there is no function 'missing'"),
    ("Ir > +1", "a change needs --baseline"),
    ("AccLine1 > 5%", "AccLine1 is not a share"),
])
def test_wrong_conditions_are_errors(condition, message):
    result = run(HELPER, "--fail-if", condition)
    assert result.returncode == 2
    assert message in result.stderr.decode()


def test_the_newest_profile_of_the_folder_is_the_default(tmp_path):
    assert b"no profile was named" in run(cwd=tmp_path).stderr
    for seconds, name in enumerate(["callgrind.out.1", "bdgrind.out.2", "bdgrind.out.3", "x.out"]):
        shutil.copy(PROFILES / "rank0.out", tmp_path / name)
        os.utime(tmp_path / name, (seconds, seconds))
    (tmp_path / "callgrind.out.4").touch()  # as Callgrind leaves beside those of its threads
    assert run(cwd=tmp_path).stdout.startswith(b"Profile  bdgrind.out.3 ")


def test_empty_files_beside_others_are_left_out(tmp_path):
    (tmp_path / "empty").touch()
    assert costs(run(tmp_path / "empty", HELPER)) == costs(run(HELPER))
    assert b"empty: the file is empty" in run(tmp_path / "empty").stderr


def test_names_cannot_control_the_terminal_and_keep_their_bytes():
    text = HELPER.read_bytes().replace(b"columns", b"col\x1b[31m\xff\xc3\xa4")
    output = run("-", "--tree=both", "--files", "--hints", "--threshold=0.05", stdin=text).stdout
    assert b"\x1b" not in output
    assert b"col?[31m\xff\xc3\xa4" in output


def test_json_is_unicode_whatever_the_names():
    text = HELPER.read_bytes().replace(b"columns", b"col\xff\xc3\xa4")
    document = json.loads(run("-", "--format=json", stdin=text).stdout)
    assert "col\ufffd\xe4" in [function["name"] for function in document["functions"]]


def test_json_holds_everything_that_was_read():
    document = json.loads(run(HELPER, "--format=json").stdout)
    totals = document["totals"]
    assert [sum(column) for column in zip(*(f["self"] for f in document["functions"]))] == totals
    assert [sum(column) for column in zip(*(line["self"] for line in document["lines"]))] == [
        count - unknown for count, unknown in zip(totals, [100] + [0] * 18)  # (below main), line 0
    ]
    names = {f["id"]: f["name"] for f in document["functions"]}
    arcs = {(names[c["caller"]], names[c["callee"]]): c["calls"] for c in document["calls"]}
    assert arcs[("columns", "fetch")] == 8000
    fetch = next(f for f in document["functions"] if f["name"] == "fetch")
    assert fetch["columns"]["Unused1:incl"] == 448320 / 576640


def test_help_fits_and_the_manual_has_every_option():
    text = run("--help").stdout.decode()
    assert max(map(len, text.split("\n"))) <= 100
    options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text)) - {"-h"}
    options -= {"--dump-instr", "--why"}  # the tool's
    assert len(options) > 20
    manual = (ROOT.parent / "docs" / "annotate.md").read_text()
    table = manual.partition("## All options")[2]
    missing = [option for option in options if f"`{option}" not in table]
    assert not missing


def test_the_manual_has_every_column():
    manual = (ROOT.parent / "docs" / "annotate.md").read_text()
    listed = run(HELPER, "--show=?").stderr.decode().partition("known are ")[2].split()
    events = next(
        line for line in HELPER.read_text().split("\n") if line.startswith("events: ")
    ).split()
    derived = [name for name in listed if name not in events]
    assert len(derived) > 15
    assert [name for name in derived if f"`{name}`" not in manual] == []


def test_every_module_is_installed():
    listed = re.findall(r"\t(bd\w+/[\w/]+\.py)", (ROOT / "Makefile.am").read_text())
    packages = [path.parent for path in ROOT.glob("*/__init__.py")]
    there = [str(path.relative_to(ROOT)) for folder in packages for path in folder.rglob("*.py")]
    assert sorted(listed) == sorted(there)


@pytest.mark.parametrize("functions, said", [("f", "1 function by"), ("fg", "2 functions by")])
def test_how_many_were_matched_by_name(functions, said, tmp_path):
    for folder in ("before", "after"):
        body = "".join(f"fl=/{folder}/a.c\nfn={name}\n1 {len(folder)}\n" for name in functions)
        (tmp_path / folder).write_text(f"events: Ir\n{body}")
    result = run("--diff", tmp_path / "before", tmp_path / "after")
    assert f"Matched    {said} name only: file or object changed" in result.stdout.decode()
