# SPDX-License-Identifier: GPL-2.0-or-later
"""A manual page in the man macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bdcommon import __version__

from .commands import Page

_TYPED = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


def manual_page(page: Page) -> str:
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    command = page.command
    yield f'.TH {command.name.upper()} 1 "" "bdgrind {__version__}" "bdgrind"'
    yield ".SH NAME"
    yield f"{_text(command.name)} \\- {_text(command.summary)}"
    yield ".SH SYNOPSIS"
    yield _line(command.usage)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.description)
    yield ".SH OPTIONS"
    for group in command.groups:
        yield f'.SS "{_text(group.title[:1].upper() + group.title[1:])}"'
        for option in group.options:
            yield from _item(option.invocation(), option.text)
    if command.notes:
        yield ".PP"
        yield from _paragraphs(command.notes)
    for section in page.sections:
        yield f".SH {_text(section.title.upper())}"
        for term, meaning in section.items:
            yield from _item(term, meaning)
    yield ".SH SEE ALSO"
    yield _line(", ".join(page.see_also))


def _paragraphs(texts: tuple[str, ...]) -> Iterator[str]:
    for index, text in enumerate(texts):
        if index:
            yield ".PP"
        yield _line(text)


def _item(term: str, meaning: str) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{_text(term)}\\fR"
    yield _line(_TYPED.sub("\1\\1\2", " ".join(meaning.split())))


def _line(text: str) -> str:
    """A line of running text; it must not look like a request."""
    text = _text(text).replace("\1", "\\fB").replace("\2", "\\fR")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def _text(text: str) -> str:
    """Characters that roff would take for its own, or turn into typographic ones."""
    for character, written in (
        ("\\", "\\(rs"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"),
        ("~", "\\(ti"), ('"', "\\(dq"),
    ):
        text = text.replace(character, written)
    return text
