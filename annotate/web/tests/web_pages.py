# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports for the tests of the page, and what the tests ask a page for."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

WEB = pathlib.Path(__file__).resolve().parent.parent
ANNOTATE = WEB.parent
PROFILES = ANNOTATE / "tests" / "profiles"
BUILT = ANNOTATE / "bdannotate" / "html" / "report.html"
BUILD = os.environ.get("BDGRIND_BUILD")
SECONDS = 300
ITEM = "item</script><b>"
WORKS = [1000, 1010, 1000, 3000, 3020]  # of ranks
HEAP_ROW = quote("heap prog.c:22, make")
VIEWS = ("summary", "icicle", "tables", "graph", "source", "treemap")

sys.path[:0] = [str(ANNOTATE), str(ANNOTATE / "tests")]
from annotating import bd_annotate  # noqa: E402
from bdannotate.cli import main  # noqa: E402
from bdannotate.model.data_types import Field, Type  # noqa: E402
from context_files import ContextFile  # noqa: E402
from object_files import ObjectFile  # noqa: E402
from path_files import beside as paths_beside  # noqa: E402
from test_core_loads import ALL as LOADS  # noqa: E402
from test_html_data import two_with_objects  # noqa: E402
from test_last_level import ALL as LAST_LEVEL  # noqa: E402
from test_objects import GROUPS, HEAD as OBJECTS_HEAD, HEAP  # noqa: E402
from test_shared_bytes import with_patterns  # noqa: E402
from test_sharing import ACCESSES, CORES, beside as sharing_beside  # noqa: E402
from test_ranks import job  # noqa: E402
from test_repairs import made as made_kernel  # noqa: E402
from test_types import of_a_stranger  # noqa: E402

def run(*command, cwd, **more):
    return subprocess.run(
        list(map(str, command)), cwd=cwd, text=True, capture_output=True, timeout=SECONDS, check=False, **more
    )


