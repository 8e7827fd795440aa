# SPDX-License-Identifier: GPL-2.0-or-later
"""What was read of large files, kept for the next report."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

from bdannotate.reading import kept as kept_module
from bdannotate.reading.kept import kept

COMMAND = pathlib.Path(__file__).resolve().parent.parent / "bd_annotate"
SMALLEST = 4 << 20
HEAD = "# callgrind format\nversion: 1\nevents: Ir\npositions: line\n"


@pytest.fixture(name="keeping", autouse=True)
def fixture_keeping(monkeypatch, tmp_path):
    monkeypatch.setattr(kept_module, "_on", True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bdgrind"


@pytest.fixture(name="later", autouse=True)
def fixture_later(monkeypatch):
    """Tests cannot set the time at which a file's state changed, so the clock is set forward instead."""
    clock = time.time
    monkeypatch.setattr(kept_module.time, "time", lambda: clock() + 10)


@pytest.fixture(name="file")
def fixture_file(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(SMALLEST))
    return path


class Reader:
    def __init__(self, result="found"):
        self.result = result
        self.times = 0

    def __call__(self):
        self.times += 1
        return self.result


def test_what_was_read_once_is_not_read_again(file):
    reader = Reader({"a": (1, 2)})
    assert [kept(str(file), "kind", reader) for _ in range(3)] == [{"a": (1, 2)}] * 3
    assert reader.times == 1


def test_each_kind_is_read(file):
    assert kept(str(file), "functions", Reader("functions")) == "functions"
    assert kept(str(file), "lines", Reader("lines")) == "lines"


@pytest.mark.parametrize("change", ["longer", "as-long", "replaced"])
def test_what_changed_is_read_again(file, change):
    kept(str(file), "kind", Reader("before"))
    if change == "longer":
        file.write_bytes(bytes(SMALLEST + 1))
    elif change == "as-long":
        file.write_bytes(b"1" * SMALLEST)
    else:
        other = file.with_name("other")
        other.write_bytes(bytes(SMALLEST))
        other.rename(file)
    assert kept(str(file), "kind", Reader("after")) == "after"
    assert kept(str(file), "kind", Reader("later")) == "after"


def test_what_changed_just_now_is_not_kept(file, monkeypatch, keeping):
    monkeypatch.setattr(kept_module.time, "time", lambda: file.stat().st_ctime)
    kept(str(file), "kind", Reader())
    assert not keeping.exists()


def test_what_changes_while_it_is_read_is_not_kept(file, keeping):
    def read():
        file.write_bytes(b"1" * SMALLEST)
        return "half"

    assert kept(str(file), "kind", read) == "half"
    assert not keeping.exists()


def test_small_files_are_read_each_time(file, keeping):
    file.write_bytes(bytes(SMALLEST - 1))
    assert kept(str(file), "kind", Reader()) == "found"
    assert not keeping.exists()


def test_nothing_is_kept_unless_that_is_turned_on(file, keeping, monkeypatch):
    monkeypatch.setattr(kept_module, "_on", False)
    assert kept(str(file), "kind", Reader()) == "found"
    assert not keeping.exists()


def test_errors_are_not_kept(file):
    def fails():
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            kept(str(file), "kind", fails)


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "other"])
def test_damaged_ones_are_read_again(file, keeping, damage):
    kept(str(file), "kind", Reader("x" * 1000))
    (one,) = keeping.iterdir()
    data = bytearray(one.read_bytes())
    if damage == "cut":
        del data[-100:]
    elif damage == "bit":
        data[-100] ^= 1
    elif damage == "empty":
        data.clear()
    else:
        data[:4] = b"????"
    one.write_bytes(data)
    assert kept(str(file), "kind", Reader("again")) == "again"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_may_write_is_not_trusted(file, keeping, what):
    kept(str(file), "kind", Reader("mine"))
    (one,) = keeping.iterdir()
    (one if what == "file" else keeping).chmod(0o777)
    assert kept(str(file), "kind", Reader("read")) == "read"


def test_links_are_not_followed(file, keeping, tmp_path):
    kept(str(file), "kind", Reader("mine"))
    (one,) = keeping.iterdir()
    one.rename(tmp_path / "elsewhere")
    one.symlink_to(tmp_path / "elsewhere")
    assert kept(str(file), "kind", Reader("read")) == "read"


def test_a_folder_that_cannot_be_made_only_costs_time(file, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert kept(str(file), "kind", Reader()) == "found"


def test_without_a_home_nothing_is_kept(file, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr(kept_module.os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert kept(str(file), "kind", Reader()) == "found"
    assert not (tmp_path / "~").exists() and not (tmp_path / "not").exists()


def test_the_oldest_are_dropped(tmp_path, keeping, monkeypatch):
    monkeypatch.setattr(kept_module, "_MOST_BYTES", 25_000)
    monkeypatch.setattr(kept_module, "_MOST_BYTES_OF_ONE", 20_000)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(bytes(SMALLEST))
    for age, path in zip((300, 200), paths):
        kept(str(path), "kind", Reader(path.name * 10_000))
        newest = max(keeping.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        then = time.time() - age
        os.utime(newest, (then, then))
    kept(str(paths[0]), "kind", Reader("not needed"))  # used again, so b is the oldest now
    kept(str(paths[2]), "kind", Reader("c" * 10_000))
    again = {path.name: Reader("again") for path in paths}
    found = {name: kept(str(tmp_path / name), "kind", again[name]) for name in ("a", "c")}
    assert found == {"a": "a" * 10_000, "c": "c" * 10_000}
    assert kept(str(paths[1]), "kind", again["b"]) == "again"


def test_one_that_is_too_large_is_not_kept(file, keeping, monkeypatch):
    monkeypatch.setattr(kept_module, "_MOST_BYTES_OF_ONE", 10)
    kept(str(file), "kind", Reader("x" * 11))
    assert not keeping.exists()


class Interrupts:
    def __reduce__(self):
        raise KeyboardInterrupt


def test_what_is_interrupted_leaves_nothing(file, keeping):
    with pytest.raises(KeyboardInterrupt):
        kept(str(file), "kind", Reader(["x" * 100_000, Interrupts()]))
    assert not keeping.exists()


def test_other_sources_read_again(file, monkeypatch):
    kept(str(file), "kind", Reader("old"))
    monkeypatch.setattr(kept_module, "_sources", lambda: ["changed"])
    assert kept(str(file), "kind", Reader("new")) == "new"


def test_the_command_keeps_and_takes_what_it_kept(tmp_path, keeping):
    profile = tmp_path / "callgrind.out.1"
    lines = "".join(f"+1 {100 + number % 7}\n" for number in range(600_000))
    profile.write_text(f"{HEAD}fn=main\n0 5\n{lines}")
    assert profile.stat().st_size > SMALLEST
    time.sleep(0.2)  # it may be kept a tenth of a second after it was written

    def report(*options):
        done = subprocess.run(
            [sys.executable, COMMAND, "--width=100", *options, profile], capture_output=True, text=True, check=True
        )
        return done.stdout

    plain = report("--keep-read=no")
    assert "main" in plain and not keeping.exists()
    assert report() == plain
    (one,) = keeping.iterdir()
    before = one.stat().st_ino
    assert report() == plain
    assert one.stat().st_ino == before
    profile.write_text(f"{HEAD}fn=other\n0 5\n{lines}")
    assert "other" in report()
