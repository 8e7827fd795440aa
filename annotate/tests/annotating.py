# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_annotate in this process: starting Python and loading the package takes longer than most of what is tested,
and so does a copy of this process where page faults are slow. What depends on how Python starts, or on its files, runs
the script instead: encodings, hash seeds, limits, terminals, /dev/stdout."""

import contextlib
import gc
import io
import os
import signal
import subprocess
import threading
import traceback
from unittest import mock

from bdannotate.cli import main

_INTERRUPTED = 130


def bd_annotate(*arguments, stdin=None, cwd=None, environment=None, text=False, timeout=60, check=False):
    """What subprocess.run() gives for the script, with pipes. stdin: bytes, or None for that of this process;
    environment: what is added to this process's; text: output as UTF-8 instead of bytes; timeout: seconds,
    TimeoutExpired behind them; check: CalledProcessError if it fails."""
    # What is written is there at once, also where it ends in an exception.
    streams = [
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors, write_through=True) for errors in ("strict", "backslashreplace")
    ]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        if stdin is not None:
            stack.enter_context(_standard_input(stdin))
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        stack.enter_context(mock.patch.dict(os.environ, environment or {}))
        stack.enter_context(_alarm(arguments, timeout))
        status = _status([os.fsdecode(one) for one in arguments])
    written = [stream.buffer.getvalue() for stream in streams]
    output, errors = (one.decode() if text else one for one in written)
    if status == _INTERRUPTED:
        raise KeyboardInterrupt  # which was meant for the tests
    completed = subprocess.CompletedProcess(arguments, status, output, errors)
    if check:
        completed.check_returncode()
    return completed


def _status(arguments):
    gc.disable()  # as the script does
    try:
        return main(arguments)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        gc.enable()


@contextlib.contextmanager
def _standard_input(data):
    source, target = os.pipe()
    writer = threading.Thread(target=_write, args=(target, data))
    writer.start()
    try:
        with open(source, encoding="utf-8") as file, mock.patch("sys.stdin", file):
            yield
    finally:
        writer.join()


def _write(target, data):
    with contextlib.suppress(BrokenPipeError), open(target, "wb") as file:
        file.write(data)


class _Late(BaseException):
    """Not an Exception, as bd_annotate catches some of these and goes on."""


@contextlib.contextmanager
def _alarm(arguments, seconds):
    def ring(*_):
        raise _Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    except _Late:
        raise subprocess.TimeoutExpired(arguments, seconds) from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
