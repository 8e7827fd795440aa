# SPDX-License-Identifier: GPL-2.0-or-later
"""A command and its options as data, from which --help, the manual page and shell completion are made, so that they
cannot differ."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

HELP_WIDTH = 100
_TEXT_COLUMN = 27


@dataclass(frozen=True, slots=True)
class Option:
    """An option. names: as typed, short ones first. form: what follows them, such as "=FILE" or " on|off"; empty:
    nothing. choices: the values that a shell may offer."""

    names: tuple[str, ...]
    form: str
    text: str
    choices: tuple[str, ...] = ()
    takes_file: bool = False
    takes_folder: bool = False

    @property
    def takes_value(self) -> bool:
        return bool(self.form)

    @property
    def value_is_optional(self) -> bool:
        return "[" in self.form

    def invocation(self) -> str:
        """The names with their values, such as "-I DIR, --include=DIR"."""
        if self.form.startswith(" "):
            return ", ".join(self.names) + self.form
        return ", ".join(
            name + (self.form if name.startswith("--") else self.form.replace("=", " "))
            for name in self.names
        )


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    summary: str  # the text behind the name in a list of manual pages
    usage: str
    description: tuple[str, ...]  # paragraphs
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()  # paragraphs that follow the options

    def options(self) -> Iterator[Option]:
        for group in self.groups:
            yield from group.options


def help_text(command: Command) -> str:
    lines = [f"usage: {command.usage}"]
    for paragraph in command.description:
        lines += ["", *_wrapped(paragraph, 0)]
    for group in command.groups:
        lines += ["", f"{group.title}:"]
        for option in group.options:
            lines += _option_lines(option)
    for paragraph in command.notes:
        lines += ["", *_wrapped(paragraph, 0)]
    return "\n".join(lines) + "\n"


def _option_lines(option: Option) -> list[str]:
    head = f"  {option.invocation()}"
    lines = _wrapped(option.text, _TEXT_COLUMN)
    if len(head) + 2 > _TEXT_COLUMN:
        return [head, *lines]
    return [head.ljust(_TEXT_COLUMN) + lines[0].lstrip(), *lines[1:]]


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text, HELP_WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
