# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds what can be changed in the engine's sources, and writes copies in which each change can be switched on.

All mutants are compiled at once: a comparison `a < b` becomes `bd::mutation::less(N, a, b)`, see mutate.h.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import re

from clang import cindex  # type: ignore
from clang.cindex import Cursor, CursorKind, TypeKind  # type: ignore

FUNCTION_OF_OPERATOR = {
    "<": ("less", "<="),
    "<=": ("less_equal", "<"),
    ">": ("greater", ">="),
    ">=": ("greater_equal", ">"),
    "==": ("equal", "!="),
    "!=": ("not_equal", "=="),
    "+": ("plus", "-"),
    "-": ("minus", "+"),
    "&&": ("", "||"),
    "||": ("", "&&"),
}
FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
}
SCOPES = FUNCTIONS | {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}
INTEGERS = {
    TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.UCHAR,
    TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.SCHAR,
}  # fmt: skip
COMPUTED = {
    CursorKind.STATIC_ASSERT,
    CursorKind.ENUM_DECL,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
    CursorKind.TYPE_ALIAS_DECL,
    CursorKind.TYPE_ALIAS_TEMPLATE_DECL,
}
# No rule of the simulation: they ask the host for memory ahead of time.
HOST_PREFETCH = re.compile(r"host_prefetch|__builtin_prefetch")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change. `function`, `code` and `change` are its name, which other changes of the file leave as it is."""

    id: int
    path: str  # from the folder bdgrind
    line: int
    function: str
    code: str
    change: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.function}: {self.change}: {self.code}"


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A piece of a file that is to be wrapped: before it, in place of an operator in it, behind it."""

    start: int
    end: int
    operator: str  # "": none
    operator_start: int
    function: str
    constant: str  # all uses of one named constant are one mutant


class Source:
    """A file as it is, and where its lines begin. Offsets are in bytes, as clang's are."""

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        self.bytes = (root / path).read_bytes()
        self.lines = [0, *(at.end() for at in re.finditer(rb"\n", self.bytes))]
        self.sites: set[Site] = set()

    def line_of(self, offset: int) -> int:
        return bisect_right(self.lines, offset)

    def text(self, start: int, end: int) -> str:
        return self.bytes[start:end].decode()


class Finder:
    """Collects the sites of all sources under some folders, from any file that includes them."""

    def __init__(self, root: Path, folders: list[str]) -> None:
        self.root = root
        paths = [path for folder in folders for path in sorted((root / folder).glob("*"))]
        paths = [path for path in paths if path.suffix in (".h", ".cpp")]
        self.sources = {str(path): Source(root, str(path.relative_to(root))) for path in paths}

    def parse(self, flags: list[str]) -> None:
        index = cindex.Index.create()
        headers = [source.path for source in self.sources.values() if source.path.endswith(".h")]
        everything = "".join(f'#include "{header}"\n' for header in headers)
        for path in [path for path in self.sources if path.endswith(".cpp")] + [str(self.root / "headers.cpp")]:
            unit = index.parse(
                path,
                args=["-xc++", "-std=c++20", f"-I{self.root}", *flags],
                unsaved_files=[(str(self.root / "headers.cpp"), everything)],
                options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
            )
            errors = [str(message) for message in unit.diagnostics if message.severity >= cindex.Diagnostic.Error]
            if errors:
                raise SystemExit("clang cannot read the sources:\n" + "\n".join(errors))
            self._find(unit)

    def _find(self, unit: cindex.TranslationUnit) -> None:
        macros: dict[str, list[tuple[int, int]]] = {}
        tops = []
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file is None or file.name not in self.sources:
                continue
            if cursor.kind == CursorKind.MACRO_INSTANTIATION:
                macros.setdefault(file.name, []).append((cursor.extent.start.offset, cursor.extent.end.offset))
            elif not cursor.kind.is_preprocessing():
                tops.append(cursor)
        for cursor in tops:
            name = cursor.location.file.name
            self._visit(cursor, None, self.sources[name], sorted(macros.get(name, [])), "")

    def _visit(
        self, cursor: Cursor, parent: Cursor | None, source: Source, macros: list[tuple[int, int]], scope: str
    ) -> None:
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if cursor.kind in SCOPES and cursor.spelling:
            scope = f"{scope}::{cursor.spelling}" if scope else cursor.spelling
        if self._is_left_alone(cursor, source):
            return
        in_macro = any(first <= start and end <= last for first, last in macros)
        if in_macro and cursor.kind.is_expression():
            return
        if cursor.kind.is_expression():
            site = self._site(cursor, parent, source, scope)
            if site is not None:
                source.sites.add(site)
        children = list(cursor.get_children())
        if cursor.kind in (CursorKind.FIELD_DECL, CursorKind.VAR_DECL):
            # Not what stands in its type, nor how many bits it has.
            children = [child for child in children if child.extent.start.offset > cursor.location.offset]
            if cursor.is_bitfield():
                children = children[1:]
        if cursor.kind == CursorKind.IF_STMT and source.bytes[start:].startswith(b"if constexpr"):
            children = children[1:]
        if cursor.kind == CursorKind.CALL_EXPR and source.bytes[start:].startswith(b"__builtin_expect"):
            children = children[:-1]
        for child in children:
            self._visit(child, cursor, source, macros, scope)

    def _is_left_alone(self, cursor: Cursor, source: Source) -> bool:
        """What the compiler computes, and what simulates nothing."""
        if cursor.kind in COMPUTED:
            return True
        if cursor.kind in FUNCTIONS or cursor.kind == CursorKind.CALL_EXPR:
            return HOST_PREFETCH.search(cursor.spelling) is not None
        if cursor.kind == CursorKind.VAR_DECL:
            return is_constexpr(cursor, source)
        return False

    def _site(self, cursor: Cursor, parent: Cursor | None, source: Source, scope: str) -> Site | None:
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if cursor.kind in (CursorKind.INTEGER_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR):
            if not re.match(rb"\d|true|false", source.bytes[start:end]):  # what stands for `= default`
                return None
            is_bound = parent_declares(parent) and re.search(rb"\[\s*$", source.bytes[:start]) is not None
            is_template_argument = source.bytes[start - 1 : start] == b"<" and source.bytes[end : end + 1] == b">"
            if is_bound or is_template_argument:
                return None
            return Site(start, end, "", 0, scope, "")
        if cursor.kind in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR):
            declared = cursor.referenced
            if declared is None or declared.kind != CursorKind.VAR_DECL or declared.location.file is None:
                return None
            where = self.sources.get(declared.location.file.name)
            if where is None or declared.type.get_canonical().kind not in INTEGERS or not is_constexpr(declared, where):
                return None
            return Site(start, end, "", 0, "", f"{where.path} {declared.spelling}")
        operands = operands_of(cursor)
        if operands is None:
            return None
        left, right = operands
        between = source.text(left.extent.end.offset, right.extent.start.offset)
        operator = re.sub(r"//[^\n]*", "", between).strip()
        if operator not in FUNCTION_OF_OPERATOR:
            return None
        at = left.extent.end.offset + len(between[: between.index(operator)].encode())
        return Site(start, end, operator, at, scope, "")


