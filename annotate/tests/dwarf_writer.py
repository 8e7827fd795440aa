# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes ELF files with debug information of DWARF 4, by those formats' documents: what no compiler writes, too."""

import struct
import zlib

TAGS = {
    "array": 0x01, "class": 0x02, "member": 0x0D, "pointer": 0x0F, "unit": 0x11, "structure": 0x13,
    "typedef": 0x16, "inlined": 0x1D, "subrange": 0x21, "base": 0x24, "const": 0x26, "subprogram": 0x2E,
    "variable": 0x34, "namespace": 0x39, "lexical": 0x0B,
}
ATTRIBUTES = {
    "name": (0x03, 0x08), "size": (0x0B, 0x0F), "at": (0x38, 0x0F), "type": (0x49, 0x13), "count": (0x37, 0x0F),
    "specification": (0x47, 0x13), "origin": (0x31, 0x13), "location": (0x02, 0x18), "sibling": (0x01, 0x13),
    "language": (0x13, 0x0F), "long_name": (0x03, 0x0E), "signed_size": (0x0B, 0x0D), "block_at": (0x38, 0x0A),
}
COMPRESSED = 0x800


def uleb(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


class Entry:
    """Of debug information. Attributes that refer name another entry."""

    def __init__(self, tag, children=None, **attributes):
        self.tag = tag
        self.children = children
        self.attributes = attributes
        self.offset = 0

    def add(self, *entries):
        self.children = [*(self.children or ()), *entries]
        return self


def debug_sections(entries, abbreviations=b"", repeats=1):
    """.debug_info and .debug_abbrev of one unit, or of so many that are the same; those abbreviations stand
    before the ones that are used."""
    forms, order = {}, []

    def number(entry):
        form = (entry.tag, entry.children is not None, tuple(entry.attributes))
        if form not in forms:
            forms[form] = len(forms) + 1
            order.append(form)
        return forms[form]

    def encoded(entry, at, flat):
        entry.offset = at
        data = uleb(number(entry))
        for key, value in entry.attributes.items():
            form = ATTRIBUTES[key][1]
            if form == 0x08:
                data += value + b"\0"
            elif form == 0x0F:
                data += uleb(value)
            elif form == 0x0D:
                data += uleb(value) if value < 64 else uleb(value)
            elif form == 0x13:
                flat.append((at + len(data), value))
                data += bytes(4)
            elif form == 0x0E:
                data += struct.pack("<I", value)
            elif form == 0x0A:
                data += bytes([len(value)]) + value
            else:
                data += uleb(len(value)) + value
        return data

    flat, data, todo = [], bytearray(), [("entry", Entry("unit", entries, name=b"a.c", language=0x0C))]
    while todo:
        kind, one = todo.pop()
        if kind == "end":
            data += b"\0"
            continue
        data += encoded(one, 11 + len(data), flat)
        if one.children is not None:
            todo.append(("end", None))
            todo += [("entry", child) for child in reversed(one.children)]
    for place, target in flat:
        value = target.offset if isinstance(target, Entry) else target
        data[place - 11 : place - 7] = struct.pack("<I", value)
    info = (struct.pack("<IHIB", 7 + len(data), 4, 0, 8) + data) * repeats
    table = bytearray(abbreviations)
    for index, (tag, has_children, attributes) in enumerate(order, 1):
        table += uleb(index) + uleb(TAGS[tag]) + bytes([has_children])
        for key in attributes:
            table += uleb(ATTRIBUTES[key][0]) + uleb(ATTRIBUTES[key][1])
        table += b"\0\0"
    return {".debug_info": info, ".debug_abbrev": bytes(table) + b"\0"}


def packed(data, stated=None):
    """As a compressed section."""
    return struct.pack("<IIQQ", 1, 0, len(data) if stated is None else stated, 1) + zlib.compress(data, 9)


def elf(sections):
    """sections: data by name, or (data, flags)."""
    names, header, body = b"\0", [bytes(64)], b""
    sections = {**sections, ".shstrtab": b""}
    for name in sections:
        sections[name] = (*(sections[name] if isinstance(sections[name], tuple) else (sections[name], 0)), len(names))
        names += name.encode() + b"\0"
    for name, (data, flags, at) in sections.items():
        data = names if name == ".shstrtab" else data
        kind = 3 if name == ".shstrtab" else 1
        header.append(struct.pack("<IIQQQQIIQQ", at, kind, flags, 0, 64 + len(body), len(data), 0, 0, 1, 0))
        body += data
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    start = struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(header), len(header) - 1
    )
    return ident + start + body + b"".join(header)
