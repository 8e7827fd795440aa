# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: single instructions, their calls and jumps, in many ranks together."""

import random
import re

import pytest
from bdannotate.cli import main
from bdannotate.model.merge import Renaming
from bdannotate.model.profile import Function, InstructionCall, Place
from bdannotate.reading.load import load, load_sum
from bdannotate.reading.parser import Detail
from merging import by_threads, contents, merged, mpi

EVENTS = ("Ir", "Dr", "D1mr", "SpLoss1")
FILES = ("job.c", "job.h")
FUNCTIONS = ("main", "f0", "f1", "f2")


def about(rank):
    return f"version: 1\ncreator: test\npid: {rank + 1}\ncmd: ./job\npart: 1\ndesc: Rank: {rank}\n"


def rank_text(rank, seed):
    """main calls functions that have lines of two files, jumps within them, and one to another function. What a
    call costs is all that the called function does."""
    chance = random.Random(seed)
    events = chance.sample(EVENTS, len(EVENTS))
    functions = [name for name in FUNCTIONS[1:] if chance.random() < 0.8]
    bodies, costs = [], {}
    for name in functions:
        text, total = f"fn={name}\n", (0,) * len(EVENTS)
        base = 0x1000 * (1 + FUNCTIONS.index(name))
        for number, file in enumerate(FILES):
            text += f"fi={file}\n" if number else ""
            for at in range(chance.randrange(1, 8)):
                row = tuple(chance.randrange(1 << chance.randrange(1, 40)) for _ in range(chance.choice((1, 2, 4))))
                row += (0,) * (len(EVENTS) - len(row))
                total = tuple(map(sum, zip(total, row)))
                text += f"{base + 0x100 * number + 4 * at:#x} {10 * number + at // 2} {' '.join(map(str, row))}\n"
            if chance.random() < 0.7:
                followed = chance.randrange(1, 9)
                text += f"jcnd={followed}/{followed + chance.randrange(9)} {base:#x} 0\n"
                text += f"{base + 0x100 * number:#x} {10 * number}\n"
            if chance.random() < 0.3:
                text += f"jfi=job.c\njfn=f0\njump=3 0x2000 0\n{base + 0x100 * number:#x} {10 * number}\n"
        bodies.append(text)
        costs[name] = total
    own = tuple(chance.randrange(1, 99) for _ in EVENTS)
    text = f"fn=main\n0x1000 1 {' '.join(map(str, own))}\n"
    for name, total in costs.items():
        for address in chance.sample((0x1000, 0x1004, 0x1008), 2):
            part = tuple(cost // 2 if address != 0x1000 else cost - cost // 2 for cost in total)
            text += f"{address:#x} {1 + (address > 0x1000)} 1\n" if address > 0x1000 else ""
            text += f"cfn={name}\ncalls={chance.randrange(1, 9)} {0x1000 * (1 + FUNCTIONS.index(name)):#x} 0\n"
            text += f"{address:#x} {1 + (address > 0x1000)} {' '.join(map(str, part))}\n"
    body = f"ob=job\nfl=job.c\n{text}{''.join(bodies)}"
    return f"{about(rank)}positions: instr line\nevents: {' '.join(events)}\n{body}"


def write_ranks(folder, seeds):
    paths = []
    for rank, seed in enumerate(seeds):
        path = folder / f"out.{rank}"
        path.write_text(rank_text(rank, seed))
        paths.append(str(path))
    return paths


def facts(profile, events):
    order = [profile.events.index(event) for event in events]

    def row(cost):
        return tuple(cost[event] for event in order)

    return {
        "lines": {(place, line): row(cost) for place, rows in profile.lines.items() for line, cost in rows.items()},
        "calls": {site: (calls, row(cost)) for site, (calls, cost) in profile.calls.items()},
        "instructions": {
            (place, address): (one.line, row(one.cost))
            for place in profile.instructions for address, one in profile.instructions[place].items()
        },
        "instruction calls": {key: (calls, row(cost)) for key, (calls, cost) in profile.instruction_calls.items()},
        "jumps": dict(profile.jumps.items()),
        "beginnings": dict(profile.beginnings),
    }


@pytest.mark.parametrize("seed", range(15))
def test_instructions_are_the_sums_of_all(tmp_path, seed, capsys):
    """As several profiles are added up for a report, which is another way."""
    chance = random.Random(seed)
    paths = write_ranks(tmp_path, [chance.randrange(30) for _ in range(chance.randrange(1, 12))])
    output = merged(tmp_path, paths)
    assert capsys.readouterr().err == ""
    whole = load(output, Detail.INSTRUCTIONS, Renaming())
    expected = load_sum(paths, Detail.INSTRUCTIONS, Renaming())
    found, known = (facts(one, EVENTS) for one in (whole, expected))
    assert found == known
    assert main(["--check", output]) == 0


def test_two_small_files(tmp_path):
    """By hand: at 0x14, 3 + 5 instructions; the call from 0x14 costs 7 + 70, and the jump is followed 1 + 2 times."""
    paths = []
    for rank, (own, calls, cost, followed) in enumerate([(3, 1, 7, 1), (5, 10, 70, 2)]):
        (tmp_path / f"out.{rank}").write_text(
            f"{about(rank)}positions: instr line\nevents: Ir Dr\nob=job\nfl=a.c\nfn=main\n0x10 1 {own} 1\n"
            f"jcnd={followed}/9 +4 +1\n* *\n+4 +1 {own}\ncfn=f\ncalls={calls} 0x80 20\n* * {cost}\n"
            f"fn=f\n0x80 20 {cost}\n"
        )
        paths.append(str(tmp_path / f"out.{rank}"))
    output = merged(tmp_path, paths)
    main_function, other = (Function("job", "a.c", name) for name in ("main", "f"))
    found = load(output, Detail.INSTRUCTIONS, Renaming())
    assert found.instructions[Place(main_function, "a.c")] == {0x10: (1, (8, 2)), 0x14: (2, (8, 0))}
    assert found.instructions[Place(other, "a.c")] == {0x80: (20, (77, 0))}
    assert dict(found.instruction_calls) == {InstructionCall(main_function, other, 0x14): (11, (77, 0))}
    ((jump, count),) = found.jumps.items()
    assert (jump.source_address, jump.target_address, jump.target_line) == (0x10, 0x14, 2)
    assert tuple(count) == (3, 18) and found.beginnings == {other: 0x80}
    assert "positions: instr line\n" in (tmp_path / "all").read_text()


def test_what_no_instruction_has_is_at_no_address(tmp_path):
    """Ranks of other builds of a program may have other lines at an address: each line keeps its costs."""
    text = "{}positions: instr line\nevents: Ir\nob=job\nfl=a.c\nfn=main\n0x10 {} 4\n" \
           "cfn=f\ncalls=1 0x80 20\n0x10 {} 6\nfn=f\n0x80 20 6\n"
    paths = []
    for rank, line in enumerate((1, 2)):
        (tmp_path / f"out.{rank}").write_text(text.format(about(rank), line, line))
        paths.append(str(tmp_path / f"out.{rank}"))
    output = merged(tmp_path, paths)
    whole = load(output, Detail.INSTRUCTIONS, Renaming())
    assert whole.lines[Place(Function("job", "a.c", "main"), "a.c")] == {1: (4,), 2: (4,)}
    assert {(site.line, tuple(call)) for site, call in whole.calls.items()} == {(1, (1, (6,))), (2, (1, (6,)))}
    assert main(["--check", output]) == 0


def test_lines_are_written_as_short_as_by_a_run(tmp_path):
    """Relative to those before."""
    merged(tmp_path, write_ranks(tmp_path, range(4)))
    text = (tmp_path / "all").read_text()
    rows = re.findall(r"^[+*-]\S* [+*-]\S* ", text, re.MULTILINE)
    assert len(rows) > len(re.findall(r"^0x", text, re.MULTILINE))


def test_some_without_instructions(tmp_path, capsys):
    paths = write_ranks(tmp_path, range(3))
    (tmp_path / "out.1").write_text(f"{about(1)}events: {' '.join(EVENTS)}\nob=job\nfl=job.c\nfn=main\n1 5\n")
    output = merged(tmp_path, paths)
    assert f"single instructions are not merged, as {paths[1]} has none\n" in capsys.readouterr().err
    assert "positions: line\n" in (tmp_path / "all").read_text()
    assert main(["--check", output]) == 0


def test_any_number_of_processes_and_any_order_write_the_same(tmp_path, monkeypatch):
    paths = write_ranks(tmp_path, range(40))
    monkeypatch.setattr("bdannotate.merging.code_tally._PIECE", 3)
    alone = contents(merged(tmp_path, paths))
    chance = random.Random(1)
    for processes in (1, 2, 4, 5):
        chance.shuffle(paths)
        by_threads(monkeypatch, processes)
        assert contents(merged(tmp_path, paths, "many")) == alone


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_of_mpi_write_the_same(tmp_path, processes):
    paths = write_ranks(tmp_path, range(12))
    alone = contents(merged(tmp_path, paths))
    result = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert result.returncode == 0, result.stderr
    assert contents(str(tmp_path / "many")) == alone
