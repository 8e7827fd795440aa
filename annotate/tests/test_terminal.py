# SPDX-License-Identifier: GPL-2.0-or-later
"""What is for people only: colour, the width of the terminal, the progress bar."""

import fcntl
import io
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

from bdannotate.reading import progress

ANNOTATE = pathlib.Path(__file__).resolve().parent.parent
HELPER = ANNOTATE / "tests" / "profiles" / "helper.out"
COLOUR = re.compile(r"\x1b\[\d*m")


def on_terminal(columns, *arguments, **environment):
    """Standard output as a terminal of this width has it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, str(ANNOTATE / "bd_annotate"), str(HELPER), *arguments]
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(command, stdout=slave, env={**clean, **environment}) as process:
        os.close(slave)
        output = b""
        try:
            while block := os.read(master, 65536):
                output += block
        except OSError:  # Linux's end of file
            pass
    os.close(master)
    assert process.returncode == 0
    return output.decode().replace("\r\n", "\n")


def test_colour_on_a_terminal_unless_unwanted():
    assert COLOUR.search(on_terminal(120, BD_PAGER=""))
    assert not COLOUR.search(on_terminal(120, "--color=no", BD_PAGER=""))
    assert not COLOUR.search(on_terminal(120, NO_COLOR="1", BD_PAGER=""))


def test_the_width_of_the_terminal():
    for columns in (60, 200):
        plain = COLOUR.sub("", on_terminal(columns, BD_PAGER=""))
        assert max(map(len, plain.split("\n"))) <= columns
        assert ("acc/line" in plain) == (columns == 200)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_after_a_second_and_removed(monkeypatch):
    clock = [100.0]
    terminal = Terminal()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    bar = progress.Progress("reading x")
    bar.update(10, 100)
    assert terminal.getvalue() == ""
    clock[0] += 1.1
    bar.update(50, 100)
    assert terminal.getvalue() == "\r\x1b[Kreading x [" + "#" * 15 + "-" * 15 + "]  50 %"
    bar.update(51, 100)  # not so soon
    assert "51 %" not in terminal.getvalue()
    bar.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_no_progress_in_a_pipe(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", pipe)
    bar = progress.Progress("reading x")
    monkeypatch.setattr(progress.time, "monotonic", lambda: 1e12)
    bar.update(50, 100)
    bar.clear()
    assert pipe.getvalue() == ""
