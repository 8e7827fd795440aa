# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bd_annotate in a process of its own, a copy of this one: starting Python and loading the package takes longer
than most of what is tested. What depends on how Python starts runs the script instead: encodings, hash seeds, limits,
terminals."""

import contextlib
import gc
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

from bdannotate import modes
from bdannotate.cli import main

# Each copy has what main() would load.
for mode in pkgutil.iter_modules(modes.__path__, f"{modes.__name__}."):
    importlib.import_module(mode.name)


def bd_annotate(*arguments, stdin=None, cwd=None, environment=None, text=False, timeout=60):
    """What subprocess.run() gives for the script, which reads and writes pipes. stdin: bytes, or None for that of this
    process; environment: what is added to this process's; text: output as UTF-8 instead of bytes; timeout: seconds,
    TimeoutExpired behind them."""
    pipes = {number: os.pipe() for number in (0, 1, 2) if number or stdin is not None}
    child = os.fork()
    if child == 0:
        _run([os.fsdecode(one) for one in arguments], pipes, cwd, environment or {}, timeout)
    for number, ends in pipes.items():
        os.close(ends[1 if number else 0])
    with ThreadPoolExecutor() as pool:
        if stdin is not None:
            pool.submit(_write, pipes[0][1], stdin)
        written = [pool.submit(_read, pipes[number][0]) for number in (1, 2)]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        raise subprocess.TimeoutExpired(arguments, timeout)
    output, errors = (one.result().decode() if text else one.result() for one in written)
    return subprocess.CompletedProcess(arguments, status, output, errors)


def _write(target, data):
    with contextlib.suppress(BrokenPipeError), open(target, "wb") as file:
        file.write(data)


def _read(source):
    with open(source, "rb") as file:
        return file.read()


def _run(arguments, pipes, cwd, environment, timeout):
    """Does not return: what is behind is the other process's."""
    status = 1
    try:
        signal.alarm(timeout)
        for number, ends in pipes.items():
            os.dup2(ends[1 if number else 0], number)
        for ends in pipes.values():
            os.close(ends[0])
            os.close(ends[1])
        sys.stdin, sys.stdout = open(0), open(1, "w", encoding="utf-8")
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace")
        if cwd is not None:
            os.chdir(cwd)
        os.environ.update(environment)
        gc.disable()
        status = main(arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
