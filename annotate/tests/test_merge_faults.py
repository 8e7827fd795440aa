# SPDX-License-Identifier: GPL-2.0-or-later
"""--merge: files that do not make up a job, and outputs that would lose some."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from bdannotate.cli import main
from job_profiles import EVENTS, rank_costs, rank_text, write_job
from merging import contents, merged, mpi, read, refused

CACHES = "desc: I1 cache: 32768 B, 64 B, 8-way associative\ndesc: D1 cache: {} B, 64 B, 8-way associative\n" \
    "desc: LL cache: 8388608 B, 64 B, 16-way associative"


def write(path, rank=None, seed=1, head="", **others):
    lines = [f"desc: Rank: {rank}"] if rank is not None else []
    others = {"pid": 1 if rank is None else rank + 1, **others}
    path.write_text(rank_text(*rank_costs(seed), "\n".join([*lines, *([head] if head else [])]), EVENTS, **others))
    return str(path)


def bytes_of(paths):
    return [Path(path).read_bytes() for path in paths]


def notes_of(capsys):
    return [line.removeprefix("bd_annotate: note: ") for line in capsys.readouterr().err.splitlines()]


def other_spelling(path, tmp_path):
    return str(tmp_path / "." / ".." / tmp_path.name / Path(path).name)


def symbolic_link(path, tmp_path):
    (tmp_path / "link").symlink_to(path)
    return str(tmp_path / "link")


def hard_link(path, tmp_path):
    (tmp_path / "link").hardlink_to(path)
    return str(tmp_path / "link")


@pytest.mark.parametrize("named", [lambda path, _: path, other_spelling, symbolic_link, hard_link])
def test_an_input_is_not_the_output(tmp_path, capsys, named):
    paths = write_job(tmp_path, [1, 2, 3])
    output = named(paths[1], tmp_path)
    before = bytes_of(paths)
    assert refused(capsys, "--merge", "-o", output, *paths) == (
        f"bd_annotate: {output} would be written, but is one of the files to merge\n" if output == paths[1] else
        f"bd_annotate: {output} would be written, but is the same file as {paths[1]}, which is to be merged\n"
    )
    assert bytes_of(paths) == before
    assert not list(tmp_path.glob("ranks.*"))


@pytest.mark.parametrize("named", [lambda path, _: path, symbolic_link, hard_link])
def test_an_input_is_not_where_the_statistics_go(tmp_path, capsys, named):
    paths = [write(tmp_path / "ranks.all", 0), write(tmp_path / "b", 1)]
    before = bytes_of(paths)
    (tmp_path / "to").mkdir()
    output = tmp_path / "all" if (beside := named(paths[0], tmp_path)) == paths[0] else tmp_path / "to" / "all"
    if beside != paths[0]:
        os.rename(beside, output.parent / "ranks.all")
    assert "ranks.all would be written, but is" in refused(capsys, "--merge", "-o", str(output), *paths)
    assert bytes_of(paths) == before and not output.exists()


def test_an_input_that_cannot_be_read_is_not_lost_either(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2])
    Path(paths[0]).write_text("precious\n")
    assert "would be written" in refused(capsys, "--merge", "--skip-unreadable", "-o", paths[0], *paths)
    assert Path(paths[0]).read_text() == "precious\n"


def test_the_outputs_are_two_files(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2])
    (tmp_path / "all").write_text("")
    (tmp_path / "ranks.all").symlink_to("all")
    assert "are the same file" in refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["all", "ranks.all"])
def test_an_output_is_a_regular_file(tmp_path, capsys, make, name):
    paths = write_job(tmp_path, [1, 2])
    make(tmp_path / name)
    assert f"{tmp_path / name} is no regular file" in refused(
        capsys, "--merge", "-o", str(tmp_path / "all"), *paths
    )


def test_an_output_without_a_folder_is_refused_before_files_are_read(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2])
    Path(paths[0]).write_text("no profile\n")
    assert refused(capsys, "--merge", "-o", str(tmp_path / "absent" / "all"), *paths) == (
        f"bd_annotate: {tmp_path}/absent/all: there is no folder {tmp_path}/absent\n"
    )


@pytest.mark.parametrize("named", [other_spelling, symbolic_link, hard_link])
def test_a_file_named_twice_in_other_ways_is_refused(tmp_path, capsys, named):
    paths = write_job(tmp_path, [1, 2, 3])
    again = named(paths[1], tmp_path)
    for order in ([*paths, again], [again, *paths]):
        first, second = sorted((paths[1], again), key=order.index)
        assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), *order) == (
            f"bd_annotate: {first} and {second} are the same file\n"
        )
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_not_read(tmp_path, capsys, make):
    paths = write_job(tmp_path, [1, 2])
    other = tmp_path / "other"
    make(other)
    output = str(tmp_path / "all")
    assert refused(capsys, "--merge", "-o", output, *paths, str(other)) == (
        f"bd_annotate: {other} is no regular file\n"
    )
    merged(tmp_path, [*paths, str(other)], "all", "--skip-unreadable")
    assert notes_of(capsys) == [f"{other} is no regular file"]
    assert main(["--merge", "-o", output, *paths, str(tmp_path / "absent")]) == 2
    assert "absent: No such file" in capsys.readouterr().err


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm")
def test_files_in_memory_are_read(tmp_path):
    """Where jobs of a cluster keep what is of one node."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        merged(tmp_path, write_job(Path(folder), [1, 2]))


