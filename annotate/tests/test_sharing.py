# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that threads take from each other: reading the file beside a profile, and what is said of it."""

import json
import struct
from dataclasses import replace

import pytest
from bdannotate.analyses.data.sharing import Kind, report_sharing
from bdannotate.analyses.repairs.choice import Repairs
from bdannotate.analyses.repairs.repair import Amount, Remedy, Repair
from bdannotate.analyses.repairs.unshare import with_unshare
from bdannotate.cli import main
from bdannotate.model.errors import ProfileError
from bdannotate.model.profile import Function
from bdannotate.model.work import Estimate
from bdannotate.reading.sharing import read_sharing
from bdannotate.views.sharing import spans
from column_files import blocks, head, place_lines

FUNCTIONS = [("prog", "/src/prog.c", 1, "main"), ("prog", "/src/prog.c", 20, "count")]
PLACES = [(2, "/src/prog.c", 23, 200), (2, "/src/prog.c", 24, 204)]
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1\n"
LOW, HIGH = 0xFF, 0xFF00
LINES = "lines: address group"
CORES = "cores: line core read written unknown false true migrating"
ACCESSES = "accesses: line core place bytes reads writes lost invalidated atomics"
# Line 1: false. Line 2: a lock beside data that only one core uses; a quarter of its uses are false.
SECTIONS = [
    (LINES, [(0x1000, 0), (0x2000, 0)]),
    (CORES, [
        (1, 1, LOW, LOW, 1, 500, 0, 0), (1, 2, HIGH, HIGH, 0, 499, 0, 0),
        (2, 1, 0xF, 0xF, 0, 0, 0, 30), (2, 2, 0xFF0, 0xF, 0, 10, 0, 0),
    ]),
    (ACCESSES, [
        (0, 0, 0, 0, 5, 2, 1, 3, 0),
        (1, 1, 1, LOW, 400, 100, 500, 500, 0), (1, 2, 1, HIGH, 500, 0, 500, 499, 0),
        (2, 1, 2, 0xF, 0, 30, 30, 30, 30), (2, 2, 2, 0xF, 0, 10, 10, 10, 10),
    ]),
]
PROFILE = f"""# callgrind format
version: 1
{HEAD}positions: line
events: Ir Xferr Xferw Lost Inval
ob=prog
fl=/src/prog.c
fn=main
6 100 5 2 1 3
fn=count
23 1000 900 100 1000 999
24 100 0 40 40 40
totals: 1200 905 142 1041 1042
"""


def beside(folder, sections=SECTIONS, head_lines=HEAD, profile=PROFILE, line=64, more_head=()):
    names, files = place_lines(FUNCTIONS, [place[1] for place in PLACES])
    data = head([
        "sharing: 1", *head_lines.splitlines(), f"line: {line}", "cores: 64", *more_head, *names,
        f"places: {len(PLACES)}",
        *(f"{function} {files.index(file)} {at} {address}" for function, file, at, address in PLACES),
    ])
    for title, rows in sections:
        data += head([title]) + blocks(rows, 3) + struct.pack("<Q", len(rows))
    (folder / "sharing.p.out").write_bytes(data)
    (folder / "p.out").write_text(profile)
    return str(folder / "p.out")


def printed(path, capsys, *options):
    assert main([*options, path]) == 0
    return capsys.readouterr().out


def test_what_is_read(tmp_path):
    beside(tmp_path)
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    assert (found.line, found.cores, found.rest, found.transfers) == (64, 64, 7, 1047)
    first, second = found.lines
    assert (first.address, first.transfers, second.address, second.transfers) == (0x1000, 1000, 0x2000, 40)
    assert [use.bytes for use in first.uses] == [LOW, HIGH]
    assert second.accesses[0].place.line == 24
    assert second.accesses[0].atomics == 30


def test_kinds_and_what_is_left(tmp_path):
    beside(tmp_path)
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    told = report_sharing(found, None)
    first, second = told.data
    assert (first.kind, first.transfers, first.after) == (Kind.FALSE, 1000, 0)
    assert (second.kind, second.transfers, second.after) == (Kind.MIXED, 40, 30)
    assert told.false == 1010


def test_the_first_screen_names_what_padding_would_save(tmp_path, capsys):
    path = beside(tmp_path)
    assert "96% by false sharing (line at 0x1000): --sharing" in " ".join(printed(path, capsys).split())
    # Among a billion instructions it is not worth it.
    many = PROFILE.replace("23 1000 ", "23 1000000000 ").replace("totals: 1200", "totals: 1000000200")
    path = beside(tmp_path, profile=many)
    assert "--sharing" not in printed(path, capsys)


