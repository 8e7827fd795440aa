# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that allocate for all others."""

import pytest
from bdannotate.analyses.data.objects import DataUse, GroupRow
from bdannotate.analyses.data.wrappers import wrappers
from heap_groups import heap

X = ("take", "/src/util.c", 20)


def entry(places, unused):
    return GroupRow(heap(places, (8, 8, 8)), (), DataUse(2 * unused, unused, 1, 1, 1))


def by(name, line=5):
    return (name, f"/src/{name}.c", line)


def found(*entries):
    return [(one.function, one.line, one.callers, round(100 * one.share), one.patterns) for one in wrappers(entries)]


def test_a_place_behind_many_is_a_wrapper():
    entries = [entry([X, by(name)], 100) for name in ("parse", "lex", "link")] + [entry([by("other")], 100)]
    assert found(*entries) == [("take", 20, 3, 75, ("take",))]


def test_one_that_allocates_for_two_is_none():
    assert found(*(entry([X, by(name)], 100) for name in ("parse", "lex"))) == []


def test_little_of_the_loss_is_not_worth_an_option():
    entries = [entry([X, by(name)], 10) for name in ("parse", "lex", "link")] + [entry([by("other")], 100)]
    assert found(*entries) == []


def test_a_function_that_calls_itself_allocates_for_itself():
    entries = [entry([("parse'2", "/src/p.c", 3), ("parse", "/src/p.c", line)], 100) for line in (5, 6, 7)]
    assert found(*entries) == []


def test_main_allocates_for_itself():
    entries = [entry([("main", "/src/main.c", 3), by(name)], 100) for name in ("a", "b", "c")]
    assert found(*entries) == []


def test_wrappers_of_wrappers_are_found():
    outer = ("take_copy", "/src/util.c", 40)
    entries = [entry([X, outer, by(name)], 100) for name in ("parse", "lex", "link")]
    entries += [entry([X, by(name)], 10) for name in ("one", "two")]
    assert [one[:2] for one in found(*entries)] == [("take", 20), ("take_copy", 40)]


def test_a_template_is_one_wrapper_whatever_its_arguments():
    entries = [
        entry([(f"vec<pair<{kind}, A<int> > >::grow(int)", "/src/vec.h", 99), by(name)], 100)
        for kind, name in (("int", "parse"), ("A", "lex"), ("B*", "link"))
    ]
    assert found(*entries)[0][3:] == (100, ("vec<*>::grow(int)",))


@pytest.mark.parametrize("line", [0, 20])
def test_without_lines_nothing_is_said(line):
    entries = [entry([("take", "/src/util.c", line), by(name)], 100) for name in ("parse", "lex", "link")]
    assert bool(found(*entries)) == bool(line)


def test_names_that_say_it_need_no_option():
    """The run has passed over them."""
    inner = ("xmalloc", "/src/util.c", 10)
    entries = [entry([inner, by(name)], 100) for name in ("parse", "lex", "link")]
    assert found(*entries) == []
    entries = [entry([inner, X, by(name)], 100) for name in ("parse", "lex", "link")]
    assert [one[:2] for one in found(*entries)] == [("take", 20)]
