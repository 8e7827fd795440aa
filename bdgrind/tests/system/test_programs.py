# SPDX-License-Identifier: GPL-2.0-or-later
"""Real programs: they notice nothing, their costs add up, and two runs give the same profile."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import GUESTS, SMALL_CACHES, SOURCE, Run, check_profile, run_tool, steady_environment
from profile_reader import read_profile
from test_determinism import without_pid

EXAMPLE = SOURCE / "docs" / "example"

SQL = """
create table planet(id integer primary key, name text, star integer);
create table star(id integer primary key, name text, mass real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
    insert into star select i, 'star ' || (i * 7919 % 1000), i * 0.37 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    insert into planet select i, 'planet ' || (i * 104729 % 9973), i * 31 % 300 + 1 from n;
select star.name, count(*), max(planet.name) from planet join star on star.id = planet.star
    group by star.name order by 2 desc, 1 limit 20;
select p.name, q.name from planet p join planet q on p.star = q.star and p.id < q.id
    order by q.name, p.name limit 20;
"""

PYTHON = (
    "import json; words = [chr(97 + i * 7 % 26) * (i % 9 + 1) for i in range(3000)]; "
    "print(json.dumps(sorted({word: words.count(word) for word in set(words)}.items()))[:500])"
)

PERL = (
    "my %count; $count{$_ * 7919 % 1013}++ for 1 .. 20000; "
    'print join(" ", (map { "$_=$count{$_}" } sort { $a <=> $b } keys %count)[0 .. 50]), "\\n";'
)

# Compiled at run time: a loop as hot as this one is worth it.
JAVASCRIPT = (
    "let sum = 0; for (let i = 0; i < 300000; ++i) sum = (sum * 31 + i) % 1000003; "
    "console.log(sum);"
)

C_SOURCE = """
struct node { struct node *left, *right; int key; long value; };
long sum(const struct node *tree, int depth)
{
    if (!tree) return 0;
    switch (depth % 5) {
    case 0: return tree->value + sum(tree->left, depth + 1) + sum(tree->right, depth + 1);
    case 1: return tree->value * 3 - sum(tree->right, depth + 2);
    default: return sum(tree->left, depth + 1) ^ tree->key;
    }
}
"""


def text(size: int) -> bytes:
    """Compressible text, the same everywhere."""
    source = random.Random(1)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(500)]
    return " ".join(source.choices(words, k=size // 6)).encode()[:size]


@dataclass(frozen=True)
class Program:
    name: str
    command: Callable[[Path], list[str]]
    stdin: bytes = b""
    twice: bool = True  # are two runs alike? Threads are not; some programs take long

    @property
    def executable(self) -> str:
        return self.command(Path("/"))[0]


def compiler(folder: Path) -> list[str]:
    found = sorted(Path("/usr/lib/gcc").glob("*/*/cc1"))
    cc1 = str(found[-1]) if found else "cc1"
    source = folder / "source.i"
    if folder != Path("/"):
        source.write_text(C_SOURCE)
    return [cc1, "-quiet", "-O2", "-fpreprocessed", str(source), "-o", "-"]


PROGRAMS = [
    Program("xz", lambda _: ["/usr/bin/xz", "-1", "-T1", "-c"], text(400_000)),
    Program("bzip2", lambda _: ["/bin/bzip2", "-c"], text(200_000)),
    Program("sqlite3", lambda _: ["/usr/bin/sqlite3", "-batch", ":memory:"], SQL.encode()),
    Program("python3", lambda _: ["/usr/bin/python3", "-S", "-c", PYTHON]),
    Program("perl", lambda _: ["/usr/bin/perl", "-e", PERL]),
    Program("cc1", compiler, twice=False),
    Program("node", lambda _: ["/usr/bin/node", "-e", JAVASCRIPT], twice=False),
    Program(
        "xz with two threads",
        lambda _: ["/usr/bin/xz", "-1", "-T2", "--block-size=100000", "-c"],
        text(400_000),
        twice=False,
    ),
]

def run_program(program: Program, folder: Path, tool: str, name: str) -> Run:
    command = program.command(folder)
    return run_tool(
        folder,
        command,
        SMALL_CACHES if tool == "bdgrind" else (),
        tool=tool,
        stdin=program.stdin,
        environment=steady_environment(folder, command),
        name=name,
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program.name))
def test_program(program: Program, tmp_path: Path) -> None:
    if not shutil.which(program.executable):
        pytest.skip(f"{program.executable} is not installed")
    run = run_program(program, tmp_path, "bdgrind", "first")
    none = run_program(program, tmp_path, "none", "none")
    assert none.status == 0 and none.stdout
    assert (run.status, run.stdout, run.stderr) == (none.status, none.stdout, none.stderr)
    assert check_profile(run.profile_path) == ""
    assert all(run.profile.totals[event] > 0 for event in run.profile.events)
    if program.twice:
        again = run_program(program, tmp_path, "bdgrind", "again")
        assert without_pid(run.profile_path) == without_pid(again.profile_path)


def test_children_of_a_program(tmp_path: Path) -> None:
    """fork, vfork and exec, posix_spawn: a file each, of the process itself or of what it became."""
    command = [str(GUESTS / "forks")]
    options = [*SMALL_CACHES, "--trace-children=yes", f"--bdgrind-out-file={tmp_path}/out.%p"]
    run = run_tool(tmp_path, command, options)
    assert run.status == run_tool(tmp_path, command, tool="none", name="none").status == 0
    commands = []
    for path in tmp_path.glob("out.*"):
        assert check_profile(path) == ""
        profile = read_profile(path)
        assert profile.header["pid"] == [path.suffix[1:]]
        commands += profile.header["cmd"]
        if profile.calls_to("in_child"):
            assert profile.calls_to("in_child") == 7
            assert profile.calls_to("before") == profile.calls_to("after") == 0
    assert sorted(commands) == sorted(2 * ["/bin/sh -c exit 7"] + 2 * command)


@pytest.mark.parametrize("version", ["wasteful", "repaired"])
def test_example(version: str, tmp_path: Path) -> None:
    """main carries everything that the example does, and self costs are no guide."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler to compile the example with")
    program = tmp_path / version
    subprocess.run(
        [compiler, "-g", "-O2", "-o", program, EXAMPLE / f"{version}.c"], check=True, cwd=tmp_path
    )
    caches = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
    run = run_tool(tmp_path, [program], caches)
    assert re.fullmatch(rb"(along \w+ +\d+\n){3}", run.stdout)
    assert check_profile(run.profile_path) == ""
    profile = run.profile
    total = profile.totals["SpLoss1"]
    assert profile.inclusive("main", "SpLoss1") > 0.99 * total
    assert profile.self_cost("gather", "SpLoss1") > 0.9 * total
    columns = profile.inclusive("flow_along_columns", "SpLoss1") / total
    assert columns > 0.9 if version == "wasteful" else columns < 0.05
