# SPDX-License-Identifier: GPL-2.0-or-later
"""What Fortran sources say of the types of what they allocate."""

import shutil
import subprocess

import pytest
from bdannotate.analyses.types.fortran_source import allocated_type, is_fortran
from bdannotate.model.data_types import WantedTypes
from bdannotate.reading.debug_types import read_types

DECLARED = [
    "module particles",
    "  type :: box",
    "    type(particle), allocatable :: inside(:)  ! and not type(other) :: inside",
    "    real(8), allocatable :: weights(:)",
    "  end type",
    "  TYPE ( Particle ), dimension(:), allocatable :: p, q(:)",
    "  type(node), pointer :: head => null()",
    "  class(particle), allocatable :: any",
    "  character(len=:), allocatable :: text",
    "  type(node) :: twice(7)",
    "  integer :: twice",
]


@pytest.mark.parametrize(("line", "found"), [
    ("allocate(p(20000))", ("p", "particle")),
    ("ALLOCATE (P(N), stat=status)", ("p", "particle")),
    ("if (.not. allocated(p)) allocate(p(f(n, 2)), q(n))", ("p", "particle")),
    ("allocate(boxes(i, j)%inside(0:n-1))", ("inside", "particle")),
    ("allocate(head)", ("head", "node")),
    ("allocate(head%next)", None),  # declared elsewhere
    ("allocate(Node :: x(n))", ("x", "node")),
    ("allocate(real(8) :: x(n))", None),
    ("allocate(p(n), head)", None),  # which of them?
    ("allocate(weights(n))", None),
    ("allocate(any)", None),  # a class can be another type
    ("allocate(text)", None),
    ("allocate(twice)", None),
    ("allocate(p(n), &", None),
    ("! allocate(p(n))", None),
    ("deallocate(p)", None),
    ("p = [p, q]", None),
    ("allocate()", None),
])
def test_what_a_line_allocates(line, found):
    lines = [*DECLARED, line]
    assert allocated_type(lines, len(lines)) == found


def test_which_files_are_fortrans():
    assert all(map(is_fortran, ("/src/a.f90", "/src/A.F90", "b.f", "c.F03", "d.for")))
    assert not any(map(is_fortran, ("a.c", "a.f9", "f90", "a.f90.c")))


def test_types_in_modules_and_programs_are_found(tmp_path, elftools):
    if not shutil.which("gfortran"):
        pytest.skip("gfortran is missing")
    (tmp_path / "a.f90").write_text(
        "module particles\n type particle\n  real(8) :: x\n  character(len=24) :: name\n"
        "  integer(4) :: last(12), more(-1:2)\n end type\nend module\n"
        "program sim\n use particles\n type(particle), allocatable :: p(:)\n"
        " allocate(p(10))\n p(1)%x = 1\n print *, p(1)%x\nend program\n"
    )
    subprocess.run(["gfortran", "-g", "-o", "sim", "a.f90"], cwd=tmp_path, check=True)
    path = str(tmp_path / "sim")
    found = read_types({path: WantedTypes(frozenset({"particle"}))})
    assert found.notes == ()
    (kind,) = found.named[path, "particle"]
    assert (kind.name, kind.size) == ("particles::particle", 96)
    assert [(field.name, field.offset, field.size) for field in kind.fields] == [
        ("x", 0, 8), ("name", 8, 24), ("last[12]", 32, 48), ("more[4]", 80, 16),
    ]
