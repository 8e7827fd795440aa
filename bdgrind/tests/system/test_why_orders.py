# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of addresses: what comments of guests say of each line must come true."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from bdannotate.model.why import Depends, Order, ScopeKind, Why
from bdannotate.reading.why import read_why, why_path
from harness import GUESTS, SMALL_CACHES, SOURCE, run_tool

GUEST = SOURCE / "bdgrind" / "tests" / "guest" / "orders.c"
DEPENDS = {"arithmetic": Depends(1), "index": Depends(2), "chain": Depends(3), "pointer": Depends(4)}


def why(folder: Path, program: Path, *options: str) -> Why:
    run = run_tool(folder, [program], [*SMALL_CACHES, "--why=yes", *options])
    path = why_path(str(run.profile_path))
    assert path is not None
    return read_why(path)


def line_of(found: Why, order: Order) -> int:
    place = found.places[order.place]
    return 0 if place is None else place.line


def in_loops(found: Why, line: int, inner: int = 0) -> list[Order]:
    orders = [
        order for order in found.orders or ()
        if line_of(found, order) == line and order.inner == inner and order.scope != 0
    ]
    assert orders, f"line {line} has no accesses in a loop"
    return orders


def steps(order: Order) -> int:
    return order.same + order.near + order.forward + order.backward + order.far


def counts(order: Order) -> tuple[object, ...]:
    """All but the numbers of places and scopes."""
    return order._replace(place=0, scope=0, on=0)


def said(source: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if match := re.search(r"// order: (\S+) (\w+)$", line):
            yield number, match[1], match[2]


def is_as_said(order: Order, expected: str, depends: str) -> bool:
    counts = Counter(
        same=order.same, near=order.near, far=order.far,
        forward=order.forward, backward=order.backward,
    )
    if re.fullmatch(r"-?\d+", expected):
        stride = int(expected)
        kind = "forward" if stride >= 64 else "backward" if stride <= -64 else "near"
        is_in_order = order.strides[:1] == ((stride, steps(order)),) and order.runs * 20 < steps(order)
    else:
        kind = expected
        is_in_order = True
    return (
        is_in_order and counts[kind] >= 0.9 * steps(order) > 100
        and order.depends == DEPENDS[depends] and order.weight >= 0.75 * order.accesses
    )


def check_line(found: Why, line: int, expected: str, depends: str) -> None:
    """One of the accesses of the line is like that; there may be others, of what it is computed from."""
    orders = in_loops(found, line)
    assert any(is_as_said(order, expected, depends) for order in orders), orders


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Why:
    return why(tmp_path_factory.mktemp("orders"), GUESTS / "orders")


@pytest.mark.parametrize(("line", "expected", "depends"), said(GUEST))
def test_each_line_as_its_comment_says(found: Why, line: int, expected: str, depends: str) -> None:
    check_line(found, line, expected, depends)


def line_with(text: str) -> int:
    (number,) = (i for i, line in enumerate(GUEST.read_text().splitlines(), 1) if text in line)
    return number


def test_the_loop_around_sees_the_other_stride(found: Why) -> None:
    order = max(in_loops(found, line_with("matrix[i][j];"), inner=1), key=lambda one: one.accesses)
    assert order.strides[0][0] == 8 and order.near >= 0.9 * steps(order)
    scope = found.scopes[order.scope]
    assert scope.kind == ScopeKind.LOOP


def test_blocks_out_of_line_do_not_end_the_loops_that_they_belong_to(found: Why) -> None:
    line = line_with("// along columns")
    inner = max(in_loops(found, line), key=lambda one: one.accesses)
    assert inner.strides[0] == (768, inner.strides[0][1]) and inner.strides[0][1] >= 0.8 * steps(inner)
    around = max(in_loops(found, line, inner=1), key=lambda one: one.accesses)
    assert around.strides[0][0] == 8 and around.near >= 0.9 * steps(around)


def test_records_lie_in_two_lines(found: Why) -> None:
    """Every fourth of those 48 bytes lies in two lines, and these lines are every third one."""
    order = max(in_loops(found, line_with("from[i].value")), key=lambda one: one.accesses)
    assert order.straddle_line == pytest.approx(order.accesses / 4, rel=0.02)
    assert order.straddle_page == pytest.approx(order.straddle_line / 64, rel=0.2)


def test_what_was_loaded_by_whom(found: Why) -> None:
    order = max(in_loops(found, line_with("sum += from[  //")), key=lambda one: one.accesses)
    on = found.places[order.on]
    assert on is not None and on.line == line_with("index[i]];")


def test_a_short_run_is_looked_at_whole(found: Why) -> None:
    assert found.order_sample.seen == found.order_sample.of > 100_000


def test_another_thread_and_the_same_again(tmp_path: Path, found: Why) -> None:
    """What is done before main() depends on the names of files; the guest's own orders do not."""
    again = why(tmp_path, GUESTS / "orders", "--engine-threads=0")
    for line, _, _ in said(GUEST):
        assert [counts(order) for order in in_loops(again, line)] == [
            counts(order) for order in in_loops(found, line)
        ]


FORTRAN = """\
program orders
  implicit none
  real(8), allocatable :: a(:,:)
  integer, allocatable :: idx(:)
  real(8) :: total
  integer :: i, j
  allocate(a(200, 200), idx(200))
  a = 1
  do i = 1, 200
    idx(i) = mod(i * 77, 200) + 1
  end do
  total = 0
  do i = 1, 200
    do j = 1, 200
      total = total + a(i, j)
    end do
  end do
  do j = 1, 200
    do i = 1, 200
      total = total + a(idx(i), j)
    end do
  end do
  print *, total
end program
"""


def test_fortran(tmp_path: Path) -> None:
    if not shutil.which("gfortran"):
        pytest.skip("gfortran is missing")
    (tmp_path / "orders.f90").write_text(FORTRAN)
    # gfortran would exchange the loops.
    flags = ["-g", "-O2", "-fno-frontend-optimize", "-fno-loop-interchange"]
    subprocess.run(["gfortran", *flags, "-o", "orders", "orders.f90"], check=True, cwd=tmp_path)
    by_line = why(tmp_path, tmp_path / "orders")
    row = next(i for i, line in enumerate(FORTRAN.splitlines(), 1) if "a(i, j)" in line)
    check_line(by_line, row, "1600", "arithmetic")
    around = max(in_loops(by_line, row, inner=1), key=lambda one: one.accesses)
    assert around.strides[0][0] == 8
    indexed = next(i for i, line in enumerate(FORTRAN.splitlines(), 1) if "idx(i), j" in line)
    assert any(order.depends == Depends(2) for order in in_loops(by_line, indexed))
