# SPDX-License-Identifier: GPL-2.0-or-later
"""chapters.py CHAPTER...: types what the guide tells the reader to type, and compares what is then to be seen.

A block of a chapter that begins with ```console has commands, each behind `$ ` (and `> ` where it goes on), and below
each what it prints. A line `...` stands for any lines. Commands run one after the other, in a folder with the programs
of the guide and the example, on a terminal of 80 columns. With --show, what each prints is shown in place of that.

Numbers of processes are not compared. Other numbers may differ by a twentieth, as compilers and C libraries do; by
half in blocks that begin with ```console threads, as threads do not run in the same order each time; by a tenth where
```console about says so, as of samples, or of how many functions a C library has. Of a count whose share is 0.0%, only
the share is compared; of the line of all other objects, only its form. A change by 0.0% may be none at all.

Commands are those of the build folder (BDGRIND_BUILD), or, with --installed, those that the shell finds.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent

# So that numbers are the same on every machine; the first chapter says so to the reader.
CACHES = "--bdgrind:I1=32768,8,64 --bdgrind:D1=32768,8,64 --bdgrind:LL=8388608,16,64\n"

TOLERANCES = {"threads": 0.5, "about": 0.1}  # of numbers, by what follows ```console

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Compilers that a chapter may have no use for without; the test skips it then.
COMPILERS = ("cc", "g++", "gfortran", "rustc")


@dataclass
class Command:
    chapter: Path
    line: int
    text: str
    tolerance: float = 0.05  # of numbers
    expected: list[str] = field(default_factory=list)


def commands(chapter: Path) -> Iterator[Command]:
    """In their order."""
    command: Command | None = None
    inside, tolerance = False, 0.0
    for number, line in enumerate(chapter.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if command is not None:
                yield command
            command, inside = None, line.startswith("```console")
            tolerance = TOLERANCES.get(line.removeprefix("```console").strip(), 0.05)
        elif inside and line.startswith("$ "):
            if command is not None:
                yield command
            command = Command(chapter, number, line[2:], tolerance)
        elif inside and command is not None:
            if line.startswith("> ") and not command.expected:
                command.text += "\n" + line[2:]
            else:
                command.expected.append(line)


def prepare(folder: Path, commands_at: tuple[Path, Path] | None) -> None:
    """The programs, and commands by the names that they have when they are installed. commands_at: what to run as
    valgrind, and the folder of bd_annotate; None: what the shell finds."""
    for source in [*(HERE / "programs").iterdir(), *(HERE.parent / "example").glob("*.c")]:
        shutil.copy(source, folder)
    (folder / ".valgrindrc").write_text(CACHES)
    # Valgrind reads only a file that no one else may write.
    (folder / ".valgrindrc").chmod(0o600)
    if commands_at is None:
        return
    valgrind, annotate = commands_at
    programs = folder / ".bin"
    programs.mkdir()
    for name, target in (
        ("valgrind", valgrind), ("bd_annotate", annotate / "bd_annotate"), ("bd_control", annotate / "bd_control")
    ):
        (programs / name).symlink_to(target)


def printed(command: str, folder: Path) -> list[str]:
    """The lines that it writes to a terminal of 80 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    environment = {
        "PATH": f"{folder / '.bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "BD_PAGER": "",
        "NO_COLOR": "1",
        **{name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME") if name in os.environ},
    }
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 1 << 16):
                text += piece
        except OSError:  # the other side is closed
            pass
        os.close(master)
    lines = text.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return [line.rstrip() for line in lines[:-1]] if process.returncode == 0 else [
        *lines, f"(exit status {process.returncode})"]


def plain(line: str) -> str:
    """Without the number of the process, and with one blank where there are more."""
    line = re.sub(r"==\d+==", "==PID==", line)
    line = re.sub(r"(bdgrind\.out\.|pid )\d+", r"\1PID", line)
    # Digits in the picture of an element are tenths, each by itself.
    if picture := re.fullmatch(r"( *\d+ )([:| #+.\d-]+)", line):
        line = picture[1] + re.sub(r"\d", "+", picture[2])
    # A few bytes of a megabyte are what the stack's place decides, and that the environment.
    # Where there are none at all, their share is left out.
    line = re.sub(r"(?<![\d.,])[\d,]+ +0\.0%", "0", line)
    line = re.sub(r"(\S+) -> \S+ \([-+]?0\.0%\)", r"\1 (as before)", line)
    return re.sub(r"[ -]{2,}", "  ", line).rstrip()


def value(number: str) -> float:
    return float(number.replace(",", ""))


def last_digit(number: str) -> float:
    """What one more in its last place is: 1 of a whole number."""
    return 10.0 ** -len(number.partition(".")[2])


def same(wanted: str, got: str, tolerance: float) -> bool:
    wanted, got = plain(wanted), plain(got)
    if re.sub(r"\s+", " ", NUMBER.sub("0", wanted)) != re.sub(r"\s+", " ", NUMBER.sub("0", got)):
        return False
    # What programs have besides is the C library's, of which each release has more or less.
    if wanted.endswith(" others)"):
        return True
    pairs = zip(NUMBER.findall(wanted), NUMBER.findall(got), strict=True)
    return all(
        abs(value(first) - value(second)) <= max(tolerance * value(first), 1.01 * last_digit(first))
        for first, second in pairs
    )


def difference(wanted: list[str], got: list[str], tolerance: float) -> str:
    """Empty, or which line is not there. `...` takes as few lines as possible."""
    place = 0
    skipping = False
    for line in wanted:
        if line == "...":
            skipping = True
            continue
        while skipping and place < len(got) and not same(line, got[place], tolerance):
            place += 1
        if place == len(got) or not same(line, got[place], tolerance):
            there = got[place] if place < len(got) else "(the end)"
            return f"expected: {line}\nprinted:  {there}"
        place, skipping = place + 1, False
    if not skipping and place < len(got):
        return f"expected: (the end)\nprinted:  {got[place]}"
    return ""


def missing(chapter: Path) -> str:
    """A compiler that the chapter needs, and which is not there, or nothing."""
    used = {each.text.split()[0] for each in commands(chapter)}
    return next((name for name in COMPILERS if name in used and shutil.which(name) is None), "")


def check(chapter: Path, folder: Path, show: bool = False) -> list[str]:
    """Types all of a chapter in a prepared folder; what differs, with its place and all that was printed."""
    faults = []
    for command in commands(chapter):
        got = printed(command.text, folder)
        if show:
            print("$ " + command.text.replace("\n", "\n> "), *got, sep="\n")
        elif fault := difference(command.expected, got, command.tolerance):
            faults.append(f"{chapter.name}:{command.line}: {command.text}\n{fault}\n" + "\n".join(got))
    return faults


def main(arguments: list[str]) -> int:
    build = Path(os.environ.get("BDGRIND_BUILD", TOP / "build"))
    commands_at = None if "--installed" in arguments else (build / "vg-in-place", TOP / "annotate")
    show = "--show" in arguments
    faults: list[str] = []
    for name in arguments:
        if name.startswith("--"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder), commands_at)
            faults += check(Path(name), Path(folder), show)
    print(*faults, sep="\n\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
