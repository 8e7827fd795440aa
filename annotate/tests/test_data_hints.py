# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints about data: which object a hint is about, its fields, and what a split would do."""

import re

import pytest
from bdannotate.cli import main
from bdannotate.model.data_types import Field, FoundTypes, Type
from bdannotate.modes import objects
from object_files import ObjectFile

EVENTS = ("Ir", "DLmr", "SpLoss1", "EvLine1", "UsByte1", "Access1", "AcCost1")
FUNCTIONS = [("/prog", "/src/prog.c", 1, "main"), ("/prog", "/src/prog.c", 20, "make"), ("/lib", "", 0, "copy")]
# 1,000 elements of 64 bytes, by make() in line 22, called by main in line 5.
HEAP = "heap 1 64000 0 64000 64000 64000 64000 64 0 2 2 1 22 100 1 1 5 200 1 1 calloc"
GROUPS = ["unknown", HEAP, "static 1 4096 table", "stack 1 1 main", "static 1 4096 large"]
# main loads 1,000 lines of the heap and uses 16 bytes of each; copy loads the second variable.
ROWS = [
    (2, 1, 1, 7, (0, 1000, 48000, 1000, 16000, 2000, 500_000)),
    (3, 2, 1, 23, (0, 1, 40, 1, 24, 64, 10)),
    (5, 3, 1, 0, (0, 400, 12000, 400, 13600, 800, 200_000)),
]
PATTERNS = [(2, 1, 1, 7, 0, 64, 0xFFFF, 900), (2, 1, 1, 7, 0, 64, 0xFF0000FFFF, 100)]
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1\ndesc: D1 cache: 32768 B, 64 B, 8-way associative"
PROFILE = f"""# callgrind format
{HEAD}
positions: line
events: {' '.join(EVENTS)}
ob=/prog
fl=/src/prog.c
fn=main
7 5000 1000 48000 1000 16000 2000 500000
cfn=make
calls=1 20
7 100 1 40 1 24 64 10
fn=make
23 100 1 40 1 24 64 10
ob=/lib
fl=???
fn=copy
0 900 400 12000 400 13600 800 200000
"""
KIND = Type("item", 64, (Field("key", "long", 0, 8), Field("next", "item*", 8, 8), Field("name[48]", "char", 16, 48)))


@pytest.fixture(name="profile")
def fixture_profile(tmp_path):
    data = ObjectFile(EVENTS, FUNCTIONS, GROUPS, ROWS, PATTERNS, HEAD).bytes()
    (tmp_path / "objects.p.out").write_bytes(data)
    path = tmp_path / "p.out"
    path.write_text(PROFILE)
    return str(path)


def known(monkeypatch, kind=KIND):
    monkeypatch.setattr(objects, "read_types", lambda wanted, *_: FoundTypes(
        {(path, name): (kind,) for path, what in wanted.items() for name in what.names}, {}
    ))


