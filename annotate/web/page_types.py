#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page_types.py: prints src/schema.ts, the types of a page's data, made from bdannotate/html/schema.py.

The description is read as text, not imported, so that its comments come along.
"""

from __future__ import annotations

import ast
import json
import pathlib

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "bdannotate" / "html" / "schema.py"
_HEAD = """\
// SPDX-License-Identifier: GPL-2.0-or-later
//
// Made by page_types.py from bdannotate/html/schema.py: change that one, not this file.
"""
_COLUMNS = 120
_NAMES = {"int": "number", "float": "number", "str": "string", "bool": "boolean", "None": "null"}


def typescript(text: str) -> str:
    """Of the description's text. What it holds and no type can be made of is a ValueError."""
    lines = text.splitlines()
    pieces: list[str] = [_HEAD]
    for node in ast.parse(text).body:
        above = _comments_above(lines, node.lineno)
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            pieces.append(_interface(node, lines))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            assert isinstance(target, ast.Name)
            pieces.append("\n".join([*above, *_constant(target.id, node.value)]) + "\n")
    return "\n".join(pieces)


def _constant(name: str, value: ast.expr) -> list[str]:
    if isinstance(value, ast.Subscript):
        return [f"export type {name} = {_type(value)};"]
    if not isinstance(value, ast.Dict):
        return [f"export const {_camel(name)} = {_value(value)};"]
    rows = [line for key, one in zip(value.keys, value.values) for line in _row(_plain(key), _value(one))]
    kind = name.removesuffix("S").capitalize()
    return [
        f"export const {_camel(name)} = {{", *rows, "} as const;",
        f"export type {kind}Name = keyof typeof {_camel(name)};",
    ]


def _row(key: str, value: str) -> list[str]:
    """In several lines where one is too long."""
    whole = f"    {key}: {value},"
    if len(whole) <= _COLUMNS:
        return [whole]
    return [f"    {key}: {{", *(f"        {part}" for part in value[2:-2].replace("], ", "],\n").split("\n")), "    },"]


def _interface(node: ast.ClassDef, lines: list[str]) -> str:
    bases = [base.id for base in node.bases if isinstance(base, ast.Name) and base.id != "TypedDict"]
    heads = [f"export interface {node.name}{' extends ' + ', '.join(bases) if bases else ''} {{"]
    told = ast.get_docstring(node)
    found = [f"// {line}" for line in told.splitlines()] if told else []
    found += heads
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            found += (f"    {line}" for line in _comments_above(lines, field.lineno))
            found.append(f"    {field.target.id}: {_type(field.annotation)};{_comment_behind(lines, field)}")
    return "\n".join([*found, "}"]) + "\n"


def _type(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=None):
            return "null"
        case ast.Name(id=name):
            return _NAMES.get(name, name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{_type(left)} | {_type(right)}"
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return f"{_within(inner)}[]"
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=inner)):
            return f"[{', '.join(map(_type, inner))}]"
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, inner])):
            return f"Record<{_type(key)}, {_type(inner)}>"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            words = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return " | ".join(json.dumps(ast.literal_eval(word)) for word in words)
    raise ValueError(f"line {node.lineno}: of {ast.unparse(node)} no type can be made")


def _within(node: ast.expr) -> str:
    """As the type of something's elements."""
    is_union = isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal" and isinstance(node.slice, ast.Tuple)
    )
    return f"({_type(node)})" if is_union else _type(node)


def _value(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=value):
            return json.dumps(value)
        case ast.Tuple(elts=inner):
            return f"[{', '.join(map(_value, inner))}]"
        case ast.Call(func=ast.Name(id="Columns"), args=arguments):
            parts = [*map(_value, arguments), "[]", "[]", "[]", "[]"]
            more = f", more: {parts[3]}" if parts[3] != "[]" else ""
            return f"{{ own: {parts[0]}, counts: {parts[1]}, kinds: {parts[2]}{more} }}"
    raise ValueError(f"line {node.lineno}: of {ast.unparse(node)} no value can be made")


def _plain(node: ast.expr | None) -> str:
    assert isinstance(node, ast.Constant)
    return str(node.value)


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(map(str.capitalize, rest))


def _comments_above(lines: list[str], number: int) -> list[str]:
    """Of the line with this number, from 1."""
    found: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.lstrip().startswith("#"):
            break
        found.append("//" + line.lstrip()[1:])
    return found[::-1]


def _comment_behind(lines: list[str], node: ast.AnnAssign) -> str:
    behind = lines[node.lineno - 1][node.end_col_offset :].strip()
    return f" //{behind[1:]}" if behind.startswith("#") else ""


def main() -> None:
    print(typescript(SCHEMA.read_text(encoding="utf-8")), end="")


if __name__ == "__main__":
    main()
