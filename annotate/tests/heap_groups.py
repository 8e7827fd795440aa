# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of heap blocks, made by hand."""

from bdannotate.model.objects import CodeLine, HeapBlocks, Identity, ObjectGroup, ObjectKind, Site
from bdannotate.model.profile import Function

MAIN = Function("/prog", "/src/main.cpp", "main")


def place(function, line):
    """A line of a function, as one that loads something."""
    return CodeLine(MAIN._replace(name=function), "/src/main.cpp", line)


STEP = place("step", 7)


def heap(places, blocks, allocator="malloc", patterns=()):
    """places: (function, file, line)."""
    functions = [(MAIN._replace(name=name), file, line) for name, file, line in places]
    identity = Identity(
        ObjectKind.HEAP, function=MAIN._replace(name=allocator),
        places=tuple(CodeLine(*place) for place in functions),
    )
    sites = tuple(Site(*place, 0x10 * index) for index, place in enumerate(functions))
    return ObjectGroup(identity, HeapBlocks(1, 1, 0, 1, 1, *blocks), tuple(patterns), (sites,))