def test_each_line_has_its_threads_bytes_and_code(tmp_path, capsys):
    text = " ".join(printed(beside(tmp_path), capsys, "--sharing", "--width=80").split())
    assert "line at 0x1000: 1 line, false sharing, 1,000 transfers (96%)" in text
    assert "none with each thread's bytes aligned to 64" in text
    assert "thread 2: writes bytes 0-7; 500 transfers; count (prog.c:23)" in text
    assert "thread 3: writes bytes 8-15; 500 transfers; count (prog.c:23)" in text
    assert "40 transfers (4%); 40 by atomic instructions; about 30 with each thread's bytes aligned to 64" in text
    assert "reads bytes 4-11, writes bytes 0-3" in text
    assert "7 more transfers are of lines that moved fewer than four times" in text


def test_json(tmp_path, capsys):
    found = json.loads(printed(beside(tmp_path), capsys, "--format=json"))["sharing"]
    assert (found["transfers"], found["saved"], found["other"]) == (1047, 1010, 7)
    data = found["data"][0]
    assert (data["kind"], data["transfers"], data["after"]) == ("false", 1000, 0)
    assert data["cores"][1]["written"] == list(range(8, 16))
    assert data["cores"][1]["places"][0] == {"function": "count", "file": "/src/prog.c", "line": 23}


def test_without_a_file_it_is_said_what_writes_one(tmp_path, capsys):
    path = beside(tmp_path)
    (tmp_path / "sharing.p.out").unlink()
    assert main(["--sharing", path]) != 0
    assert "a run with --cores=threads" in " ".join(capsys.readouterr().err.split())
    assert "Sharing" not in printed(path, capsys)


def test_of_another_run_it_is_left_out(tmp_path, capsys):
    path = beside(tmp_path, head_lines=HEAD.replace("pid: 7", "pid: 8"))
    assert main([path]) == 0
    captured = capsys.readouterr()
    assert "Sharing" not in captured.out
    assert "from another run" in " ".join(captured.err.split())
    assert main(["--sharing", path]) != 0


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ([SECTIONS[0], SECTIONS[1]], "'accesses:' is missing"),
        ([SECTIONS[0], SECTIONS[1], (ACCESSES, [(3, 0, 1, 1, 1, 1, 1, 1, 0)])], "there is no line 3"),
        ([SECTIONS[0], SECTIONS[1], (ACCESSES, [(1, 64, 1, 1, 1, 1, 1, 1, 0)])], "there is no core 64"),
        ([SECTIONS[0], SECTIONS[1], (ACCESSES, [(1, 0, 3, 1, 1, 1, 1, 1, 0)])], "there is no place 3"),
        ([SECTIONS[0], (CORES, [(9, 0, 1, 1, 1, 1, 1, 1)]), SECTIONS[2]], "there is no line 9"),
    ],
)
def test_what_is_not_there_is_refused(sections, sentence, tmp_path):
    beside(tmp_path, sections)
    with pytest.raises(ProfileError, match=sentence):
        read_sharing(str(tmp_path / "sharing.p.out"))


def test_lines_are_no_longer_than_masks(tmp_path):
    beside(tmp_path, line=128)
    with pytest.raises(ProfileError, match="more than there can be"):
        read_sharing(str(tmp_path / "sharing.p.out"))


TOTALS = "totals: core Ir Dr Dw I1mr D1mr D1mw D1copy I2mr D2mr D2mw ILmr DLmr DLmw SpLoss1 UsByte1 SpLossD1 UsByteD1"
OF_CORES = (TOTALS, [
    (0, 1000, 300, 100, 5, 20, 10, 3, 0, 0, 0, 2, 4, 6, 700, 1540, 650, 1270),
    (2, 5000, 2500, 1234567, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 64, 128, 64, 128),
])


def test_each_core_has_its_own_loads_which_add_up(tmp_path, capsys):
    path = beside(tmp_path, [*SECTIONS, OF_CORES])
    text = printed(path, capsys, "--sharing", "--width=80")
    shown = text[text.index("== What each core's own caches load =="):].splitlines()
    assert [line.split() for line in shown[2:5]] == [
        ["thread", "1", "400", "30", "1,920", "650", "3"],
        ["thread", "3", "1,237,067", "3", "192", "64", "3"],
        ["all", "1,237,467", "33", "2,112", "714", "6"],
    ]
    assert max(map(len, shown)) <= 80
    cores = json.loads(printed(path, capsys, "--format=json"))["sharing"]["cores"]
    assert [core["core"] for core in cores] == [0, 2]
    assert cores[0]["events"]["D1mr"] == 20
    assert cores[1]["events"]["UsByteD1"] == 128


