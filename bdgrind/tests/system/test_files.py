# SPDX-License-Identifier: GPL-2.0-or-later
"""Where profiles go: nothing of anybody's is lost, followed or waited for that was not meant."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from harness import BD_ANNOTATE, ENVIRONMENT, GUESTS, SMALL_CACHES, VALGRIND

GUEST = GUESTS / "exit_deep"
GUEST_STATUS = 5
HEAD = "# callgrind format\n"
OLD = "what was there before\n"
ANOTHER_USER = 12345

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="no package helps: only root can make files of other users"
)


def command(*options: str, guest: Sequence[str | Path] = (GUEST,)) -> list[str]:
    return [str(word) for word in (VALGRIND, "--tool=bdgrind", *SMALL_CACHES, *options, *guest)]


def run(
    folder: Path,
    *options: str,
    guest: Sequence[str | Path] = (GUEST,),
    before: str = ":",
    limit: int | None = None,
    fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs in `folder`, after a shell of the same process number has done `before`."""

    def set_limit() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        ["/bin/sh", "-c", f'{before}; exec "$0" "$@"', *command(*options, guest=guest)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=ENVIRONMENT | {"TMPDIR": str(folder)},
        timeout=60,
        preexec_fn=set_limit,
        pass_fds=fds,
        check=False,
    )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def state(folder: Path) -> dict[str, tuple[int, ...]]:
    """Whether anything in it has been made, removed or written to."""
    found = {path.name: path.lstat() for path in folder.iterdir()}
    return {name: (at.st_ino, at.st_mode, at.st_size, at.st_mtime_ns) for name, at in found.items()}


def assert_profile(path: Path) -> None:
    assert path.is_file() and not path.is_symlink()
    text = path.read_text()
    assert text.startswith(HEAD) and "\ntotals: " in text


def test_a_profile_is_its_owners_only(tmp_path: Path) -> None:
    assert run(tmp_path, "--bdgrind-out-file=out").returncode == GUEST_STATUS
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600
    assert names(tmp_path) == {"out"}


def test_an_old_profile_is_replaced_but_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(OLD)
    (tmp_path / "kept").hardlink_to(tmp_path / "out")
    run(tmp_path, "--bdgrind-out-file=out")
    assert_profile(tmp_path / "out")
    assert (tmp_path / "kept").read_text() == OLD


@pytest.mark.parametrize("target", ["target", "folder/target", "other"])
@pytest.mark.parametrize("exists", [True, False])
def test_links_of_the_users_stay_links(exists: bool, target: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "other").symlink_to("folder/target")
    (tmp_path / "out").symlink_to(target)
    if exists:
        (tmp_path / "out").resolve().write_text(OLD)
    run(tmp_path, "--bdgrind-out-file=out")
    assert (tmp_path / "out").is_symlink() and (tmp_path / "other").is_symlink()
    assert_profile((tmp_path / "out").resolve())
    assert names(tmp_path) | {"target"} == {"folder", "other", "out", "target"}


