# SPDX-License-Identifier: GPL-2.0-or-later
"""The processes that merge profiles: this one alone, or the processes of an MPI job."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn, Protocol, TypeVar

from bdcommon import console
from bdcommon.console import EXIT_ERROR

from ..model.errors import UserError, is_out_of_memory

_Result = TypeVar("_Result")
# Kinds of messages.
_DATA, _FAILURE = range(2)
# How launchers tell each process how many there are, and which one it is: Open MPI, MPICH and Intel MPI, Slurm's
# srun (SLURM_NTASKS is there in batch scripts, too, which are one process).
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


class AllKnow(UserError):
    """An error that all processes have found. The first one prints it, and no process needs to end the others."""


class Processes(Protocol):
    """The processes of a merge. number: that of this process, from 0; size: how many there are."""

    number: int
    size: int

    def all_of(self, mine: Any) -> list[Any]:
        """What each process has passed, in the order of processes. All of them must call it."""

    def send(self, to: int, found: Any) -> None: ...

    def receive(self, source: int) -> Any: ...

    def tell_failure(self) -> None:
        """Tell the other processes of a failure, so that they need not finish what they do alone. All of them must call
        fail_if next."""

    def has_failed(self) -> bool:
        """Whether another process has told of a failure."""

    def fail_if(self, why: str) -> None:
        """Raise an error in all processes if any of them passes a sentence that is not empty."""


class Alone:
    number = 0
    size = 1

    def all_of(self, mine: Any) -> list[Any]:
        return [mine]

    def send(self, to: int, found: Any) -> NoReturn:
        raise AssertionError("there is no other process")

    def receive(self, source: int) -> NoReturn:
        raise AssertionError("there is no other process")

    def tell_failure(self) -> None:
        pass

    def has_failed(self) -> bool:
        return False

    def fail_if(self, why: str) -> None:
        if why:
            raise AllKnow(why)


class _Mpi:
    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.number: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self._told: list[Any] = []  # one for each other process

    def all_of(self, mine: Any) -> list[Any]:
        found: list[Any] = self._communicator.allgather(mine)
        return found

    def send(self, to: int, found: Any) -> None:
        self._communicator.send(found, to, _DATA)

    def receive(self, source: int) -> Any:
        return self._communicator.recv(source=source, tag=_DATA)

    def tell_failure(self) -> None:
        self._told = [
            self._communicator.isend(None, other, _FAILURE) for other in range(self.size) if other != self.number
        ]

    def has_failed(self) -> bool:
        return bool(self._communicator.iprobe(tag=_FAILURE))

    def fail_if(self, why: str) -> None:
        found = self.all_of((why, bool(self._told)))
        for source, (_, has_told) in enumerate(found):
            if has_told and source != self.number:
                self._communicator.recv(source=source, tag=_FAILURE)
        for request in self._told:
            request.wait()
        if reasons := [reason for reason, _ in found if reason]:
            raise AllKnow(reasons[0])


def _launched() -> tuple[int, int]:
    """The number of this process and how many there are, as a launcher states them; 0 of 1 without a launcher."""
    for size, number in _LAUNCHERS:
        sizes, numbers = os.environ.get(size, ""), os.environ.get(number, "")
        if sizes.isascii() and sizes.isdigit() and numbers.isascii() and numbers.isdigit() and int(sizes) > 1:
            return int(numbers), int(sizes)
    return 0, 1


def with_processes(work: Callable[[Processes], _Result]) -> _Result:
    """Do the work in all processes. If it fails in one of them, all end."""
    number, size = _launched()
    if size == 1:
        return work(Alone())
    try:
        # By its name, as the types of Python code are checked where it is not installed, too.
        mpi: Any = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError):
        if number:
            sys.exit(EXIT_ERROR)  # one of them says it
        raise UserError(
            f"it was started as {size:,} processes, which need mpi4py (python3-mpi4py) to work together: install "
            "it, or start one process"
        ) from None
    world = mpi.COMM_WORLD
    if world.Get_size() != size:
        if number:
            sys.exit(EXIT_ERROR)
        raise UserError(
            f"it was started as {size:,} processes, but mpi4py sees {world.Get_size():,}: its MPI is another one than "
            "the launcher's"
        )
    try:
        return work(_Mpi(world))
    except AllKnow:
        if number:
            sys.exit(EXIT_ERROR)
        raise
    except BaseException as error:
        _say(error)
        world.Abort(EXIT_ERROR)
        raise


def _say(error: BaseException) -> None:
    if isinstance(error, UserError):
        console.say(f"bd_annotate: {error}")
    elif is_out_of_memory(error):
        console.say("bd_annotate: there is not enough memory for so large a profile")
    elif isinstance(error, KeyboardInterrupt):
        console.say("bd_annotate: interrupted")
    else:
        console.say(f"bd_annotate: {type(error).__name__}: {error}")
    sys.stderr.flush()
