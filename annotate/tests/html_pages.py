# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as pages, and what is in them."""

import base64
import json
import re
import struct
import zlib

from bdannotate.cli import main

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
        self.facts = json.loads(self.blocks["facts"])
        self.sources = json.loads(self.blocks["sources"]) if "sources" in self.blocks else None

    def table(self, name):
        shape = self.facts["tables"][name]
        columns = {}
        for number, column in enumerate(shape["columns"]):
            data = self.blocks[f"table-{name}-{number}"]
            width, is_float = data[:2]
            size = width * shape["rows"]
            values = "d" if is_float else FORMATS[width]
            columns[column] = struct.unpack(f"<{shape['rows']}{values}", data[8 : 8 + size])
            assert data[8 + size :] == bytes(-size % 8)
        return columns

    def functions(self):
        return [
            (name, self.facts["files"][file], self.facts["objects"][module])
            for name, module, file, *_ in self.facts["functions"]
        ]

    def costs(self, table, prefix):
        columns = self.table(table)
        names = [prefix + event for event in self.facts["events"]]
        return [list(row) for row in zip(*(columns[name] for name in names))]


def report(tmp_path, *arguments):
    path = tmp_path / "report.html"
    assert main([f"--html={path}", *map(str, arguments)]) == 0
    return Page(path)


def json_of(capsys, *arguments):
    capsys.readouterr()
    assert main(["--format=json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)
