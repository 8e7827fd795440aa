# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs work on a file that cannot be trusted in a process of its own, with limits on its time and memory.

The loops of bd_annotate count their steps against bounds; those of libraries do not.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
from collections.abc import Callable
from typing import TypeVar

from ..model.errors import UserError, is_out_of_memory

_SECONDS = 240  # of processor time
_MOST_BYTES = 4 << 30  # beyond the memory of this process
_MOST_ANSWER = 512 << 20

_Result = TypeVar("_Result")


def bounded(work: Callable[[], _Result], what: str) -> _Result:
    """A copy of the result of the work, which must be picklable. UserError, with `what` as its subject: the work raised
    one, failed, or took too much time or memory."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _answer(work, what, target)
    os.close(target)
    with os.fdopen(source, "rb") as answer:
        data = answer.read(_MOST_ANSWER)
    status = os.waitpid(child, 0)[1]
    if status == 0 and data:
        is_good: bool
        is_good, found = pickle.loads(data)
        if is_good:
            result: _Result = found
            return result
        raise UserError(str(found))
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        raise UserError(f"{what} takes longer than {_SECONDS} seconds to read")
    raise UserError(f"{what} makes the reader fail")


def _answer(work: Callable[[], object], what: str, target: int) -> None:
    """Runs in the child: writes the answer to the pipe and exits, without cleaning up what belongs to the parent."""
    status = 1
    try:
        _limit(resource.RLIMIT_CPU, _SECONDS)
        _limit(resource.RLIMIT_DATA, _MOST_BYTES + _own_bytes())
        _limit(resource.RLIMIT_CORE, 0)
        answer: tuple[bool, object]
        try:
            answer = True, work()
        except UserError as error:
            answer = False, str(error)
        except (MemoryError, SystemError) as error:
            if not is_out_of_memory(error):
                raise
            answer = False, f"{what} takes more than {_MOST_BYTES >> 30} GiB of memory to read"
        with os.fdopen(target, "wb") as file:
            pickle.dump(answer, file)
        status = 0
    finally:
        os._exit(status)


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _own_bytes() -> int:
    """The bytes of this process's data and stack."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