def test_other_caches_are_refused(tmp_path, capsys):
    paths = [
        write(tmp_path / f"out.{rank}", rank, head=CACHES.format(49152 if rank == 2 else 32768)) for rank in range(4)
    ]
    sentence = (
        f"{paths[2]} has other caches than {paths[0]}: D1 cache 49152 B, 64 B, 8-way associative instead of "
        "32768 B, 64 B, 8-way associative"
    )
    assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths) == f"bd_annotate: {sentence}\n"
    output = merged(tmp_path, paths, "all", "--skip-unreadable")
    assert notes_of(capsys) == [sentence, "rank 2 is missing: there are ranks 0,1,3"]
    assert b"desc: Left out: 1 file that could not be read or merged" in contents(output)[0]
    others = merged(tmp_path, [path for path in paths if path != paths[2]], "others")
    assert contents(others)[1] == contents(output)[1]


def test_the_caches_of_most_files_are_the_right_ones(tmp_path, capsys):
    heads = [CACHES.format(49152), CACHES.format(32768), CACHES.format(32768), "desc: Options: --cache-sim=no"]
    paths = [write(tmp_path / f"out.{rank}", rank, head=head) for rank, head in enumerate(heads)]
    _, ranks = read(merged(tmp_path, paths, "all", "--skip-unreadable"))
    assert [rank.name for rank in ranks.ranks] == ["1", "2"]
    notes = notes_of(capsys)
    assert notes[0].startswith(f"{paths[0]} has other caches than {paths[1]}: D1 cache 49152 B")
    assert notes[1].startswith(f"{paths[3]} has other caches than {paths[1]}: no I1 cache instead of 32768 B")


def test_spaces_make_no_other_caches(tmp_path, capsys):
    heads = [CACHES.format(32768), CACHES.format(32768).replace("cache: ", "cache:         ")]
    merged(tmp_path, [write(tmp_path / f"out.{rank}", rank, head=head) for rank, head in enumerate(heads)])
    assert notes_of(capsys) == []


def test_other_programs_are_noted(tmp_path, capsys):
    commands = ["./job in.0", "./job in.1", "./server --port=7", "./job", "./io"]
    paths = [write(tmp_path / f"out.{rank}", rank, command=command) for rank, command in enumerate(commands)]
    merged(tmp_path, paths)
    assert notes_of(capsys) == ["not all ranks ran the same program: ./job (0,1,3), ./server (2), ./io (4)"]
    merged(tmp_path, paths[:2])
    assert notes_of(capsys) == []


def test_many_programs_are_counted(tmp_path, capsys):
    paths = [write(tmp_path / f"out.{rank}", rank, command=f"./job{rank}") for rank in range(9)]
    merged(tmp_path, paths)
    assert notes_of(capsys) == [
        "not all ranks ran the same program: ./job0 (0), ./job1 (1), ./job2 (2), ./job3 (3) and 5 more"
    ]


