# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool's table of options, as a Command.

Its rows are calls of macros whose arguments are literals and names, in which C++ and Python agree
but for `::`. A test compares what is read here with what the tool prints for --help.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bdcommon.described import Command, Group, Option

_TABLE = "#define BD_OPTIONS("
# What --help shows where the table has no text of a default.
_DEFAULTS = {"true": "yes", "false": "no", "nullptr": "none"}


def tool_command(header: str) -> Command:
    """header is the text of options.h."""
    return Command(
        name="bdgrind",
        summary="how well a program uses its caches: a Valgrind tool",
        usage="valgrind --tool=bdgrind [options] PROGRAM [ARGUMENT...]",
        description=(
            "Runs a program on simulated caches and finds the bytes that were loaded and never "
            "used, or used too rarely. What was wasted is charged to the instruction that loaded "
            "the line and, inclusively, to every call that was open then.",
            "The profile is in callgrind format: bd_annotate(1), KCachegrind and other viewers "
            "read it. bd_control(1) looks at a program while it runs. Besides the options below, "
            "Valgrind's own are understood: see valgrind(1).",
        ),
        groups=tuple(_groups(header)),
    )


def _groups(header: str) -> Iterator[Group]:
    title, options = "", list[Option]()
    for call in _rows(header):
        words = [_value(argument) for argument in call.args]
        if isinstance(call.func, ast.Name) and call.func.id == "BD_OPTION_GROUP":
            if options:
                yield Group(title, tuple(options))
            title, options = words[0], []
        else:
            kind, _, name, initial, form, text = words
            options.append(_option(kind, name, initial, form, text))
    yield Group(title, tuple(options))


def _rows(header: str) -> list[ast.Call]:
    lines = header[header.index(_TABLE) :].split("\n")
    rows: list[str] = []
    for line in lines[1:]:
        rows.append(line.rstrip("\\").strip())
        if not line.endswith("\\"):
            break
    # A row begins with its macro; other lines go on with the row before.
    text = "".join(f"\n{row}" if row.startswith("BD_OPTION") else f" {row}" for row in rows)
    module = ast.parse(text.replace("::", ".").strip())
    return [
        statement.value
        for statement in module.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ]


def _value(argument: ast.expr) -> str:
    if isinstance(argument, ast.Constant):
        return str(argument.value)
    if isinstance(argument, ast.Attribute):  # an enumerator: kYes
        return argument.attr.removeprefix("k").lower()
    if isinstance(argument, ast.Name):
        return _DEFAULTS.get(argument.id, argument.id)
    return ""


def _option(kind: str, name: str, initial: str, form: str, text: str) -> Option:
    default = initial or {
        "Cache": "the machine's own", "MiddleCache": "no", "Machine": "this machine's first and last level",
        "Cores": "no", "Sample": "no", "Paths": "no", "Tlb": "no", "Threads": "auto", "Policy": "lru",
        "FirstPolicy": "lru", "Index": "bits", "Inclusion": "none", "Pages": "virtual",
        "Placements": "no", "Prefetch": "no",
    }.get(kind, "none")
    choices = tuple(form.split("|")) if "|" in form else ()
    return Option((f"--{name}",), f"={form}", f"{text} [{default}]", choices)
