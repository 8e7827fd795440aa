# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs --merge, in this process and in those of an MPI job, and reads what it has written."""

import os
import pickle
import queue
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from bdannotate.cli import main
from bdannotate.merging.processes import AllKnow
from bdannotate.model.merge import Renaming
from bdannotate.reading.load import load
from bdannotate.reading.parser import Detail
from bdannotate.reading.ranks import ranks_beside

ANNOTATE = Path(__file__).resolve().parent.parent / "bd_annotate"
# By hand, as where there is one launcher; root needs the last two.
OPEN_MPI = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def merged(folder, paths, name="all", *options):
    output = str(folder / name)
    assert main(["--merge", *options, "-o", output, *paths]) == 0
    return output


def contents(output, *prefixes):
    folder, name = os.path.split(output)
    names = name, f"ranks.{name}", *(f"{prefix}.{name}" for prefix in prefixes)
    return [Path(folder, one).read_bytes() for one in names]


def read(output):
    profile = load(output, Detail.LINES, Renaming())
    return profile, ranks_beside(output, profile)


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


class _Thread:
    """One of several processes, as a thread: what it sends is copied, as if it went to another one."""

    def __init__(self, number, size, queues, barrier, shared):
        self.number = number
        self.size = size
        self._queues = queues
        self._barrier = barrier
        self._shared = shared

    def all_of(self, mine):
        self._shared[self.number] = pickle.dumps(mine)
        self._barrier.wait()
        found = [pickle.loads(self._shared[number]) for number in range(self.size)]
        self._barrier.wait()
        return found

    def send(self, to, found):
        self._queues[self.number, to].put(pickle.dumps(found))

    def receive(self, source):
        return pickle.loads(self._queues[source, self.number].get(timeout=60))

    def tell_failure(self):
        pass

    def has_failed(self):
        return False

    def fail_if(self, why):
        if reasons := [reason for reason in self.all_of(why) if reason]:
            raise AllKnow(reasons[0])


def by_threads(monkeypatch, size):
    """From now on, --merge does its work in so many threads, as MPI's processes would, with or without MPI."""
    def with_threads(work):
        queues = {(source, to): queue.Queue() for source in range(size) for to in range(size)}
        barrier, shared = threading.Barrier(size, timeout=60), {}
        with ThreadPoolExecutor(size) as pool:
            done = [pool.submit(work, _Thread(number, size, queues, barrier, shared)) for number in range(size)]
            return [one.result() for one in done][0]

    monkeypatch.setattr("bdannotate.modes.merge.with_processes", with_threads)


@cache
def _has_mpi4py():
    """Asked once, as starting Python takes as long as some tests."""
    return subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0


def mpi(processes, *arguments, **environment):
    if not shutil.which("mpirun"):
        pytest.skip("mpirun is missing; on Debian: apt-get install openmpi-bin")
    if not _has_mpi4py():
        pytest.skip("mpi4py is missing; on Debian: apt-get install python3-mpi4py")
    return subprocess.run(
        ["mpirun", "-np", str(processes), sys.executable, str(ANNOTATE), *arguments], capture_output=True, text=True,
        check=False, timeout=120, env={**os.environ, **OPEN_MPI, **environment},
    )
