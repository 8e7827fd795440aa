# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints as text, each with the numbers that made it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence

from ..analyses.hints import Hint
from .text import Page, function_label, printable, short_count

_MAX_CALLERS = 4
_NAME_WIDTH = 50
# From here on, a few lines with very many accesses make the average say nothing of the others.
_SKEWED = 1.5


def hint_lines(found: Sequence[Hint], page: Page) -> list[str]:
    if not found:
        return ["nothing that loads enough lines to say something about"]
    lines: list[str] = []
    for number, hint in enumerate(found, 1):
        if lines:
            lines.append("")
        title = f"{number}. {function_label(hint.function, page, page.width - 4)}"
        lines.append(page.heading(title))
        for sentence in _sentences(hint, page):
            lines += textwrap.wrap(
                sentence, page.width, initial_indent="   ", subsequent_indent="     ",
                break_on_hyphens=False, break_long_words=False,
            )
    return lines


def _sentences(hint: Hint, page: Page) -> list[str]:
    use = hint.use
    accesses = f"{use.accesses_per_line:.1f}"
    if use.average_accesses > _SKEWED * use.accesses_per_line:
        average = f"on average {use.average_accesses:.1f}"
        accesses = f"typically {accesses} (the harmonic mean; {average})"
    sentences = [
        f"Never used: {short_count(use.never_used)} bytes, {100 * hint.share:.1f}% of the "
        f"program's, {100 * use.unused_share:.1f}% of what was loaded here. Per line "
        f"{use.used_per_line:.1f} of {use.line_size:.0f} bytes were used; accesses "
        f"per line: {accesses}."
        + (
            f" Each line was loaded at least {int(use.loads_per_line)} times, on average."
            if use.loads_per_line >= 2 else ""
        )
    ]
    if hint.line:
        file, line, share = hint.line
        sentences.append(
            f"Where: {100 * share:.0f}% of its own at {os.path.basename(printable(file))}:{line}."
        )
    if hint.callers:
        callers = [
            f"{100 * share:.0f}% under {function_label(caller, page, _NAME_WIDTH).split('  ')[0]}"
            for caller, share in hint.callers
        ]
        if len(callers) > _MAX_CALLERS:
            callers = callers[: _MAX_CALLERS - 1] + ["...", callers[-1]]
        sentences.append(
            f"Depends on the caller: never used are {', '.join(callers)}. What to change is how "
            "the first of these uses it."
        )
    else:
        sentences.append(f"Looks like: {hint.looks}.")
        sentences.append(f"Usually helps: {hint.helps}.")
    return sentences
