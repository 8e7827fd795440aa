# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of functions as people know them, not as the linker does: without default template arguments, without
symbol versions, and without argument lists that are not needed to distinguish them.

Names may be from untrusted files. A name that cannot be parsed is not changed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..model.profile import Function
from ..model.rust_names import has_rust_hash, unescaped

_VERSION = re.compile(r"@@?[A-Za-z_][\w.]*$")
# The label of code without a name, see `Function.label`. The name of a library may have a version.
_IN_OBJECT = re.compile(r"([^\s()<>]*?)((?:\.\d+)*)(\+0x[0-9a-f]+(?:'\d+)?)")
# The level of recursion, with --separate-recs.
_RECURSION = re.compile(r"(.*)('\d+)", re.DOTALL)
# Variants of a function in the C library, which are chosen by the features of the processor.
_VARIANT = re.compile(r"__((?:mem|str|wcs|wmem)[a-z]*)_(?:sse|ssse|avx|evex|erms)\w*")
# The clones that compilers make of functions, and the suffixes by which GCC and Clang name the code that resumes a
# coroutine.
_CLONES = re.compile(r"(.+?)((?: \[clone [^][]+\])+)", re.DOTALL)
_RESUME = (" [clone .actor]", " [clone .resume]")
_FORTRAN = re.compile(r"__([a-z]\w*?)_MOD_(\w+)")
_FORTRAN_77 = re.compile(r"([a-z][a-z0-9_]*?)__?((?:\.[a-z]\w*(?:\.\d+)?)*(?:'\d+)?)")
_FORTRAN_FILE = re.compile(r"\.f(?:or|tn|pp|77|90|95|03|08|18)?$", re.IGNORECASE)
_RUST_CRATE = re.compile(r"(?<=\w)\[[0-9a-f]{5,16}\](?=::)")
_RUST = re.compile(r"^[<&]|::<|\{closure[#}]|\{impl[#}]|\{\{closure")
_RUST_PATH = re.compile(r"\b(?:\w+::)+(?=\w)")
# The brackets in the names of operators have no counterparts.
_OPERATOR = re.compile(r"\boperator\s*(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>|\(\))")
_OPERATOR_MARK = "\x00"
_INLINE_NAMESPACE = re.compile(r"\bstd::(?:__cxx11|__1|__2|__8)::")
_DEFAULT_ARGUMENT = re.compile(
    r"std::(?:allocator|char_traits|less|equal_to|hash|default_delete"
    r"|pmr::polymorphic_allocator|ranges::less)\s*<"
)
_STRINGS = {
    "basic_string<char>": "string",
    "basic_string_view<char>": "string_view",
    "basic_ostream<char>": "ostream",
    "basic_istream<char>": "istream",
}
_OBJECT_NEEDS = 24  # the address, and enough of the object
_CLOSING = {")": "(", ">": "<"}
_LONGEST = 20_000


def _fortran_name(function: Function) -> str:
    """The name of a function in its Fortran source: compilers append one or two underscores. Empty if it is not from a
    Fortran source."""
    found = _FORTRAN_77.fullmatch(function.name) if _FORTRAN_FILE.search(function.file) else None
    return f"{found[1]}{found[2]}" if found else ""


