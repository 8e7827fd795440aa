# SPDX-License-Identifier: GPL-2.0-or-later
"""Loops that cannot be one, as the later one needs what the earlier one adds up: by their text, and in the report."""

import json
from pathlib import Path

import pytest
from bdannotate.analyses.misses.loop_needs import _end_of_statement, _parted, needs_result
from bdannotate.analyses.misses.loop_nests import LoopPlace, _Name
from bdannotate.analyses.repairs.fuse import _is_beside, _joined, _without_needs
from bdannotate.cli import main
from bdannotate.model.profile import Function
from test_repairs import made

LOOP = "for (int i = 0; i < n; ++i) "


def needs(first, between, second, is_fortran=False):
    return needs_result(first.split("\n"), between.split("\n"), second.split("\n"), is_fortran)


@pytest.mark.parametrize(("first", "between", "second"), [
    (LOOP + "g += h[i] * v[i][j];", "g = g / h[m];", LOOP + "v[i][j] += g * h[i];"),
    (LOOP + "sum += v[i];", "double mean = sum / n;", LOOP + "d += (v[i] - mean) * (v[i] - mean);"),
    (LOOP + "sum = sum + v[i];", "", LOOP + "v[i] /= sum;"),
    (LOOP + "top = std::max(top, v[i]);", "", LOOP + "{\n  v[i] =\n    v[i] - top;\n}"),
    (LOOP + "if (v[i] > 0) count += 1;", "", "for (int i = 0; i < count; ++i) w[i] = v[i];"),
    (LOOP + "y[row] += a[i] * x[i];", "", LOOP + "x[i] -= y[row];"),
    (LOOP + "self->sum += v[i];", "", LOOP + "v[i] -= self->sum;"),
    (LOOP + "product *= v[i];", "scale = 1; scale *= product;", LOOP + "v[i] *= scale;"),
    ("for x in &v { sum += x; }", "", "for x in &mut v { *x -= sum; }"),
    (LOOP + "s.total += v[i];", "", LOOP + "w[i] = index[s.total] + v[i];"),
])
def test_a_result_that_is_read_is_needed(first, between, second):
    assert needs(first, between, second)


@pytest.mark.parametrize(("first", "between", "second"), [
    (LOOP + "v[i] *= 0.5;", "", LOOP + "v[i] += w[i];"),  # elements, one by one
    (LOOP + "sum += v[i];", "", LOOP + "w[i] = v[i];"),
    (LOOP + "sum += v[i];", "", LOOP + "other += v[i];"),
    (LOOP + "sum += v[i];", "", LOOP + "sum += w[i];"),  # one sum of both
    (LOOP + "sum += v[i];", "keep = sum; sum = 0;", LOOP + "{ sum += w[i]; w[i] = sum; }"),
    (LOOP + "{ double s = v[i]; s += 1; w[i] = s; }", "", LOOP + "{ double s = w[i]; v[i] = s; }"),
    ("for (i = 0; i < n; i += 2) v[i] = 1;", "", "for (i = 0; i < n; i += 2) w[i] = v[i];"),
    ("while (p) { p->sum = 1; p = p->next; }", "p = head;", "while (p) { use(p); p = p->next; }"),
    (LOOP + "sum += v[i];", "", LOOP + "w[i] = v[i]; // not sum"),
    (LOOP + "sum += v[i];", "", LOOP + "w[i] = a.sum + checksum + sums[i];"),
    (LOOP + "if (v[i] <= least) w[i] = least;", "", LOOP + "v[i] = least;"),
    (LOOP + "bins[v[i]] += 1;", "", LOOP + "w[i] = v[i];"),
])
def test_what_is_not_read_or_no_result_is_not(first, between, second):
    assert not needs(first, between, second)


@pytest.mark.parametrize(("first", "between", "second", "expected"), [
    ("let alpha = rho / dot(&p, &q);", "", "axpy(alpha, &p, x);", True),
    ("double next = dot(r, r);", "double beta = next / rho;", "turn(p, beta, r);", True),
    ("next = dot(r,\n    r);", "", LOOP + "p[i] *= next;", True),
    ("double next = dot(r, r);", "", "turn(p, beta, r);", False),
    ("double next = dot(r, r);", "next = 2;", "turn(p, next, r);", False),
    ("subtract(r, alpha, q);", "", "double next = dot(r, r);", False),
    ("each(n, [&](int i) { v[i] += w[i]; });", "", "each(n, [&](int i) { sum += v[i]; });", False),
    ("each(v, [s = 0](auto& one) { one *= s; });", "", "use(s);", False),
])
def test_a_result_of_a_call_is_what_it_is_assigned_to(first, between, second, expected):
    found = needs_result(first.split("\n"), between.split("\n"), second.split("\n"), is_call=True)
    assert found is expected


