# SPDX-License-Identifier: GPL-2.0-or-later
"""The rooms of bd_annotate: what each may import, so that none of them knows who uses it."""

import ast
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "bdannotate"

MAY_IMPORT = {
    "model": {"model"},
    "reading": {"reading", "model"},
    "analyses": {"analyses", "model"},
    "views": {"views", "analyses", "model"},
    "exports": {"exports", "model"},
    "html": {"html", "views", "analyses", "model"},
    "merging": {"merging", "exports", "reading", "model"},
    "modes": {
        "modes", "html", "merging", "exports", "views", "analyses", "reading", "model", "options", "pager",
    },
}
ANALYSES = {
    "code": {"code"},
    "data": {"data", "code"},
    "types": {"types", "data", "code"},
    "misses": {"misses", "code"},
    "repairs": {"repairs", "misses", "types", "data", "code"},
    "comparison": {"comparison", "data", "code"},
}
# These stand above all rooms.
TOP = {"__init__", "cli", "options", "pager"}


def imported(path):
    """The modules of the package that a file imports, by their names within it."""
    folder = path.relative_to(PACKAGE).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found = [name[1:] for name in names if name[0] == "bdannotate"]
        elif isinstance(node, ast.ImportFrom):
            below = (node.module or "").split(".") if node.module else []
            if node.level:
                below = [*folder[: len(folder) + 1 - node.level], *below]
            elif below[0] == "bdannotate":
                below = below[1:]
            else:
                continue
            found = [[*below, alias.name] for alias in node.names]
        else:
            continue
        for name in found:
            yield node.lineno, name


def test_imports_never_point_up():
    wrong = []
    seen = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        if room not in MAY_IMPORT:
            continue
        for line, name in imported(path):
            seen.add((room, name[0]))
            if name[0] not in MAY_IMPORT[room]:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {'.'.join(name)}")
    assert wrong == []
    # No room may know more than it needs.
    assert seen == {(room, other) for room, others in MAY_IMPORT.items() for other in others}


def test_rooms_of_analyses_know_only_those_below():
    """The modules beside these rooms stand above all of them."""
    wrong = []
    seen = set()
    for path in sorted((PACKAGE / "analyses").glob("*/*.py")):
        room = path.parent.name
        for line, name in imported(path):
            if name[0] == "analyses":
                seen.add((room, name[1]))
                if name[1] not in ANALYSES[room]:
                    wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {'.'.join(name)}")
    assert wrong == []
    assert seen == {(room, other) for room, others in ANALYSES.items() for other in others}


def test_every_module_has_a_room():
    there = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    assert {path.parts[0] for path in there if len(path.parts) > 1} == set(MAY_IMPORT)
    assert {path.stem for path in there if len(path.parts) == 1} == TOP