def test_programs_that_all_ranks_run_are_not_noted(tmp_path, capsys):
    """A shell and what it starts, of each rank."""
    paths = [
        write(tmp_path / f"{name}.{rank}", rank, command=f"./{name}", pid=pid)
        for rank in range(3) for pid, name in enumerate(("shell", "job"))
    ]
    merged(tmp_path, paths)
    assert notes_of(capsys) == []
    merged(tmp_path, paths[:-1])
    assert notes_of(capsys) == [
        "not all ranks ran the same program: ./job and ./shell (0,1), ./shell (2)"
    ]


@pytest.mark.parametrize(("ranks", "sentence"), [
    ([0, 1, 2], ""),
    ([0, 1, 2, 3, 5, 6, 7], "rank 4 is missing: there are ranks 0-3,5-7"),
    ([2, 3, 6], "ranks 0,1,4,5 are missing: there are ranks 2,3,6"),
    ([1], "rank 0 is missing: there is rank 1"),
    ([0, 99_999_999], "ranks 1-99999998 are missing: there are ranks 0,99999999"),
])
def test_missing_ranks_are_noted(tmp_path, capsys, ranks, sentence):
    merged(tmp_path, [write(tmp_path / f"out.{rank}", rank) for rank in ranks])
    assert notes_of(capsys) == ([sentence] if sentence else [])


def test_a_rank_whose_file_is_left_out_is_missing(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2, 3])
    Path(paths[1]).write_text(Path(paths[1]).read_text().replace("totals: ", "totals: 1"))
    merged(tmp_path, paths, "all", "--skip-unreadable")
    assert notes_of(capsys)[1:] == ["rank 1 is missing: there are ranks 0,2"]


def test_all_files_of_a_rank_are_left_out(tmp_path, capsys):
    paths = [write(tmp_path / f"out.{rank}.{part}", rank, part=part) for rank in range(2) for part in range(3)]
    Path(paths[4]).write_text(Path(paths[4]).read_text().replace("totals: ", "totals: 1"))
    output = merged(tmp_path, paths, "all", "--skip-unreadable")
    (note,) = notes_of(capsys)
    assert note.startswith(f"{paths[4]}") and note.endswith("; all 3 files of rank 1 are left out")
    assert b"desc: Left out: 3 files" in contents(output)[0]


def test_copies_of_a_file_are_refused(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2, 3])
    copy = tmp_path / "z.copy"
    shutil.copy(paths[1], copy)
    assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths, str(copy)) == (
        f"bd_annotate: {paths[1]} and {copy} are both part 1 of process 2 of rank 1\n"
    )


def test_copies_of_files_without_a_rank_are_refused(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2, 3], with_names=False)
    copy = tmp_path / "out.1.copy"
    shutil.copy(paths[1], copy)
    assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths, str(copy)) == (
        f"bd_annotate: {paths[1]} and {copy} are both part 1 of process 2\n"
    )


def test_processes_without_a_rank_may_have_the_same_number(tmp_path):
    """On several machines, or each in a container."""
    paths = [write(tmp_path / f"out.{number}", seed=number) for number in range(4)]
    merged(tmp_path, paths)


def test_parts_and_threads_are_no_copies(tmp_path):
    paths = [
        write(tmp_path / f"out.{pid}.{part}-{thread}", 0, pid=pid, part=part, head=f"thread: {thread}")
        for pid in (1, 2) for part in (1, 2) for thread in (1, 2)
    ]
    merged(tmp_path, paths)


def test_copies_are_found_behind_the_first_part_of_a_file(tmp_path, capsys):
    one, two = (Path(write(tmp_path / f"part.{part}", 0, seed=part, part=part)) for part in (1, 2))
    both = tmp_path / "both"
    both.write_text(one.read_text() + two.read_text())
    assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), str(both), str(two)) == (
        f"bd_annotate: {both} and {two} are both part 2 of process 1 of rank 0\n"
    )


