# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion for zsh, by its function _arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bdcommon.described import Command, Option

_REPEATED = frozenset({"--fail-if", "--include", "--mod-filename", "--mod-funcname"})


def zsh_completion(command: Command) -> str:
    specifications = [line for option in command.options() for line in _specifications(option)]
    lines = [f"#compdef {command.name}", "", "_arguments \\"]
    lines += [f"  {line} \\" for line in specifications]
    return "\n".join([*lines, "  '*: :_files'"]) + "\n"


def _specifications(option: Option) -> Iterator[str]:
    others = "" if len(option.names) == 1 else f"({' '.join(option.names)})"
    if _REPEATED.intersection(option.names):
        others = "*"
    text = _escaped(" ".join(option.text.split()))
    for name in option.names:
        yield f"'{others}{name}{_separator(option, name)}[{text}]{_value(option)}'"


def _separator(option: Option, name: str) -> str:
    """What stands between the name and its value."""
    if not option.takes_value:
        return ""
    if option.value_is_optional and option.form.startswith("["):
        return "=-"
    if option.form.startswith("=") and name.startswith("--"):
        return "=-"
    return ""


def _value(option: Option) -> str:
    if not option.takes_value:
        return ""
    colon = "::" if option.value_is_optional else ":"
    what = _escaped(re.sub(r"[\[\]= ]", "", option.form).replace("|", " or "))
    if option.choices:
        return f"{colon}{what}:({' '.join(option.choices)})"
    if option.takes_folder:
        return f"{colon}{what}:_files -/"
    return f"{colon}{what}:{'_files' if option.takes_file else ' '}"


def _escaped(text: str) -> str:
    """Within brackets, colons and single quotes."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")
