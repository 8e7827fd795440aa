# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs --merge, in this process and in those of an MPI job, and reads what it has written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bdannotate.cli import main
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


def contents(output):
    folder, name = os.path.split(output)
    return [Path(folder, one).read_bytes() for one in (name, f"ranks.{name}")]


def read(output):
    profile = load(output, Detail.LINES, Renaming())
    return profile, ranks_beside(output, profile)


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


def mpi(processes, *arguments, **environment):
    if not shutil.which("mpirun"):
        pytest.skip("mpirun is missing; on Debian: apt-get install openmpi-bin")
    known = subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True, check=False)
    if known.returncode:
        pytest.skip("mpi4py is missing; on Debian: apt-get install python3-mpi4py")
    return subprocess.run(
        ["mpirun", "-np", str(processes), sys.executable, str(ANNOTATE), *arguments], capture_output=True, text=True,
        check=False, timeout=120, env={**os.environ, **OPEN_MPI, **environment},
    )