class Names:
    """Short names, unique within a profile. functions: all of its functions."""

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._alike: dict[str, list[str]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._short: dict[str, str] = {}
        plain: dict[str, str] = {}  # the names in Fortran sources
        names: set[str] = set()
        for function in functions:
            name = function.name
            names.add(name)
            if name[-1:] in "_0123456789" and (found := _fortran_name(function)):
                plain[name] = found
            else:
                self._alike.setdefault(_stem(name), []).append(name)
        self._short.update((name, short) for name, short in plain.items() if short not in names)

    def short(self, name: str) -> str:
        """The short form of a name."""
        known = self._short.get(name)
        if known is None:
            known = self._short[name] = self._choose(name)
        return known

    def label(self, function: Function) -> str:
        """The short name of a function; for code without a name, the object file and the address in it."""
        return function.label if function.is_nameless else self.short(function.name)

    def shown(self, function: Function) -> tuple[str, ...]:
        """The names that a function may have in a report, if they are not cut."""
        label = self.label(function)
        return label, collapsed(label)

    def _choose(self, name: str) -> str:
        bare, with_arguments = _forms(name)
        if bare == with_arguments:
            return bare
        stem = _stem(name)
        if stem not in self._counts:
            others = set(self._alike.get(stem, ()))
            self._counts[stem] = Counter(_forms(other)[0] for other in others)
        return bare if self._counts[stem][bare] <= 1 else with_arguments


def as_called(name: str) -> str:
    """The name by which programs call a function; it differs for variants that the C library chooses."""
    variant = _VARIANT.fullmatch(name)
    return variant[1] if variant else name


def fit(name: str, width: int) -> str:
    """The name in at most `width` characters: template arguments go first, then outer scopes, then the end."""
    if len(name) <= width:
        return name
    if nameless := _IN_OBJECT.fullmatch(name):
        # The address says more than the object file.
        module, _version, address = nameless.groups()
        room = width - len(address)
        return f"{module if len(module) <= room else f'{module[: max(room - 2, 0)]}..'}{address}"
    short = collapsed(name)
    if len(short) <= width:
        return short
    scopes = short.split("::")
    while len(scopes) > 1:
        del scopes[0]
        shorter = "..::" + "::".join(scopes)
        if len(shorter) <= width:
            return shorter
    return short[: max(width - 3, 0)] + "..." if width > 3 else short[: max(width, 0)]


def least_width(name: str) -> int:
    """The width at which fit() keeps the last part of a name complete."""
    if _IN_OBJECT.fullmatch(name):
        return min(len(name), _OBJECT_NEEDS)
    scopes = collapsed(name).split("::")
    return min(len(name), len(scopes[-1]) + (len("..::") if len(scopes) > 1 else 0))


def fit_all(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Each name in at most the given number of characters. Different names that would look the same are cut where they
    differ."""
    found = [fit(name, width) for name, width in zip(names, widths)]
    alike: dict[str, list[int]] = {}
    for index, text in enumerate(found):
        if text != names[index]:
            alike.setdefault(text, []).append(index)
    for indices in alike.values():
        others = {names[index] for index in indices}
        if len(others) < 2:
            continue
        first = len(os.path.commonprefix(sorted(others)))
        for index in indices:
            found[index] = cut_at(names[index], first, widths[index])
    return found


def cut_at(name: str, place: int, width: int) -> str:
    """The name in at most `width` characters: a part of its beginning, and what follows from index `place` on."""
    head = name[: min(place, max(width // 3, 4))]
    start = max(place - 2, len(head))
    tail = name[start:]
    if start == len(head):
        return name if len(name) <= width else name[: max(width - 2, 0)] + ".."
    room = width - len(head) - 2
    return f"{head}..{tail if len(tail) <= room else tail[: max(room - 2, 0)] + '..'}"


def collapsed(name: str) -> str:
    """The name with <..> for all angle brackets and what they contain, unless the name begins with them."""
    text = _OPERATOR.sub(_OPERATOR_MARK, name)
    pieces: list[str] = []
    depth = start = 0
    for index, character in enumerate(text):
        if character == "<" and (depth or index):
            if depth == 0:
                pieces.append(text[start:index] + "<..>")
            depth += 1
        elif character == ">" and depth:
            depth -= 1
            start = index + 1
    short = "".join(pieces) + (text[start:] if depth == 0 else "")
    for operator in _OPERATOR.findall(name):
        short = short.replace(_OPERATOR_MARK, operator, 1)
    return short if _OPERATOR_MARK not in short else name


def _stem(name: str) -> str:
    """The part of a name that is the same in all names that may get the same short form."""
    before = name.partition("(")[0].partition("<")[0]
    return before.rpartition(" ")[2]


def _forms(name: str) -> tuple[str, str]:
    """The name without and with its arguments."""
    if len(name) > _LONGEST or _OPERATOR_MARK in name:
        return name, name
    if recursion := _RECURSION.fullmatch(name):
        bare, with_arguments = _forms(recursion[1])
        return bare + recursion[2], with_arguments + recursion[2]
    if clones := _CLONES.fullmatch(name):
        bare, with_arguments = _forms(clones[1])
        made = " [resume]" if clones[2] in _RESUME else clones[2]
        return bare + made, with_arguments + made
    name = _VERSION.sub("", name) or name
    if fortran := _FORTRAN.fullmatch(name):
        short = f"{fortran[1]}::{fortran[2]}"
        return short, short
    if _is_rust(name):
        short = _rust(name)
        return short, short
    if "(" not in name and "<" not in name:
        short = _INLINE_NAMESPACE.sub("std::", name)
        return short, short
    return _cpp(name)


def _is_rust(name: str) -> bool:
    return has_rust_hash(name) or ("(" not in name and bool(_RUST.search(name)))


def _rust(name: str) -> str:
    """A Rust name in Rust's own syntax. Types in angle brackets have no paths."""
    name = unescaped(_RUST_CRATE.sub("", name)).replace("{{closure}}", "{closure}")
    depth = 0
    start = 0
    pieces: list[str] = []
    for index, character in enumerate(name):
        if character == "<":
            if depth == 0:
                pieces.append(name[start:index])
                start = index
            depth += 1
        elif character == ">" and name[index - 1 : index] != "-":
            depth -= 1
            if depth < 0:
                return name
            if depth == 0:
                pieces.append(_RUST_PATH.sub("", name[start : index + 1]))
                start = index + 1
    return "".join(pieces) + name[start:] if depth == 0 else name


def _cpp(name: str) -> tuple[str, str]:
    operators: list[str] = _OPERATOR.findall(name)
    text = _OPERATOR.sub(_OPERATOR_MARK, name)
    text = _INLINE_NAMESPACE.sub("std::", text).replace("[abi:cxx11]", "")
    text = _without_defaults(text)
    bare = _without_arguments(text)

    def restored(short: str) -> str:
        for operator in operators:
            short = short.replace(_OPERATOR_MARK, operator, 1)
        return short

    return restored(bare), restored(text)


def _without_defaults(text: str) -> str:
    """The name without template arguments that have their default values."""
    stack: list[list[str]] = [[""]]  # the arguments so far, of each bracket that is open
    opened: list[str] = []
    for character in text:
        if character in "(<":
            opened.append(character)
            stack.append([""])
        elif character in ")>":
            if not opened or opened.pop() != _CLOSING[character]:
                return text
            inner = [argument.strip() for argument in stack.pop()]
            if character == ">":
                inner = inner[:1] + [
                    argument for argument in inner[1:] if not _DEFAULT_ARGUMENT.match(argument)
                ]
            joined = f"{_CLOSING[character]}{', '.join(inner)}{character}"
            stack[-1][-1] = _with_alias(stack[-1][-1], joined)
        elif character == "," and opened:
            stack[-1].append("")
        else:
            stack[-1][-1] += character
    return stack[0][0] if len(stack) == 1 else text


def _with_alias(before: str, brackets: str) -> str:
    """A template's name and its arguments, or a typedef of these: std::basic_string<char> is std::string."""
    if brackets == "<char>" and before.endswith(("std::basic_string", "std::basic_string_view",
                                                 "std::basic_ostream", "std::basic_istream")):
        start, _, last = before.rpartition("std::")
        return f"{start}std::{_STRINGS[last + brackets]}"
    return before + brackets


def _without_arguments(text: str) -> str:
    """The name without its argument list, and without the return type that templates have."""
    end = len(text)
    while text[:end].endswith((" const", " &", " &&", " volatile")):
        end = text[:end].rindex(" ")
    if not text[:end].endswith(")"):
        return text
    depth = 0
    for index in range(end - 1, -1, -1):
        if text[index] == ")":
            depth += 1
        elif text[index] == "(":
            depth -= 1
            if depth == 0:
                name = text[:index]
                return _without_return_type(name) if name else text
    return text


def _without_return_type(text: str) -> str:
    """The name after the last space outside of brackets. Spaces in the name of an operator, as in operator new, do not
    count."""
    end = len(text)
    for operator in (_OPERATOR_MARK, "operator "):
        if operator in text:
            end = min(end, text.index(operator))
    depth = 0
    for index in range(end - 1, -1, -1):
        character = text[index]
        if character in ")>":
            depth += 1
        elif character in "(<":
            depth -= 1
        elif character == " " and depth == 0:
            return text[index + 1 :] or text
    return text