def test_numbers_of_cores_that_are_too_wide_are_shortened(tmp_path, capsys):
    core, *counts = OF_CORES[1][1]
    path = beside(tmp_path, [*SECTIONS, (TOTALS, [(core, *(count * 10**9 for count in counts))])])
    shown = printed(path, capsys, "--sharing", "--width=80").split("== What each core's own caches load ==")[1]
    assert shown.split("thread 3")[1].split()[:4] == ["1237T", "3.00G", "192G", "64.0G"]
    assert max(map(len, shown.splitlines())) <= 80


def test_without_caches_of_their_own_cores_have_no_totals(tmp_path, capsys):
    path = beside(tmp_path)
    assert "own caches" not in printed(path, capsys, "--sharing")
    assert json.loads(printed(path, capsys, "--format=json"))["sharing"]["cores"] == []


@pytest.mark.parametrize("cores", [(64,), (1, 1), (2, 1)])
def test_cores_are_known_ones_in_order(cores, tmp_path):
    beside(tmp_path, [*SECTIONS, (TOTALS, [(core, *OF_CORES[1][0][1:]) for core in cores])])
    with pytest.raises(ProfileError, match="no core 64|not in ascending order"):
        read_sharing(str(tmp_path / "sharing.p.out"))


def test_spans():
    assert spans(0b1) == "byte 0"
    assert spans(0b1110) == "bytes 1-3"
    assert spans(0b11001) == "bytes 0, 3-4"
    assert spans((1 << 64) - 1) == "bytes 0-63"


NONE = Repair(
    remedy=Remedy.NONE, function=Function("prog", "/src/prog.c", "main"), file="", lines=(), loops=(), group=None,
    before=Amount(0, 0), after=Amount(0, 0), walks=None, saved=Estimate(), evidence=("nothing",), code=(), unknown="",
    sites=frozenset(), line=64,
)


def test_unsharing_is_a_repair_where_it_is_worth_it(tmp_path):
    beside(tmp_path)
    (found,) = read_sharing(str(tmp_path / "sharing.p.out"))
    told = report_sharing(found, None)
    fuse = replace(NONE, remedy=Remedy.FUSE, saved=Estimate(10_000.0, 10_000.0, 10_000.0))
    other = replace(fuse, saved=Estimate(1.0, 1.0, 1.0))
    repairs = with_unshare(Repairs((fuse, NONE), {0: (other,)}, 100_000.0), told)
    first, second = repairs.list
    assert (first.remedy, first.transfers, second) == (Remedy.UNSHARE, (1000, 0), fuse)
    assert (first.function.name, first.file, first.lines) == ("count", "/src/prog.c", (23,))
    assert first.share == 50_000 / (100_000 + 1047 * 50)
    assert repairs.alternatives == {1: (other,)}
    # On a machine where they take longer.
    slow = with_unshare(Repairs((fuse, NONE), {}, 100_000.0), report_sharing(found, None, 160.0))
    assert slow.list[0].share == 160_000 / (100_000 + 1047 * 160)
    # Among so much else it is nothing.
    many = Repairs((fuse, NONE), {0: (other,)}, 1e9)
    assert with_unshare(many, told) == many


@pytest.mark.parametrize(("protocol", "back"), [("mesi", 905), ("moesi", 0), (None, None)])
def test_lines_that_are_read_are_written_back_with_mesi(protocol, back, tmp_path, capsys):
    path = beside(tmp_path, more_head=[f"coherence: {protocol}"] if protocol else ())
    found = json.loads(printed(path, capsys, "--format=json"))["sharing"]
    assert (found["coherence"], found["written_back"]) == (protocol, back)
    said = "905 of these lines were written to the level that all cores share" in " ".join(
        printed(path, capsys, "--sharing").split()
    )
    assert said == (protocol == "mesi")


def test_a_protocol_that_is_not_known_is_refused(tmp_path):
    beside(tmp_path, more_head=["coherence: mosi"])
    with pytest.raises(ProfileError, match="there is no protocol 'mosi'"):
        read_sharing(str(tmp_path / "sharing.p.out"))