def faulty(fault, folder):
    """The names of a job's files and of its output, and what is said of it."""
    paths = write_job(folder, [1, 2, 3, 4])
    output = str(folder / "all")
    if fault == "output":
        output = paths[2]
    elif fault == "link":
        paths.append(symbolic_link(paths[0], folder))
    elif fault == "FIFO":
        os.mkfifo(folder / "fifo")
        paths.append(str(folder / "fifo"))
    elif fault == "caches":
        paths.append(write(folder / "out.last", 9, head=CACHES.format(49152)))
    elif fault == "copy":
        shutil.copy(paths[0], folder / "copy")
        paths.append(str(folder / "copy"))
    elif fault == "all cut off":
        for path in paths:
            Path(path).write_text(Path(path).read_text().replace("totals: ", "totals: 1"))
    elif fault == "name":
        paths.append(paths[0])
    return paths, output


@pytest.mark.parametrize("fault", ["output", "link", "FIFO", "caches", "copy", "all cut off", "name"])
def test_a_fault_ends_all_processes_with_one_sentence(tmp_path, fault):
    paths, output = faulty(fault, tmp_path)
    regular = [path for path in paths if os.path.isfile(path)]
    before = bytes_of(regular)
    done = mpi(3, "--merge", "-o", output, *paths)
    assert done.returncode != 0
    assert done.stderr.count("bd_annotate: ") == 1 and "Traceback" not in done.stderr
    assert bytes_of(regular) == before and not (tmp_path / "all").exists()


def test_notes_do_not_depend_on_processes(tmp_path, capsys):
    paths = write_job(tmp_path, [1, 2, 3, 4, 5, 6])
    Path(paths[1]).write_text(Path(paths[1]).read_text().replace("totals: ", "totals: 1"))
    paths[3] = write(tmp_path / "other", 3, command="./other")
    paths.append(write(tmp_path / "out.last", 9, head=CACHES.format(49152)))
    alone = contents(merged(tmp_path, paths, "alone", "--skip-unreadable"))
    notes = capsys.readouterr().err
    assert len(notes.splitlines()) == 4
    done = mpi(3, "--merge", "--skip-unreadable", "-o", str(tmp_path / "many"), *paths)
    assert done.stderr == notes
    assert contents(str(tmp_path / "many")) == alone


def test_more_processes_than_files_that_can_be_read(tmp_path):
    """Those that have nothing to read are first."""
    paths = write_job(tmp_path, [1])
    Path(paths[0]).write_text(Path(paths[0]).read_text().replace("totals: ", "totals: 1"))
    done = mpi(3, "--merge", "--skip-unreadable", "-o", str(tmp_path / "all"), *paths)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("bd_annotate: ")]
    assert len(said) == 2 and said[0].startswith(f"bd_annotate: note: {paths[0]}")
    assert said[1] == "bd_annotate: none of the files is left"


def test_wrong_usage_is_said_once(tmp_path):
    paths = write_job(tmp_path, [1, 2])
    for arguments in (paths, ["-o", str(tmp_path / "all"), "-"], ["-o", "all", "--mod-funcname=x", *paths]):
        done = mpi(2, "--merge", *arguments)
        assert done.returncode != 0 and done.stderr.count("bd_annotate: ") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_has_a_sentence(tmp_path, capsys, monkeypatch):
    paths = write_job(tmp_path, [1, 2])
    folder = tempfile.gettempdir()
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: open("/dev/full", "r+b"))
    assert refused(capsys, "--merge", "-o", str(tmp_path / "all"), *paths) == (
        f"bd_annotate: a temporary file in {folder}: No space left on device\n"
    )
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(("names", "sentence"), [
    (["out.2.objects"], ""),
    (["sharing.out.2"], "shared lines are not merged, as {0}/out.0 has none beside it"),
    (["sharing.out.0.gz", "paths.out.2"], "shared lines are not merged, as {0}/out.1 has none beside it\n"
                                          "paths are not merged, as {0}/out.0 has none beside it"),
    (["paths.out.0"], "paths are not merged, as {0}/out.1 has none beside it"),
    (["contexts.left"], ""),
])
def test_what_is_not_merged_is_noted(tmp_path, capsys, names, sentence):
    """Of any of the files that are merged, but of no other."""
    paths = [write(tmp_path / f"out.{rank}", rank) for rank in range(3)]
    (tmp_path / "left").write_text("no profile\n")
    for name in names:
        (tmp_path / name).write_text("")
    merged(tmp_path, [*paths, str(tmp_path / "left")], "all", "--skip-unreadable")
    assert notes_of(capsys)[1:] == sentence.format(tmp_path).splitlines()


