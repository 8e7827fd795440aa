# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: the sums and statistics of many ranks."""

import os
import random
import shutil
import statistics
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from bdannotate.cli import main
from bdannotate.merging.rank_rows import RankRows
from bdannotate.model.profile import CallSite, Function
from job_profiles import EVENTS, MAIN, added, rank_costs, rank_text, write_job
from merging import ANNOTATE, contents, merged, mpi, read, refused

SEEDS = [1, 2, 2, 2, 3, 4, 5, 5, 6, 7, 8]


def function(name):
    return Function("job", "job.c", name)


def job():
    return [rank_costs(seed) for seed in SEEDS]


def expect(spreads, values, name):
    """spreads of a count whose values in the ranks these are."""
    if min(values) == max(values):
        assert name not in spreads
        return
    found = spreads[name]
    assert (found.sum, found.least, found.most) == (sum(values), min(values), max(values))
    assert (found.least_at, found.most_at) == (values.index(min(values)), values.index(max(values)))
    assert found.mean(len(values)) == pytest.approx(statistics.mean(values))
    variance = statistics.pvariance(map(Fraction, values))
    assert found.deviation(len(values)) == pytest.approx(float(variance) ** 0.5, abs=0.002, rel=1e-9)


def test_sums_are_those_of_all_files(tmp_path):
    profile, _ = read(merged(tmp_path, write_job(tmp_path, SEEDS)))
    order = [EVENTS.index(event) for event in profile.events]
    for (name, line) in {key for costs, _ in job() for key in costs}:
        row = added(costs[name, line] for costs, _ in job() if (name, line) in costs)
        (found,) = (rows[line] for place, rows in profile.lines.items()
                    if place.function.name == name and line in rows)
        assert found == tuple(row[index] for index in order)
    for name in {name for _, calls in job() for name in calls}:
        site = CallSite(function(MAIN), function(name), "job.c", 2)
        assert profile.calls[site].calls == sum(calls.get(name, 0) for _, calls in job())


def test_the_merged_file_passes_the_check(tmp_path, capsys):
    output = merged(tmp_path, write_job(tmp_path, SEEDS))
    assert main(["--check", output]) == 0
    assert "all costs add up" in capsys.readouterr().out


def test_statistics_are_those_of_a_naive_reference(tmp_path):
    _, ranks = read(merged(tmp_path, write_job(tmp_path, SEEDS)))
    assert [rank.name for rank in ranks.ranks] == [str(rank) for rank in range(len(SEEDS))]
    assert ranks.ranks[5].host == "node2"
    zero = (0,) * len(EVENTS)
    for index, event in enumerate(EVENTS):
        for key in {key for costs, _ in job() for key in costs}:
            values = [costs.get(key, zero)[index] for costs, _ in job()]
            expect(ranks.lines.get((function(key[0]), "job.c", key[1]), {}), values, event)
        for name in {name for costs, _ in job() for name, _ in costs}:
            values = [
                sum(row[index] for (owner, _), row in costs.items() if owner == name) for costs, _ in job()
            ]
            expect(ranks.functions.get(function(name), {}), values, event)
            if name != MAIN:
                expect(ranks.inclusive.get(function(name), {}), values, event)
                site = CallSite(function(MAIN), function(name), "job.c", 2)
                expect(ranks.calls.get(site, {}), values, event)
        values = [sum(row[index] for row in costs.values()) for costs, _ in job()]
        expect(ranks.inclusive.get(function(MAIN), {}), values, event)
        assert list(ranks.totals[ranks.events.index(event)]) == values


def test_sums_of_events_have_statistics_too(tmp_path):
    _, ranks = read(merged(tmp_path, write_job(tmp_path, SEEDS)))
    reads, writes = EVENTS.index("D1mr"), EVENTS.index("D1mw")
    for name in ("f0", "f5"):
        values = [
            sum(row[reads] + row[writes] for (owner, _), row in costs.items() if owner == name) for costs, _ in job()
        ]
        expect(ranks.functions[function(name)], values, "D1m")
        calls = [calls.get(name, 0) for _, calls in job()]
        expect(ranks.functions[function(name)], calls, "calls")