def test_nothing_is_touched_before_there_is_a_profile(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("missing")
    (tmp_path / "file").write_text(OLD)
    before = state(tmp_path)
    for name in ("link", "file", "new"):
        guest = command(f"--bdgrind-out-file={name}", guest=["/bin/cat"])
        pipe = subprocess.PIPE
        with subprocess.Popen(
            guest, cwd=tmp_path, env=ENVIRONMENT, stdin=pipe, stdout=pipe, stderr=pipe
        ) as process:
            assert process.stdin and process.stdout
            process.stdin.write(b"ready\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"ready\n"
            assert state(tmp_path) == before
            process.kill()
    assert state(tmp_path) == before


PLANTS = {
    "link": "ln -s victim",
    "dangling": "ln -s missing",
    "hard link": "ln victim",
    "FIFO": "mkfifo",
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
@pytest.mark.parametrize("where", ["there", "elsewhere"])
def test_what_is_at_names_that_can_be_guessed(where: str, plant: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text(OLD)
    options = ["--bdgrind-out-file=/dev/full"] if where == "elsewhere" else []
    done = run(tmp_path, *options, before=f"{plant} bdgrind.out.$$")
    assert done.returncode == GUEST_STATUS
    assert (tmp_path / "victim").read_text() == OLD
    planted, *others = sorted(names(tmp_path) - {"victim"})
    assert re.fullmatch(r"bdgrind\.out\.\d+", planted)
    if where == "there":
        assert_profile(tmp_path / planted)
        assert others == []
    else:
        assert others == [f"{planted}~1"]
        assert_profile(tmp_path / others[0])
        assert f"The profile is in {tmp_path / others[0]} instead." in done.stderr


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@needs_root
@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/nowhere"), os.mkfifo])
def test_what_others_have_put_where_everybody_may_write(
    make: Callable[[Path], None], open_folder: Path
) -> None:
    make(open_folder / "out")
    os.chown(open_folder / "out", ANOTHER_USER, ANOTHER_USER, follow_symlinks=False)
    done = run(open_folder, "--bdgrind-out-file=out", guest=["/bin/echo", "it ran"])
    assert done.returncode == 1 and "it ran" not in done.stdout
    assert f"could not be written to {open_folder}/out" in done.stderr
    assert "another user has put it there" in done.stderr
    assert names(open_folder) == {"out"}


@needs_root
def test_links_of_the_folders_owner_are_good(open_folder: Path) -> None:
    (open_folder / "out").symlink_to("target")
    os.chown(open_folder / "out", ANOTHER_USER, ANOTHER_USER, follow_symlinks=False)
    os.chown(open_folder, ANOTHER_USER, ANOTHER_USER)
    run(open_folder, "--bdgrind-out-file=out")
    assert_profile(open_folder / "target")


@contextlib.contextmanager
def reader(path: Path) -> Iterator[list[str]]:
    """What comes out of the FIFO, once the block has been left."""
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(path.read_text()), daemon=True)
    thread.start()
    yield texts
    thread.join(60)


PARTS = ["--dump-before=level1"]
STEER: list[str | Path] = [GUESTS / "steer", "a(b)c(d)e", "NO"]


def triggers(text: str) -> list[str]:
    assert text.startswith(HEAD) and text.count(HEAD) == text.count("\ntotals: ")
    return re.findall("^desc: Trigger: (.*)$", text, re.MULTILINE)


EXPECTED_TRIGGERS = ["--dump-before=level1"] * 2 + ["Program termination"]


def test_a_fifo_gets_all_parts(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with reader(tmp_path / "fifo") as texts:
        run(tmp_path, "--bdgrind-out-file=fifo", *PARTS, guest=STEER)
    assert triggers(texts[0]) == EXPECTED_TRIGGERS
    assert names(tmp_path) == {"fifo"} and (tmp_path / "fifo").is_fifo()


def test_a_fifo_that_is_no_longer_read(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: fifo.open().close(), daemon=True)
    thread.start()
    done = run(tmp_path, "--bdgrind-out-file=fifo", *PARTS, guest=STEER)
    assert done.returncode == 0, "the broken pipe is not the guest's"
    assert done.stderr.count("its reader has gone") == 3
    saved = sorted(tmp_path.glob("bdgrind.out.*"), key=lambda path: path.name)
    assert [triggers(path.read_text())[0] for path in saved] == sorted(
        EXPECTED_TRIGGERS, reverse=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_waiting_for_a_reader_can_be_ended(number: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    # What a shell starts in the background ignores SIGINT, and so does what that starts.
    words = ["/usr/bin/env", "--default-signal", *command("--bdgrind-out-file=fifo")]
    with subprocess.Popen(
        words, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE
    ) as process:
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(number)
        try:
            assert process.wait(30) == -number
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_as_it_is(name: str, tmp_path: Path) -> None:
    """A pipe, and behind what is in a file already."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    guest = ["/bin/echo", "hello"]
    done = run(tmp_path, f"--bdgrind-out-file={name}", guest=guest)
    assert done.stdout.startswith("hello\n" + HEAD)
    done = run(tmp_path, f"--bdgrind-out-file={name}", guest=guest, before="exec >file; echo first")
    text = (tmp_path / "file").read_text()
    assert text.startswith("first\nhello\n" + HEAD) and "\ntotals: " in text
    assert names(tmp_path) == {"link", "file"}


def test_a_descriptor_that_the_guest_closes(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        number = file.fileno()
        script = f"exec {number}>&-; echo done"
        name = f"--bdgrind-out-file=/dev/fd/{number}"
        done = run(tmp_path, name, guest=["/bin/bash", "-c", script], fds=[number])
    assert done.stdout == "done\n"
    assert triggers((tmp_path / "out").read_text()) == ["Program termination"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x" * 256, "the name is too long"),
        ("missing/out", "there is no such folder"),
        ("file/out", "part of the path is not a folder"),
        (".", "it is a folder"),
        ("loop", "too many symbolic links"),
        ("to_folder", "it is a folder"),
        ("/dev/fd/77", "no file is open under that number"),
    ],
)
def test_what_is_wrong_is_said_before_the_program_runs(
    name: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text(OLD)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to_folder").symlink_to(".")
    before = names(tmp_path)
    done = run(tmp_path, f"--bdgrind-out-file={name}", guest=["/bin/echo", "it ran"])
    assert done.returncode == 1 and done.stdout == ""
    assert sentence in " ".join(done.stderr.split())
    assert names(tmp_path) == before


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    name = "x" * 255
    assert run(tmp_path, f"--bdgrind-out-file={name}").returncode == GUEST_STATUS
    assert_profile(tmp_path / name)


SMALL_LIMIT = 4096


def test_a_file_that_would_be_too_large(tmp_path: Path) -> None:
    """Neither is the old profile lost, nor does the guest get to know."""
    (tmp_path / "out").write_text(OLD)
    done = run(tmp_path, "--bdgrind-out-file=out", *PARTS, guest=STEER, limit=SMALL_LIMIT)
    assert done.returncode == 1, "the profile is lost, but the guest ends as it does"
    assert "the file would be larger than the limit allows (ulimit -f)" in done.stderr
    assert "terminating" not in done.stderr
    assert (tmp_path / "out").read_text() == OLD
    assert names(tmp_path) == {"out"}


@needs_root
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=32k none {disk} || exit 77; "
        f"printf '{OLD.strip()}' > {disk}/out; "
        f'"$@" --bdgrind-out-file={disk}/out --dump-instr=yes --compress-strings=no {GUEST}; '
        f"ls -A {disk}; cat {disk}/out"
    )
    words = ["unshare", "--mount", "/bin/sh", "-c", script, "sh", *command(guest=())]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"TMPDIR": str(tmp_path)},
        check=False,
    )
    if done.returncode not in (0, GUEST_STATUS):
        pytest.skip("no package helps: no file system can be mounted here")
    assert done.stdout == f"out\n{OLD.strip()}"
    assert f"could not be written to {disk}/out: no space is left on the device" in done.stderr
    (saved,) = tmp_path.glob("bdgrind.out.*")
    assert_profile(saved)


@pytest.mark.parametrize("name", ["there", "not_there"])
def test_combined_parts_where_one_is_too_large(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text(OLD)
    whole = run(tmp_path, "--bdgrind-out-file=whole", "--combine-dumps=yes", *PARTS, guest=STEER)
    assert whole.returncode == 0
    text = (tmp_path / "whole").read_text()
    assert triggers(text) == EXPECTED_TRIGGERS
    begins = [match.start() for match in re.finditer("^" + HEAD, text, re.MULTILINE)]
    limit = begins[1] + 500  # the second does not fit
    options = [f"--bdgrind-out-file={name}", "--combine-dumps=yes", *PARTS]
    done = run(tmp_path, *options, guest=STEER, limit=limit)
    first = (tmp_path / name).read_text()
    assert triggers(first.rstrip("\n") + "\n") == EXPECTED_TRIGGERS[:1]
    assert "ulimit -f" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--bdgrind-out-file=it's here"],
        [*PARTS, "--bdgrind-out-file=out"],
        [*PARTS, "--bdgrind-out-file=out", "--separate-threads=yes"],
        [*PARTS, "--bdgrind-out-file=out", "--combine-dumps=yes"],
    ],
)
def test_the_log_ends_with_the_command_that_reads_all(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "out.pid1").write_text("of another process")
    done = run(tmp_path, *options, guest=STEER)
    *_, caches, command = (
        line.partition("== ")[2] for line in done.stderr.splitlines() if line.startswith("==")
    )
    assert caches == "Caches:   I1 4 KiB 4-way, D1 4 KiB 4-way, LL 256 KiB 8-way; lines of 64 B"
    words = command.removeprefix("Read it:  bd_annotate ")
    read = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" "$1" --totals {words}', sys.executable, str(BD_ANNOTATE)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    (collected,) = re.findall("I   refs: +([0-9,]+)", done.stderr)
    assert re.search(rf"^ *{collected}  Ir ", read.stdout, re.MULTILINE)


def test_the_log_ends_with_ten_lines(tmp_path: Path) -> None:
    done = run(tmp_path, "--why=yes", "--objects=yes", "--context-tree=yes", guest=STEER)
    lines = [line.partition("== ")[2] for line in done.stderr.splitlines() if line.startswith("==")]
    begin = next(number for number, line in enumerate(lines) if line.startswith("I   refs"))
    assert len([line for line in lines[begin:] if line]) == 10
    assert [line for line in lines[:begin] if line][-1].startswith("Command: ")


@pytest.mark.parametrize("options", [["-q"], ["--bdgrind-out-file=/dev/null"]])
def test_there_is_no_command_where_none_is_wanted_or_works(
    options: list[str], tmp_path: Path
) -> None:
    done = run(tmp_path, *options)
    assert "Read it:" not in done.stderr
    assert ("Caches:" in done.stderr) == ("-q" not in options)


def test_a_recorded_trace_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(OLD)
    (tmp_path / "kept").hardlink_to(tmp_path / "trace")
    script = "rm trace; ln -s kept trace; i=0; while [ $i -lt 9999 ]; do i=$((i + 1)); done"
    options = ["--record-trace=trace", "--bdgrind-out-file=out"]
    done = run(tmp_path, *options, guest=["/bin/sh", "-c", script])
    assert done.returncode == 0
    assert "it has been removed or replaced. It is incomplete" in done.stderr
    assert (tmp_path / "kept").read_text() == OLD
