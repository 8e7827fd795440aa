# SPDX-License-Identifier: GPL-2.0-or-later
"""The one description of a page's data, and the types that are made of it. What pages hold is compared with it
wherever a test reads one: see html_pages.py."""

import pathlib
import subprocess
import sys

import pytest
from bdannotate.html import schema
from html_pages import unlike

WEB = pathlib.Path(__file__).resolve().parent.parent / "web"
sys.path.insert(0, str(WEB))
from page_types import typescript  # noqa: E402

HEAD = 3  # of what is made, up to the first empty line


def made(text):
    return typescript(text).splitlines()[HEAD:]


def test_the_types_are_those_of_the_description():
    """After a change: annotate/web/page_types.py >annotate/web/src/schema.ts"""
    printed = subprocess.run([sys.executable, WEB / "page_types.py"], capture_output=True, check=True, encoding="utf-8")
    assert (WEB / "src" / "schema.ts").read_text("utf-8") == printed.stdout


def test_types():
    assert made(
        '''
class A(TypedDict):
    """What it is."""

    one: int  # bytes
    # More of it.
    many: list[str | None]
    words: list[Literal["a", "b"]]
    pairs: list[tuple[str, float]]
    by_name: dict[str, bool] | None


class B(A):
    inner: list[list[A]]
'''
    ) == [
        "", "// What it is.", "export interface A {", "    one: number; // bytes", "    // More of it.",
        "    many: (string | null)[];", '    words: ("a" | "b")[];', "    pairs: [string, number][];",
        "    by_name: Record<string, boolean> | null;", "}", "", "export interface B extends A {",
        "    inner: A[][];", "}",
    ]


def test_constants():
    text = '# Why.\nVERSION = 7\nPlace = tuple[int, int]\nVIEWS = {"one": (), "two": ("a", "b")}\n'
    text += 'TABLES = {"a": Columns(("x",), (), ("self",))}\n'
    assert made(text) == [
        "", "// Why.", "export const version = 7;", "", "export type Place = [number, number];", "",
        "export const views = {", "    one: [],", '    two: ["a", "b"],', "} as const;",
        "export type ViewName = keyof typeof views;", "", "export const tables = {",
        '    a: { own: ["x"], counts: [], kinds: ["self"] },', "} as const;",
        "export type TableName = keyof typeof tables;",
    ]


@pytest.mark.parametrize("text", ["class A(TypedDict):\n    one: set[int]\n", "MOST = {1, 2}\n"])
def test_what_no_type_can_be_made_of_is_said(text):
    with pytest.raises(ValueError, match="line [12]: of .* no (type|value) can be made"):
        typescript(text)


def test_views_are_of_tables():
    assert {table for tables in schema.VIEWS.values() for table in tables} <= set(schema.TABLES)


@pytest.mark.parametrize("table, name, is_one", [
    ("arcs", "caller", True), ("arcs", "calls", True), ("arcs", "before:calls", True), ("arcs", "incl:Ir", True),
    ("arcs", "before:incl:Ir", True), ("arcs", "self:Ir", False), ("arcs", "before:caller", False),
    ("arcs", "incl", False), ("arcs", "incl:", False), ("lines", "calls", False), ("dataBytes", "self:Ir", False),
])
def test_columns(table, name, is_one):
    assert schema.is_column(table, name) == is_one


def test_what_is_not_as_described_is_found():
    good = {"data": {"group": None, "share": 0.5}, "title": "t", "sentences": ["s"]}
    assert unlike(good, schema.OtherData) == ""
    for change in ({"title": None}, {"sentences": "s"}, {"data": {"group": True, "share": 1}}, {"more": 1}):
        assert unlike(good | change, schema.OtherData)
    assert unlike([1, 2], schema.Place) and unlike([1, 2, "3"], schema.Place)