def test_followed_functions_are_known_in_each_rank(tmp_path):
    _, ranks = read(merged(tmp_path, write_job(tmp_path, SEEDS)))
    place, event = ranks.strips.index("SpLoss1"), EVENTS.index("SpLoss1")
    for name in ("f0", "f5"):
        values = [sum(row[event] for (owner, _), row in costs.items() if owner == name) for costs, _ in job()]
        assert list(ranks.followed[function(name)][place]) == values


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_joined_in_any_way(seed):
    """Rows of ranks, also of none, cut into shares at random."""
    chance = random.Random(seed)
    ranks = chance.randrange(1, 30)
    rows = [chance.choice((None, (1, 2, 0), (0, 0, 0), (5, 0, 3), (chance.randrange(9), 0, 0))) for _ in range(ranks)]
    rows[chance.randrange(ranks)] = (1, 1, 1)
    whole = None
    begin = 0
    while begin < ranks:
        end = chance.randrange(begin + 1, ranks + 1)
        part = None
        for rank in range(begin, end):
            if rows[rank] is None:
                continue
            if part is None:
                part = RankRows(rows[rank], rank - begin, rank - begin + 1)
            else:
                part.add(rows[rank], rank - begin, rank - begin + 1)
        if part is not None:
            part.shift(begin)
            if whole is None:
                whole = part
            else:
                whole.append(part)
        begin = end
    filled = [row or (0, 0, 0) for row in rows]
    assert whole.sums() == tuple(map(sum, zip(*filled)))
    varying = dict(whole.varying(ranks))
    for place, values in enumerate(zip(*filled)):
        if min(values) == max(values):
            assert place not in varying
            continue
        assert varying[place] == (
            sum(values), sum(value * value for value in values), min(values), values.index(min(values)),
            max(values), values.index(max(values)),
        )


def test_the_order_of_files_does_not_matter(tmp_path):
    paths = write_job(tmp_path, SEEDS)
    found = contents(merged(tmp_path, paths))
    for seed in range(3):
        random.Random(seed).shuffle(paths)
        assert contents(merged(tmp_path, paths)) == found


def test_files_without_a_rank_are_in_the_order_of_their_names(tmp_path):
    paths = write_job(tmp_path, SEEDS, with_names=False)
    _, ranks = read(merged(tmp_path, paths))
    assert [rank.name for rank in ranks.ranks] == [f"out.{rank}" for rank in range(len(SEEDS))]


def test_all_files_of_a_rank_are_one(tmp_path):
    paths = write_job(tmp_path, SEEDS[:3])
    part = tmp_path / "out.3x.1"
    part.write_text(rank_text(*rank_costs(9), "desc: Rank: 0", part=2))
    _, ranks = read(merged(tmp_path, [*paths, str(part)]))
    assert len(ranks.ranks) == 3
    first, more = (added(rank_costs(seed)[0].values())[0] for seed in (SEEDS[0], 9))
    assert ranks.totals[ranks.events.index("Ir")][0] == first + more


def test_one_file_is_merged_with_itself_alone(tmp_path):
    _, ranks = read(merged(tmp_path, write_job(tmp_path, [1])))
    assert len(ranks.ranks) == 1 and not ranks.functions


def test_what_cannot_be_read_ends_it(tmp_path, capsys):
    paths = write_job(tmp_path, SEEDS)
    Path(paths[4]).write_text("no profile\n")
    output = str(tmp_path / "all")
    assert refused(capsys, "--merge", "-o", output, *paths) == (
        f"bd_annotate: {paths[4]}: this is not a profile in callgrind or Cachegrind format\n"
    )
    broken = Path(paths[6]).read_text().replace("totals: ", "totals: 1")
    Path(paths[4]).write_text(rank_text(*rank_costs(3), "desc: Rank: 4"))
    Path(paths[6]).write_text(broken)
    assert paths[6] in refused(capsys, "--merge", "-o", output, *paths)
    assert not os.path.exists(output)


def test_what_cannot_be_read_can_be_left_out(tmp_path, capsys):
    paths = write_job(tmp_path, SEEDS)
    Path(paths[0]).write_text("no profile\n")
    Path(paths[6]).write_text(Path(paths[6]).read_text().replace("totals: ", "totals: 1"))
    output = merged(tmp_path, [*paths, str(tmp_path / "absent")], "all", "--skip-unreadable")
    notes = capsys.readouterr().err
    assert notes.count("note:") == 4 and all(path in notes for path in (paths[0], paths[6], "absent"))
    assert notes.endswith("ranks 0,6 are missing: there are ranks 1-5,7-10\n")
    _, ranks = read(output)
    assert [rank.name for rank in ranks.ranks] == ["1", "2", "3", "4", "5", "7", "8", "9", "10"]
    alone = merged(tmp_path, [path for path in paths if path not in (paths[0], paths[6])], "others")
    assert contents(output)[1] == contents(alone)[1]
    assert b"desc: Left out: 3 files" in contents(output)[0]
    assert "no profile" not in refused(
        capsys, "--merge", "--skip-unreadable", "-o", output, paths[0]
    )


