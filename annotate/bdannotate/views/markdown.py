# SPDX-License-Identifier: GPL-2.0-or-later
"""A text report as Markdown, for comments on a change: prose becomes lists, tables stay as they are, and everything but
the answer of the first screen is folded.

The names of programs and functions must not become markup: `vector<int>` is not an HTML element, and
`memcpy@@GLIBC_2.14` does not mention a user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .text import Page

# Wide enough for everything important. Comments scroll.
WIDTH = 110

_TITLE = re.compile(r"== (.*) ==")
_PAIR = re.compile(r"(\S+(?: \S+)*?) {2,}(\S.*)")
_ITEM = re.compile(r"(\d+)\. (.*)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~!])")
# The sections that are not folded, by the beginnings of their titles.
_FIRST = ("What to change", "Summary", "Lines by")


def markdown_page(page: Page) -> Page:
    """The page for a text that markdown() is to convert."""
    return Page(
        WIDTH, exact=page.exact, percents=page.percents, full_names=page.full_names,
        cut=not page.full_names, names=page.names,
    )


def escaped(text: str) -> str:
    """The text escaped so that Markdown shows it unchanged."""
    return _html(_SPECIAL.sub(r"\\\1", text))


def markdown(lines: Sequence[str]) -> list[str]:
    """A report as Markdown. lines: those of the report on a markdown_page(), without colours."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if match := _TITLE.fullmatch(line):
            sections.append((match[1], []))
        else:
            sections[-1][1].append(line)
    written: list[str] = []
    for title, text in sections:
        written += _section(title, _stripped(text))
    return _stripped(written)


def _section(title: str, text: Sequence[str]) -> list[str]:
    body = _numbered(text) or _list_of_pairs(text) or _fenced(text)
    if not body:
        return []
    if not title:
        return [*body, ""]
    if title.startswith(_FIRST):
        return [f"### {escaped(title)}", "", *body, ""]
    return [f"<details><summary>{_html(title)}</summary>", "", *body, "", "</details>", ""]


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def _list_of_pairs(lines: Sequence[str]) -> list[str]:
    """Lines of names and texts as a list; empty if the lines are something else."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if found and line.startswith(" "):
            found[-1] = found[-1][0], f"{found[-1][1]} {line.strip()}"
        elif match := _PAIR.fullmatch(line):
            found.append((match[1], match[2]))
        else:
            return []
    return [f"- **{escaped(name)}**: {escaped(text)}" for name, text in found]


def _numbered(lines: Sequence[str]) -> list[str]:
    """Numbered paragraphs, with the indented lines below each, as a list; empty if the lines are something else."""
    written: list[str] = []
    for line in filter(None, lines):
        if match := _ITEM.fullmatch(line):
            written.append(f"{match[1]}. **{escaped(match[2])}**")
        elif written and line.startswith("   "):
            written.append(f"   {escaped(line.strip())}")
        else:
            return []
    return written


def _fenced(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence]


def _stripped(lines: Iterable[str]) -> list[str]:
    """The lines without empty ones at either end."""
    kept = [line.rstrip() for line in lines]
    while kept and not kept[0]:
        del kept[0]
    while kept and not kept[-1]:
        kept.pop()
    return kept
