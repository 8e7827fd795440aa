# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as pages, and what is in them."""

import base64
import itertools
import json
import re
import struct
import types
import typing
import zlib

from bdannotate.cli import main
from bdannotate.html import schema

FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Page:
    """What is in a report, unpacked by other code than the page's."""

    def __init__(self, path):
        self.text = path.read_text("utf-8")
        found = re.findall(
            r'<script type="application/octet-stream" id="([\w-]+)">([\w+/=]*)</script>', self.text
        )
        self.blocks = {
            name: zlib.decompress(base64.b64decode(data, validate=True)) for name, data in found
        }
        self.known = {}
        self.facts = json.loads(self.blocks["facts"])
        self.sources = json.loads(self.blocks["sources"]) if "sources" in self.blocks else None
        assert not unlike(self.facts, schema.Facts)
        assert not unlike(self.sources or [], list[schema.SourceText])
        for table, shape in self.facts["tables"].items():
            assert all(schema.is_column(table, column) for column in shape["columns"]), table
            assert set(schema.TABLES[table].own) <= set(shape["columns"]), table

    def table(self, name):
        names = self.facts["tables"][name]["columns"]
        return {column: self.column(name, number) for number, column in enumerate(names)}

    def column(self, table, number):
        key = table, number
        if key not in self.known:
            self.known[key] = values_of(
                self.blocks[f"table-{table}-{number}"], self.facts["tables"][table]["rows"],
                lambda other: self.column(table, other), lambda: self.sums(table, number),
            )
        return self.known[key]

    def sums(self, table, number):
        parts, *by = schema.SUMS[table]
        names, others = (self.facts["tables"][one]["columns"] for one in (table, parts))
        found = dict.fromkeys(zip(*(self.column(table, names.index(one)) for one in by)), 0)
        values = self.column(parts, others.index(names[number]))
        for key, value in zip(zip(*(self.column(parts, others.index(one)) for one in by)), values, strict=True):
            found[key] += value
        return tuple(found.values())

    def functions(self):
        return [
            (name, self.facts["files"][file], self.facts["objects"][module])
            for name, module, file, *_ in self.facts["functions"]
        ]

    def costs(self, table, prefix):
        columns = self.table(table)
        names = [prefix + event for event in self.facts["events"]]
        return [list(row) for row in zip(*(columns[name] for name in names))]


def values_of(data, rows, other=None, parts=None):
    """Of a column, read by what html/tables.py says. other: the values of another column of the table, by its number;
    parts: those of this column as sums of another table."""
    width, is_float, form, gaps_width, count = struct.unpack("<BBBBI", data[:8])
    left = data[8:]
    if form == 6:
        assert left == b""
        return parts()
    if form in (4, 5):
        refers = [struct.unpack("<Hh", left[4 * one : 4 * one + 4]) for one in range(gaps_width)]
        others = [other(number) for number, _ in refers]
        rest = values_of(left[4 * gaps_width :], count)
        if form == 5:
            signed = [-(one + 1) // 2 if one % 2 else one // 2 for one in rest]
            return tuple(
                one + sum(weight * column[row] for (_, weight), column in zip(refers, others))
                for row, one in enumerate(signed)
            )
        order = sorted(range(rows), key=lambda row: (not others[0][row], [
            column[row] if others[0][row] else 0 for column in others
        ]))
        found = [0] * rows
        for row, value in zip(order, rest):
            found[row] = value
        return tuple(found)

    def numbers(width, count, code):
        nonlocal left
        planes, left = left[: width * count], left[width * count :]
        data = bytes(planes[byte * count + number] for number in range(count) for byte in range(width))
        return struct.unpack(f"<{count}{code}", data)

    if form == 3:
        gaps, kept = numbers(gaps_width, count, FORMATS[gaps_width]), numbers(width, count, FORMATS[width])
        found = []
        for gap, value in zip(gaps, kept):
            found += [0] * (gap - 1) + [value]
        found += [0] * (rows - len(found))
    else:
        found = list(numbers(width, rows, "d" if is_float else FORMATS[width]))
    limit = 1 << 8 * width
    if form == 1:
        found = [value % limit for value in itertools.accumulate(found)]
    elif form == 2:
        found = [(row - step) % limit for row, step in enumerate(found, 1)]
    assert left == b"" and len(found) == rows and form in range(4)
    return tuple(found)


def unlike(value, kind, where="facts"):
    """Where JSON is not as its description says; empty if it is."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        found = [unlike(value, one, where) for one in inner]
        return "" if "" in found else found[0]
    if origin is typing.Literal:
        return "" if value in inner else where
    if origin is list and isinstance(value, list):
        return "".join(unlike(one, inner[0], f"{where}[{number}]") for number, one in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return "".join(unlike(one, inner[1], f"{where}[{key!r}]") for key, one in value.items())
    if origin is tuple and isinstance(value, list) and len(value) == len(inner):
        return "".join(unlike(one, what, f"{where}[{number}]") for number, (one, what) in enumerate(zip(value, inner)))
    if typing.is_typeddict(kind) and isinstance(value, dict):
        fields = typing.get_type_hints(kind)
        if value.keys() != fields.keys():
            return f"{where}: {sorted(value.keys() ^ fields.keys())}"
        return "".join(unlike(one, fields[key], f"{where}.{key}") for key, one in value.items())
    if kind is float:
        return "" if isinstance(value, (int, float)) and not isinstance(value, bool) else where
    if origin is not None or typing.is_typeddict(kind):
        return where
    return "" if isinstance(value, kind) and isinstance(value, bool) == (kind is bool) else where


def report(tmp_path, *arguments):
    path = tmp_path / "report.html"
    assert main([f"--html={path}", *map(str, arguments)]) == 0
    return Page(path)


def json_of(capsys, *arguments):
    capsys.readouterr()
    assert main(["--format=json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)
