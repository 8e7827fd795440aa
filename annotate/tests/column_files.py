# SPDX-License-Identifier: GPL-2.0-or-later
"""What context trees and files of data objects have in common, by docs/format.md."""

import struct

FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def head(lines):
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def place_lines(functions, more_files=()):
    """The lists of objects, files and functions; and the files in the order of their numbers, where
    0 is no file. functions are (object, file, line, name)."""
    objects = ["", *dict.fromkeys(function[0] for function in functions if function[0])]
    files = (*(function[1] for function in functions), *more_files)
    files = ["", *dict.fromkeys(file for file in files if file)]
    return [
        f"objects: {len(objects) - 1}", *objects[1:], f"files: {len(files) - 1}", *files[1:],
        f"functions: {len(functions)}",
        *(
            f"{objects.index(module)} {files.index(file)} {line} {name}"
            for module, file, line, name in functions
        ),
    ], files


def blocks(rows, size):
    data = b""
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        data += struct.pack("<H", len(block)) + b"".join(map(column, zip(*block)))
    return data + struct.pack("<H", 0)


def column(values):
    """The shortest form of a block's column."""
    if not any(values):
        return b"\x00"
    width = next(width for width in FORMATS if max(values) < 256**width)
    filled = [(at, value) for at, value in enumerate(values) if value]
    if 2 + len(filled) * (2 + width) < width * len(values):
        return (
            struct.pack("<BH", 0x10 | width, len(filled))
            + struct.pack(f"<{len(filled)}H", *(at for at, _ in filled))
            + struct.pack(f"<{len(filled)}{FORMATS[width]}", *(value for _, value in filled))
        )
    return struct.pack(f"<B{len(values)}{FORMATS[width]}", width, *values)