def is_constexpr(declaration: Cursor, source: Source) -> bool:
    line = source.line_of(declaration.extent.start.offset)
    text = source.text(source.lines[line - 1], declaration.location.offset)
    return "constexpr" in text


def parent_declares(parent: Cursor | None) -> bool:
    return parent is not None and parent.kind in (CursorKind.FIELD_DECL, CursorKind.VAR_DECL)


def operands_of(cursor: Cursor) -> tuple[Cursor, Cursor] | None:
    children = list(cursor.get_children())
    if cursor.kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
        return children[0], children[1]
    if cursor.kind == CursorKind.CALL_EXPR and cursor.spelling.startswith("operator") and len(children) == 3:
        return children[0], children[2]
    return None


@dataclass(frozen=True, slots=True)
class MutatedSource:
    path: str
    text: bytes


def number(sources: dict[str, Source]) -> tuple[list[Mutant], list[MutatedSource]]:
    """All mutants, in the order of files and lines, and the files with all of them."""
    mutants: list[Mutant] = []
    constants: dict[str, int] = {}
    files = []
    for source in sources.values():
        edits: list[tuple[int, int, int, bytes, int]] = []  # where, order there, order of those, text, bytes replaced
        for site in sorted(source.sites):
            id = constants.get(site.constant, 0)
            if id == 0:
                id = len(mutants) + 1
                mutants.append(mutant_of(id, site, source))
                if site.constant:
                    constants[site.constant] = id
            edits += edits_of(id, site, source)
        pieces = []
        at = 0
        for where, _, _, text, replaced in sorted(edits):
            pieces += [source.bytes[at:where], text]
            at = where + replaced
        pieces.append(source.bytes[at:])
        files.append(MutatedSource(source.path, b"".join(pieces)))
    return mutants, files


def mutant_of(id: int, site: Site, source: Source) -> Mutant:
    code = " ".join(source.text(site.start, site.end).split())
    if site.constant:
        path, code = site.constant.split(" ")
        return Mutant(id, path, 0, "constant", code, "+1")
    change = f"{site.operator} to {FUNCTION_OF_OPERATOR[site.operator][1]}" if site.operator else "+1"
    if code in ("true", "false"):
        change = "flipped"
    if not site.operator:
        line = source.line_of(site.start)
        code = source.text(source.lines[line - 1], site.start).lstrip() + "[" + code + "]" + (
            source.text(site.end, source.lines[line] if line < len(source.lines) else len(source.bytes)).rstrip()
        )
    return Mutant(id, source.path, source.line_of(site.start), site.function, code, change)


def edits_of(id: int, site: Site, source: Source) -> Iterator[tuple[int, int, int, bytes, int]]:
    if site.operator in ("&&", "||"):
        flipped = f"bd::mutation::flipped({id}) != "
        before = f"({flipped}(({flipped}static_cast<bool>("
        instead = f")) {site.operator} ({flipped}static_cast<bool>("
        behind = "))))"
    else:
        name = FUNCTION_OF_OPERATOR[site.operator][0] if site.operator else "number"
        before, instead, behind = f"bd::mutation::{name}({id}, ", ", ", ")"
    # At one place, what ends there goes before what begins; and what is inside ends first and begins last.
    yield site.start, 1, -site.end, before.encode(), 0
    if site.operator:
        yield site.operator_start, 2, 0, instead.encode(), len(site.operator)
    yield site.end, 0, -site.start, behind.encode(), 0
