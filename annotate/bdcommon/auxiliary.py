# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of other programs that read untrusted files, with limits for their time, memory and output."""

from __future__ import annotations

import os
import resource
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO

_MOST_MEMORY = 4 << 30  # bytes of private memory; mapped files do not count
_MOST_OUTPUT = 256 << 20
_WRITTEN = 4096  # bytes that an empty pipe has room for on every system


class ToolError(Exception):
    """Why a program gave no answer, as the end of a sentence."""


def answer_of(command: Sequence[str], text: str, seconds: int) -> str:
    """The output of a command for a text on its standard input. Bytes that are not UTF-8 become surrogates. Raises
    ToolError if it fails or exceeds a limit."""
    try:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as given:
            given.write(text.encode("utf-8", "surrogateescape"))
            given.seek(0)
            status = _status_of(command, given, output, seconds)
            if output.seek(0, 2) >= _MOST_OUTPUT:
                raise ToolError(f"it said more than {_MOST_OUTPUT >> 20} MiB")
            if status:
                raise ToolError(f"it ended with status {status}")
            output.seek(0)
            return output.read().decode("utf-8", "surrogateescape")
    except subprocess.TimeoutExpired:
        raise ToolError(f"it took longer than {seconds:,} seconds") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _as_tool_error(error) from None


class Dialog:
    """A command that answers each line on its standard input at once, with text that ends with an empty line. It keeps
    what it has read for the next question."""

    def __init__(self, command: Sequence[str]) -> None:
        """Raises ToolError if the command cannot be run."""
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise _as_tool_error(error) from None
        try:
            _limit(self._process.pid)
        except (OSError, ValueError) as error:
            self.close()
            raise _as_tool_error(error) from None

    def answers(self, lines: Sequence[str], seconds: int) -> str:
        """The answers to some lines, without line ends: fewer if the command ends before. Raises ToolError if it fails
        or exceeds a limit; then it has been closed."""
        try:
            return self._answers([f"{line}\n".encode("utf-8", "surrogateescape") for line in lines], seconds)
        except OSError as error:
            self.close()
            raise _as_tool_error(error) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the command, whatever it is doing."""
        self._process.kill()
        with self._process:
            pass

    def _answers(self, lines: Sequence[bytes], seconds: int) -> str:
        given, output = self._process.stdin, self._process.stdout
        assert given is not None and output is not None
        end = time.monotonic() + seconds

        def wait_for(file: IO[bytes], what: int) -> None:
            poll = select.poll()
            poll.register(file, what)
            if not poll.poll(max(1000 * (end - time.monotonic()), 0)):
                raise ToolError(f"it took longer than {seconds:,} seconds")

        parts: list[bytes] = []
        size = asked = answered = 0
        while asked < len(lines):
            text = b""
            while asked < len(lines) and (not text or len(text) + len(lines[asked]) <= _WRITTEN):
                text += lines[asked]
                asked += 1
            for start in range(0, len(text), _WRITTEN):
                wait_for(given, select.POLLOUT)
                try:
                    given.write(text[start : start + _WRITTEN])
                except BrokenPipeError:
                    break  # it has ended; what it said before is read
            last = b""
            while answered < asked:
                wait_for(output, select.POLLIN)
                part = os.read(output.fileno(), 1 << 16)
                if not part:
                    if status := self._process.wait():
                        raise ToolError(f"it ended with status {status}")
                    return b"".join(parts).decode("utf-8", "surrogateescape")
                # An empty line may lie in two parts.
                answered += (last + part).count(b"\n\n")
                last = b"\n" if part.endswith(b"\n") and not part.endswith(b"\n\n") else b""
                parts.append(part)
                size += len(part)
                if size >= _MOST_OUTPUT:
                    raise ToolError(f"it said more than {_MOST_OUTPUT >> 20} MiB")
            if answered > asked:
                raise ToolError("it gave more answers than it was asked for")
        return b"".join(parts).decode("utf-8", "surrogateescape")


def _as_tool_error(error: Exception) -> ToolError:
    return ToolError((isinstance(error, OSError) and error.strerror) or str(error))


def _status_of(command: Sequence[str], given: IO[bytes], output: IO[bytes], seconds: int) -> int:
    """The exit status of a command. Its limits are set from outside: to run code of ours in the new process, that would
    first have to be a copy of this one, with the page tables of hundreds of megabytes."""
    with subprocess.Popen(command, stdin=given, stdout=output, stderr=subprocess.DEVNULL) as process:
        try:
            _limit(process.pid)
            return _wait(process, seconds)
        except BaseException:
            process.kill()
            raise


def _wait(process: subprocess.Popen[bytes], seconds: int) -> int:
    """The exit status of a process, as soon as it has ended: Popen.wait() with a limit looks every 50 ms."""
    try:
        ended = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # before Linux 5.3, or Python was built for an older one
        return process.wait(seconds)
    try:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        if not poll.poll(1000 * seconds):
            raise subprocess.TimeoutExpired(process.args, seconds)
    finally:
        os.close(ended)
    return process.wait()


def _limit(pid: int) -> None:
    """Limit a process. It ends if it writes a larger file."""
    for what, most in (
        (resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_FSIZE, _MOST_OUTPUT), (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.prlimit(pid, what, (soft, hard))
        except ProcessLookupError:
            return  # the process has ended already
