# SPDX-License-Identifier: GPL-2.0-or-later
"""A text report as Markdown, for comments on a change: what is prose becomes lists, tables stay as they are, and all
but the first screen's answer is folded.

What programs are called and how they name their functions must not become markup: `vector<int>` is no HTML element, and
`memcpy@@GLIBC_2.14` mentions no user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .text import Page

# Wide enough that nothing important is cut; a comment scrolls.
WIDTH = 110

_TITLE = re.compile(r"== (.*) ==")
_PAIR = re.compile(r"(\S+(?: \S+)*?) {2,}(\S.*)")
_ITEM = re.compile(r"(\d+)\. (.*)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~!])")
# Sections that are read before anything else; the others are folded.
_FIRST = ("What to change", "Summary", "Lines by")


def markdown_page(page: Page) -> Page:
    """How the text is to be written that markdown() takes."""
    return Page(
        WIDTH, exact=page.exact, percents=page.percents, full_names=page.full_names,
        cut=not page.full_names, names=page.names,
    )


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _html(_SPECIAL.sub(r"\\\1", text))


def markdown(lines: Sequence[str]) -> list[str]:
    """lines: a report without colours, as on a markdown_page()."""
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
    """Names and texts below each other; nothing if that is not what the lines are."""
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
    """Numbered paragraphs, each with what is indented below it."""
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
    """Without empty lines at either end."""
    kept = [line.rstrip() for line in lines]
    while kept and not kept[0]:
        del kept[0]
    while kept and not kept[-1]:
        kept.pop()
    return kept
