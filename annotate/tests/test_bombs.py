# SPDX-License-Identifier: GPL-2.0-or-later
"""Files beside a profile that are small and pretend to hold much: one sentence, in little time and memory."""

import gzip
import resource
import struct
import subprocess
import sys

import pytest
from column_files import head
from test_hostile import BD_ANNOTATE, HELPER
from why_files import DISTANCES, WhyFile

BLOCK = 65535
LISTS = ["objects: 0", "files: 0", "functions: 1", "0 0 1 f"]
OBJECTS = head(["data-objects: 2", "events: Ir", *LISTS, "groups: 1", "unknown", "rows:"])
TREE = ["events: " + " ".join(f"E{number}" for number in range(40)), "recursion: folded"]
COLUMNS = "columns: depth function calls"
WHY = WhyFile([("a", "a.c", 1, "f")], [(1, "a.c", 1, 16)], sections=()).bytes()
SECONDS = 20  # of processor time, as other programs run, too
MEMORY = 700 << 20  # of the whole process; numpy is not there


def tree(limit):
    return head(["contexts: 1", f"limit: {limit}", *TREE, COLUMNS, *LISTS, "roots: 1", "thread 1", "nodes:"])


def zeros(columns, blocks):
    """Rows of nothing: a byte for each column."""
    return (struct.pack("<H", BLOCK) + bytes(columns)) * blocks


def ones(constant, columns, blocks):
    """The first columns are 1, all others 0."""
    block = struct.pack("<H", BLOCK) + (b"\x01" + b"\x01" * BLOCK) * constant + bytes(columns - constant)
    return block * blocks


ROOT = struct.pack("<H", 1) + bytes(43)
PLACES = b"1 1 1 1 " * (1 << 18)
END = struct.pack("<HQ", 0, 0)
PATHS = head(["paths: 1", "limit: 1000000000", "events: Ir", *LISTS, "places: 0"])
STEPS = head(["steps: begin last end ending reads writes"])
STEP = struct.pack("<H", 1) + b"\x01\x01\x01\x01\x01\x02" + bytes(3) + struct.pack("<HQ", 0, 1)


def many_steps(blocks):
    """The same one again and again."""
    block = struct.pack("<H", BLOCK) + b"".join(b"\x01" + byte * BLOCK for byte in (b"\x01", b"\x01", b"\x02"))
    return (block + bytes(3)) * blocks + struct.pack("<HQ", 0, blocks * BLOCK)


BOMBS = {
    "rows": ("objects", OBJECTS + zeros(5, 40000), "more than 8,388,608 values"),
    "rows of one group": ("objects", OBJECTS + ones(1, 5, 200), "more than 8,388,608 values"),
    "few rows": ("objects", OBJECTS + ones(2, 5, 28), "more than 8,388,608 values"),
    "a list": (
        "objects", head(["data-objects: 2", "events: Ir", "objects: 999999999"]) + b"\n" * (1 << 26),
        "unpacks to more than 300 times its size",
    ),
    "places": (
        "objects", head(["data-objects: 2", "events: Ir", *LISTS, "groups: 1"]) + b"heap 1 1 1 1 1 1 1 1 262144 "
        + PLACES + b"\nrows:\n", "is not a group of objects",
    ),
    "nodes": ("contexts", tree(10**9) + ROOT + ones(2, 43, 6), "more than 8,388,608 values"),
    "nodes above the limit": ("contexts", tree(1000) + ROOT + ones(2, 43, 1), "more nodes than its limit of 1,000"),
    "sections": ("why", WHY + head([f"distances: {DISTANCES}"]) + zeros(4, 100), "more than 8,388,608 values"),
    "unknown sections": (
        "why", WHY + head([f"distances: {DISTANCES}"]) + bytes(10) + b"".join(
            head([f"other{number}: a b"]) + zeros(2, 30) + struct.pack("<HQ", 0, 30 * BLOCK)
            for number in range(40)
        ), "more than 8,388,608 values",
    ),
    "steps": ("paths", PATHS + STEPS + many_steps(21) + head(["pieces: step file line instructions"]) + END,
              "'nodes:' is missing"),
    "as many steps as there may be": (
        "paths", PATHS + STEPS + many_steps(21) + head(["pieces: step file line instructions"]) + END
        + head(["nodes: parent kind function step times"]) + END + head(["cells: node place Ir"]) + END,
        "is from another run than",
    ),
    "pieces": (
        "paths", PATHS + STEPS + STEP + head(["pieces: step file line instructions"])
        + (struct.pack("<H", BLOCK) + b"\x01" + b"\x01" * BLOCK + bytes(2) + b"\x01" + b"\x01" * BLOCK) * 20
        + struct.pack("<HQ", 0, 20 * BLOCK) + head(["nodes: parent kind function step times"]) + END
        + head(["cells: node place Ir"]) + END, "more than 4,096 pieces",
    ),
    "newlines": ("contexts", b"\n" * (1 << 26), "this is not a context tree"),
}


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def read(folder, kind, data):
    profile = folder / "p.out"
    profile.write_bytes(HELPER.read_bytes())
    (folder / f"{kind}.p.out.gz").write_bytes(data)
    words = {"objects": ["--objects"], "contexts": ["--check"], "why": ["--curve"], "paths": ["--paths"]}[kind]
    return subprocess.run(
        [*BD_ANNOTATE, *words, str(profile)], capture_output=True, text=True, timeout=20 * SECONDS, preexec_fn=limit,
    )


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_beside_a_profile_is_refused(name, tmp_path):
    kind, data, why = BOMBS[name]
    result = read(tmp_path, kind, gzip.compress(data))
    assert "Traceback" not in result.stderr
    assert result.returncode in (1, 2)
    assert why in result.stdout + result.stderr
    assert result.stderr.count("\n") == 1


def test_a_large_file_is_read_once_it_is_unpacked(tmp_path):
    """As the sentence advises: each row has some bytes of its own there."""
    data = OBJECTS + ones(4, 5, 28) + struct.pack("<HQQ", 0, 28 * BLOCK, 0) + struct.pack("<HQ", 0, 0)
    packed = read(tmp_path, "objects", gzip.compress(data)).stderr
    assert "unpack it first" in packed
    result = read(tmp_path, "objects", data)
    assert "unpack it first" not in result.stderr and "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_memory_that_is_not_there_is_a_sentence(tmp_path):
    profile = tmp_path / "p.out"
    text = "events: Ir\n" + "".join(f"fl=f{number}\nfn=f{number}\n1 1\n" for number in range(300_000))
    profile.write_text(text)
    result = subprocess.run(
        [*BD_ANNOTATE, str(profile)], capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (120 << 20, 120 << 20)),
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bd_annotate: there is not enough memory")


@pytest.mark.parametrize("words", [
    ["--html=page.html"], ["--export=folded"], ["--export=callgrind"], ["--diff", "--html=page.html", "p.out"],
])
def test_a_tree_that_is_cut_off_is_left_out(words, tmp_path):
    (tmp_path / "p.out").write_bytes(HELPER.read_bytes())
    (tmp_path / "contexts.p.out").write_bytes(tree(1000) + ROOT[:20])
    result = subprocess.run(
        [*BD_ANNOTATE, *words, "p.out"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert result.returncode == 0
    assert result.stderr.count("the context tree is cut off") == ("callgrind" not in words[0])
    assert result.stderr.count("a context tree is left out") == result.stderr.count("cut off")