def test_loops_of_inlined_functions_stand_where_these_are_called():
    dot, axpy = ("a.c", 3), ("a.c", 9)
    first, second, other = (("a.c", 40), dot), (("a.c", 41), axpy), (("a.c", 45),)
    assert _parted(first, second) == (("a.c", 40), ("a.c", 41), False, False)
    assert _parted(first, other) == (("a.c", 40), ("a.c", 45), False, True)
    assert _parted(other, (("a.c", 50),)) == (("a.c", 45), ("a.c", 50), True, True)
    assert _parted(second, first) is None and _parted(other, (("b.c", 50),)) is None and _parted(other, other) is None


@pytest.mark.parametrize(("lines", "start", "end"), [
    (["a = b;", "c = d;"], 1, 1), (["a =", "  b(c,", "  d);", "e = f;"], 1, 3), (["a = b"], 1, 1),
    (["x"] * 50, 1, 1),
])
def test_a_statement_ends_with_a_semicolon_or_not_at_all(lines, start, end):
    assert _end_of_statement(lines, start) == end


def test_loops_are_parted_before_each_that_needs_what_one_in_front_of_it_adds_up():
    """As in conjugate gradients: product, dot, two sums of vectors, dot, direction."""
    needed = {("dot", "add"), ("dot", "subtract"), ("norm", "turn")}
    loops = ["multiply", "dot", "add", "subtract", "norm", "turn"]
    assert _without_needs(loops, lambda one, other: (one, other) in needed or None) == [
        ["multiply", "dot"], ["add", "subtract", "norm"]
    ]
    assert _without_needs(["dot", "add"], lambda one, other: True) == []


def test_loops_are_in_the_order_of_the_source_not_of_the_code():
    """As gcc moves the last of three inlined loops in front of the others."""
    def loop(line, called_at, address):
        return LoopPlace((Function("prog", "a.c", "main"), (_Name("a.c", line, (("a.c", called_at),)),)), address)

    first, second, third = loop(20, 110, 50), loop(10, 120, 70), loop(30, 130, 40)
    assert _is_beside(first, second, {}) and _is_beside(second, third, {}) and not _is_beside(third, first, {})
    assert _joined({(second, third): 0, (first, second): 0}) == [[first, second, third]]


def test_fortran():
    first, second = "do i = 1, n\n  S = s + v(i)\nend do", "do i = 1, n\n  v(i) = v(i) / S\nend do"
    assert needs(first, "", second, is_fortran=True)
    assert not needs(first, "s = 1", second, is_fortran=True)
    unequal, other = "do i = 1, n\n  if (a /= v(i)) w(i) = 1 ! a = a\nend do", "do i = 1, n\n  v(i) = a\nend do"
    assert not needs(unequal, "", other, is_fortran=True)


def first_of(tmp_path, monkeypatch, capsys, source):
    """Of three loops over the same numbers at lines 30 to 32 of prog.c."""
    monkeypatch.chdir(tmp_path)
    for path, data in made("passes")[0].items():
        Path(path).write_bytes(data)
    options = []
    if source:
        folder = tmp_path / "sources"
        folder.mkdir()
        (folder / "prog.c").write_text("\n" * 29 + "\n".join(source) + "\n")
        options = [f"-I{folder}"]
    assert main(["p.out", "--format=json", *options]) == 0
    # They wait for little, so that the first says that nothing is sure to gain.
    repairs = json.loads(capsys.readouterr().out)["repairs"]
    found = next((repair for repair in repairs if repair["remedy"] != "none"), repairs[0])
    assert main(["p.out", *options]) == 0
    return found["remedy"], found["lines"], " ".join(capsys.readouterr().out.split())


def test_loops_that_need_nothing_are_fused(tmp_path, monkeypatch, capsys):
    source = [LOOP + text for text in ("v[i] *= 2;", "v[i] += w[i];", "sum += v[i];")]
    remedy, lines, text = first_of(tmp_path, monkeypatch, capsys, source)
    assert (remedy, lines) == ("fuse", [30, 31, 32])
    assert "unless" not in text


def test_loops_of_which_one_needs_a_sum_are_not(tmp_path, monkeypatch, capsys):
    source = [LOOP + text for text in ("sum += v[i];", "w[i] = sum * v[i];", "v[i] /= sum;")]
    remedy, lines, _ = first_of(tmp_path, monkeypatch, capsys, source)
    assert remedy != "fuse" or 30 not in lines


def test_without_the_source_the_condition_is_said(tmp_path, monkeypatch, capsys):
    remedy, lines, text = first_of(tmp_path, monkeypatch, capsys, None)
    assert (remedy, lines) == ("fuse", [30, 31, 32])
    assert "fuse the loops at prog.c:30, :31 and :32, unless a later one needs the result of an earlier one: L1" in text