def node(workshop, *arguments, **more):
    result = run("node", *arguments, cwd=workshop, **more)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def annotate(*arguments):
    result = bd_annotate(*arguments, cwd=PROFILES, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    return result.stdout


def of_four_in_a_line(folder, patch):
    """Blocks of 10 elements. In each of 11 lines with 4 of them, one field is used; in one more, both are."""
    kind = Type(ITEM, 16, (Field("key</b>", "int", 0, 4), Field("name[8]", "char", 4, 8)))
    groups = [*GROUPS[:1], HEAP.replace("16 16 16", "160 160 16"), *GROUPS[2:]]
    patterns = [(2, 1, 1, 7, 0, 64, 0x000F000F000F000F, 11), (2, 2, 1, 23, 0, 16, 0x0F0F, 1)]
    return of_a_stranger(folder, patch, kind, groups, "", patterns=patterns)


def shared_four(folder):
    """The same, where threads take a line from each other: the blocks of 160 bytes begin 8 bytes before it, so its
    bytes 8 to 11 are the key of element 1, and 12 to 19 its name."""
    masks = (0xF << 8, 0xFF << 12 | 0xF << 24)  # written by threads 2 and 3, which also reads the first key
    sections = [("lines: address group object", [(0x1000, 2, 0xff8)]),
                (CORES, [(1, 1, 0, masks[0], 0, 9, 0, 0), (1, 2, masks[0], masks[1], 0, 9, 0, 0)]),
                (ACCESSES, [(1, 1, 1, 1, 0, 9, 0, 0, 0)])]
    return sharing_beside(folder, sections, f"{OBJECTS_HEAD}\n", (folder / "p.out").read_text())


def data_beside(folder):
    """A profile with blocks of 24 bytes and a variable. Both functions load blocks."""
    events = ("Ir", "ILmr", "DLmr", "DLmw", "SpLoss1", "EvLine1", "UsByte1", "Access1")
    functions = [("prog", "prog.c", 1, "main"), ("prog", "prog.c", 20, "make")]
    rows = [
        (1, 1, 1, 7, (0, 0, 4, 2, 480, 10, 160, 20)), (1, 2, 1, 23, (0, 0, 1, 0, 0, 1, 64, 64)),
        (2, 1, 1, 7, (0, 0, 0, 0, 32, 1, 32, 4)),
        (2, 1, 1, 8, (0, 0, 0, 0, 600, 20, 680, 40)),
    ]
    groups = ["heap 3 72 1 48 72 24 24 24 0 2 2 1 22 100 1 1 5 200 1 1 malloc", "static 1 64 </script><b>table"]
    patterns = [(1, 1, 1, 7, 0, 24, 0x00FF, 9), (1, 2, 1, 23, 0, 24, 0xFFF, 1), (1, 1, 1, 7, 8, 8, 0x01, 2)]
    head = "pid: 7\ncmd: prog\npart: 1"
    (folder / "objects.data.out").write_bytes(ObjectFile(events, functions, groups, rows, patterns, head).bytes())
    (folder / "data.out").write_text(
        f"version: 1\n{head}\nevents: {' '.join(events)}\nob=prog\nfl=prog.c\nfn=main\n"
        "7 90 0 4 2 512 11 192 24\n8 10 0 0 0 600 20 680 40\nfn=make\n23 10 0 1 0 0 1 64 64\n"
    )


def json_of(*arguments):
    return json.loads(annotate("--format=json", *arguments))


def tree_of(profile, path):
    """A tree with the profile's functions and self costs. Each stands below its first caller."""
    data = json_of(profile)
    lines = profile.read_text().splitlines()
    head = "\n".join(line for line in lines if line.split(":")[0] in ("pid", "cmd", "part"))
    (events,) = (line.split()[1:] for line in lines if line.startswith("events:"))
    functions = {function["id"]: function for function in data["functions"]}
    parents = {}
    for call in data["calls"]:
        if call["caller"] != call["callee"]:
            parents.setdefault(call["callee"], call["caller"])
    numbers = {number: at for at, number in enumerate(functions, 1)}
    nodes = [(0, 0, 0, (0,) * len(events))]

    def visit(number, depth):
        function = functions[number]
        nodes.append((depth, numbers[number], function["calls"], tuple(function["self"][: len(events)])))
        for child, parent in parents.items():
            if parent == number:
                visit(child, depth + 1)

    for number in functions:
        if number not in parents:
            visit(number, 1)
    assert len(nodes) == len(functions) + 1, "a cycle"
    named = [(f["object"], f["file"], 1, f["name"]) for f in functions.values()]
    path.write_bytes(ContextFile(events, named, ["thread 1"], nodes, head=head).bytes())


# Of a row, by column.
EXACT = """Object.fromEntries(Array.from(row.querySelectorAll("[data-exact]"),
    (cell) => [cell.dataset.column, Number(cell.dataset.exact)]))"""


EXACT_ROWS = f"""Array.from(document.querySelectorAll(".row[data-function]"),
    (row) => [row.dataset.function, {EXACT}])"""


CELLS = "Number(document.querySelector('canvas[data-cells]')?.dataset.cells)"


LATER = "new Promise((done) => setTimeout(() => done(%s), 300))"


def apart(folder, code=10, data=1000):
    """A profile with code and data apart, in which one of both misses much; of the other, more is never used."""
    events = ("Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 AcCostD1 SpLossD1 "
              "EvLineD1 UsByteD1 AccessD1")
    rows = {
        "main": (10_000, 2000, 0, code, data, 0, 5, 5, 0, 0, 30 * data + 40 * code, code + data,
                 34 * data + 24 * code, 5000, 0, 30 * data, data, 34 * data, 4000),
        "work": (500, 100, 0, code, 10, 0, 0, 0, 0, 0, 300 + 20 * code, code + 10, 340 + 44 * code, 400, 0, 300, 10,
                 340, 100),
    }
    text = f"creator: bdgrind-0\nevents: {events}\nfl=a.c\n" + "".join(
        f"fn={name}\n{line} {' '.join(map(str, row))}\n" for line, (name, row) in enumerate(rows.items(), 1))
    (folder / "apart.out").write_text(text)
    annotate(f"--html={folder}/apart.html", folder / "apart.out")
    totals = dict(zip(events.split(), (sum(column) for column in zip(*rows.values()))))
    return folder / "apart.html", totals


SPOKEN = "document.querySelector('.spoken').innerText"


def many(folder, functions=400):
    """A profile of so many functions, each of a line of its own."""
    (folder / "many.out").write_text("events: Ir SpLoss1\nfl=many.c\n" + "".join(
        f"fn=function_{at}\n{at + 1} {10 * (functions - at)} {at}\n" for at in range(functions)))
    (folder / "many.c").write_text("\n".join(f"line({at});" for at in range(1, functions + 1)))
    annotate(f"--html={folder}/many.html", "-I", folder, folder / "many.out")
    return folder / "many.html"


def make_reports(folder):
    """Reports of the fixtures' profiles, with a context tree beside one."""
    shutil.copy(PROFILES / "helper.out", folder)
    shutil.copy(PROFILES / "repaired.out", folder)
    annotate(f"--html={folder}/plain.html", folder / "helper.out")
    annotate(f"--html={folder}/code.html", PROFILES / "instructions.out")
    annotate(f"--html={folder}/source.html", "-I", ANNOTATE / "tests" / "sources", PROFILES / "sources.out")
    for name in ("helper", "repaired"):
        tree_of(folder / f"{name}.out", folder / f"contexts.{name}.out")
    annotate(f"--html={folder}/tree.html", folder / "helper.out")
    annotate("--diff", f"--html={folder}/diff.html", folder / "helper.out", folder / "repaired.out")
    annotate(f"--html={folder}/ranks.html", *(PROFILES / f"rank{rank}.out" for rank in range(3)))
    annotate(f"--html={folder}/parts.html", PROFILES / "threads.out")
    data_beside(folder)
    annotate(f"--html={folder}/data.html", folder / "data.out")
    annotate("--diff", f"--html={folder}/data-diff.html", *two_with_objects(folder))
    for name in ("product", "stream"):
        (folder / name).mkdir()
        for path, data in made_kernel(name)[0].items():
            (folder / name / path).write_bytes(data)
        annotate(f"--html={folder}/{name}.html", folder / name / "p.out")
    (folder / "job").mkdir()
    annotate(f"--html={folder}/job.html", job(folder / "job", WORKS))
    (folder / "shared").mkdir()
    annotate(f"--html={folder}/shared.html", sharing_beside(folder / "shared"))
    (folder / "loads").mkdir()
    annotate(f"--html={folder}/loads.html", sharing_beside(folder / "loads", LOADS, more_head=["page: 4096"]))
    (folder / "last_level").mkdir()
    shares = sharing_beside(folder / "last_level", LAST_LEVEL, more_head=["ll-lines: 16"])
    annotate(f"--html={folder}/last_level.html", shares)
    (folder / "users").mkdir()
    annotate(f"--html={folder}/users.html", with_patterns(folder / "users"))
    (folder / "flow").mkdir()
    annotate(f"--html={folder}/flow.html", paths_beside(folder / "flow"))
    (folder / "typed").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        profile = of_four_in_a_line(folder / "typed", patch)
        assert main([f"--html={folder}/typed.html", "--object-type=heap=item", profile]) == 0
        profile = shared_four(folder / "typed")
        assert main([f"--html={folder}/typed_users.html", "--object-type=heap=item", profile]) == 0
    return folder