def test_single_instructions_are_merged_if_all_have_them(tmp_path, capsys):
    paths = [write(tmp_path / f"out.{rank}", rank) for rank in range(2)]
    text = "version: 1\npid: 3\npart: 1\ndesc: Rank: 2\npositions: instr line\nevents: Ir\nfn=f\n0x1 1 2\ntotals: 2\n"
    Path(paths[0]).write_text(text.replace("Rank: 2", "Rank: 0"))
    Path(paths[1]).write_text(text.replace("Rank: 2", "Rank: 1"))
    merged(tmp_path, paths)
    assert notes_of(capsys) == []
    Path(paths[1]).write_text(text.replace("Rank: 2", "Rank: 1").replace("instr ", "").replace("0x1 ", ""))
    merged(tmp_path, paths)
    assert notes_of(capsys) == [f"single instructions are not merged, as {paths[1]} has none"]


SAMPLE = (
    "desc: Sample: bursts of 100000 blocks in 500000, seed 1, margins of 100000; "
    "counted {} of 99 blocks, in 3 bursts"
)


def calls_cost(folder, rank, head, below, self_cost="10 5"):
    """A rank whose only call, of f, costs `below`, but f itself 10 and 5."""
    path = folder / f"out.{rank}"
    path.write_text(
        f"version: 1\npid: {rank}\ncmd: job\npart: 1\ndesc: Rank: {rank}\n{head}\nevents: Ir D1mr\nfn=main\n"
        f"1 0\ncfn=f\ncalls=1 1\n1 {below}\nfn=f\n1 {self_cost}\ntotals: {self_cost}\n"
    )
    return str(path)


def test_sums_of_estimates_may_be_off_by_more(tmp_path, capsys):
    """By one half for each rank, and not by more."""
    for ranks, wrong in ((12, 1), (12, 9)):
        head = SAMPLE.format(7)
        paths = [calls_cost(tmp_path, rank, head, f"{10 + wrong} 5") for rank in range(ranks)]
        output = merged(tmp_path, paths)
        alone, both = (main(["--check", path]) for path in (paths[0], output))
        assert alone == both == (0 if wrong == 1 else 1)
    capsys.readouterr()


def test_what_was_sampled_is_said_of_all_ranks(tmp_path, capsys):
    paths = [calls_cost(tmp_path, rank, SAMPLE.format(rank) if rank else "", "10 5") for rank in range(3)]
    setting = "bursts of 100000 blocks in 500000, seed 1, margins of 100000"
    assert f"desc: Sample: {setting}; in 2 of 3 ranks\n".encode() in contents(merged(tmp_path, paths))[0]
    Path(paths[1]).write_text(Path(paths[1]).read_text().replace("seed 1", "seed 2"))
    assert b"seed 2, margins of 100000, and others; in 2 of 3 ranks\n" in contents(merged(tmp_path, paths))[0]
    assert b"Sample" not in contents(merged(tmp_path, paths[:1]))[0]


def test_ranks_that_were_not_counted_from_the_start_pass_the_check(tmp_path, capsys):
    """What was loaded before is evicted in functions that callers do not account for."""
    paths = [
        calls_cost(tmp_path, rank, "desc: Timerange: Basic block 5 - 10", "10 3") for rank in range(2)
    ]
    assert main(["--check", paths[0], merged(tmp_path, paths)]) == 0


def test_one_host_is_one(tmp_path, capsys):
    merged(tmp_path, write_job(tmp_path, [1, 2]))
    assert "2 ranks of 1 host from 2 files;" in capsys.readouterr().out
    merged(tmp_path, write_job(tmp_path, [1]))
    assert "1 rank of 1 host from 1 file;" in capsys.readouterr().out
    assert main(["--ranks", str(tmp_path / "all")]) == 0
    assert "== 1 rank of 1 host ==" in capsys.readouterr().out
