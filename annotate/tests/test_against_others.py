# SPDX-License-Identifier: GPL-2.0-or-later
"""The same numbers as callgrind_annotate and cg_annotate, on profiles made here and now."""

import re
import shutil
import subprocess

import pytest

from bdannotate.model.graph import build
from bdannotate.model.profile import sum_rows
from bdannotate.reading.parser import Detail, parse
from bdannotate.reading.progress import Progress

SORT = "for(1..300){$h{$_%97}.=join(q(,),sort map{$_*7%13}1..10)} print length(join q(),values %h)"
JOIN = (
    "create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<200)"
    " insert into t select i, i%7 from n; select count(*) from t x join t y on x.b=y.b order by 1;"
)
PROGRAMS = {"perl": ["perl", "-e", SORT], "sqlite3": ["sqlite3", ":memory:", JOIN]}
LINE = re.compile(r"\s*([\d,]+)(?: \([ \d.]+%\))?  (\S.*?)(?: \[([^]]*)\])?")

needs_valgrind = pytest.mark.skipif(
    not (shutil.which("valgrind") and shutil.which("callgrind_annotate")),
    reason="valgrind is missing",
)


def profile_of(program, tool, folder, *options):
    if not shutil.which(PROGRAMS[program][0]):
        pytest.skip(f"{program} is missing")
    path = folder / "profile"
    subprocess.run(
        ["valgrind", f"--tool={tool}", f"--{tool}-out-file={path}", *options, *PROGRAMS[program]],
        check=True, capture_output=True, timeout=300,
    )
    return path


def listed(command, path, folder):
    """What another report lists: the count of the first event, by `file:function`."""
    empty = folder / "empty"  # they shorten names of files below the current folder
    empty.mkdir(exist_ok=True)
    result = subprocess.run(
        [*command, str(path)], cwd=empty, capture_output=True, check=True, timeout=300,
        encoding="utf-8",
    )
    found = {}
    for match in map(LINE.fullmatch, result.stdout.split("\n")):
        if match and match[2] != "PROGRAM TOTALS":
            found[match[2]] = found.get(match[2], 0) + int(match[1].replace(",", ""))
    return found


def self_costs(profile):
    found = {}
    for place, rows in profile.lines.items():
        key = f"{place.file}:{place.function.name}"
        found[key] = found.get(key, 0) + sum_rows(rows.values(), len(profile.events))[0]
    return found


@needs_valgrind
@pytest.mark.parametrize("program", PROGRAMS)
def test_callgrind_self_and_inclusive(program, tmp_path):
    path = profile_of(program, "callgrind", tmp_path)
    profile = parse(str(path), Detail.FUNCTIONS, Progress(""))
    report = ["callgrind_annotate", "--auto=no", "--threshold=100", "--show=Ir"]
    ours = {key: cost for key, cost in self_costs(profile).items() if cost}
    theirs = listed(report, path, tmp_path)
    assert len(theirs) > 300
    assert theirs == ours

    theirs = listed([*report, "--inclusive=yes"], path, tmp_path)
    graph = build(profile)
    compared = 0
    names = [f"{function.file}:{function.name}" for function in graph.functions]
    for function, costs in graph.functions.items():
        key = f"{function.file}:{function.name}"
        # In recursion theirs counts every level; one name for several functions is one line.
        if not costs.recursive and not costs.cycle and names.count(key) == 1 and key in theirs:
            assert theirs[key] == costs.inclusive[0], key
            compared += 1
    assert compared > 300


@needs_valgrind
@pytest.mark.parametrize("program", PROGRAMS)
def test_cachegrind(program, tmp_path):
    path = profile_of(program, "cachegrind", tmp_path, "--cache-sim=yes")
    profile = parse(str(path), Detail.FUNCTIONS, Progress(""))
    version = subprocess.run(["cg_annotate", "--version"], capture_output=True, text=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) >= (3, 21):
        pytest.skip("no package helps: from Valgrind 3.21 on, cg_annotate prints something else")
    theirs = listed(["cg_annotate", "--auto=no", "--threshold=0", "--show=Ir"], path, tmp_path)
    ours = {key: cost for key, cost in self_costs(profile).items() if cost}
    assert len(theirs) > 300
    assert theirs == ours