def test_wrong_usage_has_a_sentence(tmp_path, capsys):
    paths = write_job(tmp_path, SEEDS[:2])
    output = merged(tmp_path, paths)
    capsys.readouterr()
    assert "needs -o" in refused(capsys, "--merge", *paths)
    assert "is named twice" in refused(capsys, "--merge", "-o", output, paths[0], *paths)
    assert "merged already" in refused(capsys, "--merge", "-o", str(tmp_path / "b"), output, *paths)
    assert "standard input" in refused(capsys, "--merge", "-o", output, "-")
    assert "no regular file" in refused(capsys, "--merge", "-o", str(tmp_path), *paths)
    other = tmp_path / "other"
    other.write_text("version: 1\nevents: Ir\nfn=f\n1 2\ntotals: 2\n")
    assert "has Ir, but" in refused(capsys, "--merge", "-o", output, *paths, str(other))
    other.write_text("version: 1\nevents: Ir\nfn=f\n1 -2\ntotals: -2\n")
    assert "below 0" in refused(capsys, "--merge", "-o", output, str(other))


def test_statistics_of_other_profiles_are_refused(tmp_path, capsys):
    output = merged(tmp_path, write_job(tmp_path, SEEDS[:2]))
    shutil.copy(output, tmp_path / "kept")
    merged(tmp_path, write_job(tmp_path, SEEDS))
    shutil.copy(tmp_path / "kept", output)
    with pytest.raises(Exception, match="is of other profiles than"):
        read(output)


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_any_number_of_processes_writes_the_same(tmp_path, processes):
    paths = write_job(tmp_path, SEEDS)
    alone = contents(merged(tmp_path, paths))
    done = mpi(processes, "--merge", "-o", str(tmp_path / "many"), *paths[::-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"{tmp_path}/many: 11 ranks of 6 hosts from 11 files; bd_annotate --ranks {tmp_path}/many\n"
    )
    assert contents(str(tmp_path / "many")) == alone


def test_more_processes_than_files(tmp_path):
    paths = write_job(tmp_path, SEEDS[:2])
    alone = contents(merged(tmp_path, paths))
    assert mpi(4, "--merge", "-o", str(tmp_path / "many"), *paths).returncode == 0
    assert contents(str(tmp_path / "many")) == alone


@pytest.mark.parametrize("damage", [lambda text: "nothing\n", lambda text: text.replace("totals: ", "totals: 1")])
def test_an_error_of_one_process_ends_all(tmp_path, damage):
    """In the head, which all know of then; and further on, which one finds alone."""
    paths = write_job(tmp_path, SEEDS)
    Path(paths[-1]).write_text(damage(Path(paths[-1]).read_text()))
    done = mpi(3, "--merge", "-o", str(tmp_path / "many"), *paths)
    assert done.returncode != 0
    assert done.stderr.count("bd_annotate: ") == 1 and paths[-1] in done.stderr
    assert not (tmp_path / "many").exists()


def test_skipped_files_do_not_depend_on_processes(tmp_path):
    paths = write_job(tmp_path, SEEDS)
    Path(paths[1]).write_text(Path(paths[1]).read_text().replace("totals: ", "totals: 1"))
    alone = contents(merged(tmp_path, paths, "all", "--skip-unreadable"))
    done = mpi(3, "--merge", "--skip-unreadable", "-o", str(tmp_path / "many"), *paths)
    assert done.returncode == 0 and done.stderr.count("note: ") == 2
    assert contents(str(tmp_path / "many")) == alone


@pytest.mark.parametrize("names", [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
])
def test_many_processes_without_mpi4py_write_nothing(tmp_path, names):
    """As two processes of a launcher whose MPI this Python does not have."""
    paths = write_job(tmp_path, SEEDS[:2])
    (tmp_path / "mpi4py.py").write_text("raise ImportError\n")
    done = [
        subprocess.run(
            [sys.executable, str(ANNOTATE), "--merge", "-o", str(tmp_path / "all"), *paths], capture_output=True,
            text=True, check=False, env={**os.environ, "PYTHONPATH": str(tmp_path), names[0]: "2", names[1]: number},
        ) for number in "01"
    ]
    assert [one.returncode for one in done] == [2, 2]
    assert done[0].stderr.count("\n") == 1 and "need mpi4py" in done[0].stderr
    assert done[1].stderr == ""
    assert not (tmp_path / "all").exists()