def report(capsys, *options):
    assert main(["--width=80", *options]) == 0
    text = capsys.readouterr().out
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def hint(text, number):
    """Its words, after the title."""
    found = re.search(rf"^{number}\. ([^\n]*)\n(.*?)(?=^\d+\. |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1], " ".join(found[2].split())


def test_a_hint_names_its_data(profile, capsys):
    text = report(capsys, "--hints", profile).partition("== Hints ==")[2]
    title, words = hint(text, 1)
    assert title.startswith("main")
    assert (
        "Data: heap prog.c:22, make. Never used: 48.0k of 64.0k bytes loaded (75.0%), 79.9% of the "
        "program's; loaded by prog.c:7 main (100%)."
    ) in words
    # Bytes 0 to 15, and 32 to 39.
    assert (
        "Bytes: of the 64 of an element (the size that calloc was asked for), 24 were used in at least one load, "
        "40 in none, 0 never loaded."
    ) in words
    assert "Usually helps:" in words


def test_fields_and_the_split_take_the_place_of_what_usually_helps(profile, capsys, monkeypatch):
    known(monkeypatch)
    options = ["--hints", "--object-type=heap=item", profile]
    words = hint(report(capsys, *options).partition("== Hints ==")[2], 1)[1]
    assert (
        "Fields of item, 64 bytes (as --object-type=heap=item says): used when loaded: key, next, "
        "name[48] in 10.0%."
    ) in words
    # Of 1,000 lines, 16 bytes each and 48 of every tenth: 20,800 bytes; or of those its lines, 104 bytes at most.
    assert (
        "Used together: key, next (16 bytes); name[48] (48 bytes), 10.0% as often. Split into 2 arrays with the same "
        "index: 20.8k to 26.4k bytes loaded instead of 64.0k if elements are visited in memory order"
    ) in words
    assert "Usually helps:" not in words


def test_data_that_no_hint_is_about_has_its_own(profile, capsys):
    """It is loaded by a library alone."""
    title, words = hint(report(capsys, "--hints", profile).partition("== Hints ==")[2], 2)
    assert title == "variable large"
    assert words == (
        "Never used: 12.0k of 25.6k bytes loaded (46.9%), 20.0% of the program's; loaded by copy (100%)."
    )


def test_little_losses_are_not_told_of(profile, capsys):
    assert "variable table" not in report(capsys, "--hints", profile).partition("== Hints ==")[2]


def test_the_first_screen_names_it_in_a_line(profile, capsys):
    text = report(capsys, profile).partition("== What to change")[2]
    heap = "   heap prog.c:22, make: 75% of 64.0k bytes unused; 24 of every 64 are used\n"
    other = "-  variable large: 20% of the loss, 47% of 25.6k bytes unused\n"
    assert heap in text and other not in text
    text = report(capsys, "--limit=all", profile)
    assert heap in text and other in text


def test_types_are_not_read_for_the_first_screen(profile, monkeypatch):
    monkeypatch.setattr(objects, "read_types", lambda *_: pytest.fail("types were read"))
    assert main([profile]) == 0


@pytest.mark.parametrize("end", [20, 500, -1])
def test_what_is_about_more_stays_without_objects_that_can_be_read(tmp_path, profile, capsys, end):
    path = tmp_path / "objects.p.out"
    path.write_bytes(path.read_bytes()[:end])
    for option, title in (("--width=80", "== What to change"), ("--hints", "== Hints ==")):
        assert main([option, profile]) == 0
        out, err = capsys.readouterr()
        assert title in out and "heap" not in out and "bd_annotate --objects" not in out
        assert re.fullmatch(r"bd_annotate: note: data objects are left out: \S*objects\.p\.out: [^\n]*\n", err)
    for option in ("--objects", "--object=heap", "--check"):
        assert main([option, profile]) == 2
        assert "objects.p.out: " in capsys.readouterr().err


@pytest.fixture(name="older")
def fixture_older(tmp_path):
    """The same run without objects, which had no hint."""
    path = tmp_path / "older.out"
    path.write_text(PROFILE.replace("7 5000 1000 48000 1000 16000 2000 500000", "7 5000 1000 0 1000 64000 2000 500000"))
    return str(path)


@pytest.mark.parametrize("options", [[], ["--objects"]])
def test_hints_that_are_compared_name_the_data_of_the_newer_run(tmp_path, profile, older, capsys, options):
    if options:  # which compares objects, so both must have them
        rows = [(*ROWS[0][:4], (0, 1000, 0, 1000, 64000, 2000, 500_000)), *ROWS[1:]]
        data = ObjectFile(EVENTS, FUNCTIONS, GROUPS, rows, PATTERNS, HEAD).bytes()
        (tmp_path / "objects.older.out").write_bytes(data)
    text = report(capsys, "--diff", "--hints", *options, older, profile)
    title, words = hint(text.partition("== Hints that are new ==")[2], 1)
    assert title.startswith("main")
    assert "Data: heap prog.c:22, make. Never used: 48.0k of 64.0k bytes loaded" in words
    title, words = hint(text.partition("== Data without a hint ==")[2], 1)
    assert title == "variable large" and "Never used: 12.0k of 25.6k bytes loaded" in words
    assert ("== Data objects ==" in text) == bool(options)


def test_hints_that_are_compared_know_types(tmp_path, profile, capsys, monkeypatch):
    """As the line that allocates tells them: there is no --object-type= for two runs."""
    known(monkeypatch)
    (tmp_path / "prog.c").write_text("\n" * 21 + "    return calloc(1000, sizeof(struct item));\n")
    options = ["--diff", "--hints", "-I", str(tmp_path), profile, profile]
    words = hint(report(capsys, *options).partition("== Hints that are unchanged ==")[2], 1)[1]
    assert "Fields of item, 64 bytes" in words and "used when loaded: key, next" in words


@pytest.mark.parametrize("end", [None, 20])
def test_hints_are_compared_without_the_data_of_the_newer_run(tmp_path, profile, older, capsys, end):
    """It has none, or none that can be read. That of the older one says nothing of what is there now."""
    if end is not None:
        data = (tmp_path / "objects.p.out").read_bytes()
        (tmp_path / "objects.older.out").write_bytes(data[:end])
    assert main(["--diff", "--hints", profile, older]) == 0
    out, err = capsys.readouterr()
    assert "== Hints that are gone ==" in out and "heap" not in out and "no hint is about" not in out
    assert err.count("data objects are left out") == err.count("\n") == (end is not None)


def test_names_are_neutralised(tmp_path, capsys, monkeypatch, profile):
    hostile = "\x1b[31m\x07" + "x" * 500
    known(monkeypatch, Type(hostile, 64, tuple(Field(hostile, hostile, at, 8) for at in range(0, 64, 8))))
    groups = [*GROUPS[:4], f"static 1 4096 {hostile}"]
    (tmp_path / "objects.p.out").write_bytes(ObjectFile(EVENTS, FUNCTIONS, groups, ROWS, PATTERNS, HEAD).bytes())
    for options in (["--hints", f"--object-type=heap={hostile}"], []):
        text = report(capsys, *options, profile)
        assert not any(character in text for character in "\x1b\x07")


def test_types_may_be_told_where_they_are_looked_for(profile, capsys):
    for options in ([profile], ["--diff", "--hints", profile, profile]):
        assert main(["--object-type=heap=item", *options]) == 2
        assert "--object-type is for --object, --hints and --html" in capsys.readouterr().err


def test_a_type_may_be_that_of_an_object_without_a_hint(profile, capsys, monkeypatch):
    known(monkeypatch)
    monkeypatch.setattr(objects, "notable_objects", lambda _objects: [])
    options = ["--hints", "--object=heap", "--object-type=heap=item", profile]
    assert "as --object-type=heap=item says" in report(capsys, *options)
