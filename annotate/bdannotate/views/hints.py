# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints as text, each with the numbers that it is based on; or, for the first screen, in two lines each."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..analyses.hint_changes import HintChanges
from ..analyses.hints import Hint, HotLine, Symptom
from ..model.numbers import short_count
from ..model.profile import Function
from .names import as_called, fit, least_width
from .text import Page, function_label, shorten_end

_MAX_CALLERS = 4
_NAME_WIDTH = 50
# If the average exceeds the harmonic mean by at least this factor, a few lines with very many accesses dominate it.
_SKEWED = 1.5


class DataText(NamedTuple):
    """Sentences on the data that a hint is about. has_advice: whether they have advice on its type, which replaces the
    general advice of the hint."""

    sentences: Sequence[str]
    has_advice: bool


_NO_DATA = DataText((), False)


def hint_lines(
    found: Sequence[Hint], page: Page, notes: Mapping[Function, str] | None = None,
    data: Mapping[Function, DataText] | None = None,
    others: Sequence[tuple[str, Sequence[str]]] = (),
) -> list[str]:
    """The hints as lines. notes: sentences that come first in a hint, by function. data: sentences that follow its
    numbers, by function. others: the titles and sentences of items without a function."""
    if not found and not others:
        return ["no code loads enough lines for a hint"]
    items: list[tuple[str, Sequence[str]]] = []
    said: dict[Symptom, int] = {}
    for number, hint in enumerate(found, 1):
        known = (data or {}).get(hint.function, _NO_DATA)
        sentences = [*_numbers(hint, page), *known.sentences]
        sentences += _advice(hint, said.get(hint.pattern), not known.has_advice)
        if notes and hint.function in notes:
            sentences.insert(0, notes[hint.function])
        items.append((function_label(hint.function, page, page.width - 4), sentences))
        if not known.has_advice:
            said.setdefault(hint.pattern, number)
    lines: list[str] = []
    for number, (title, texts) in enumerate((*items, *others), 1):
        lines += [""] if lines else []
        lines.append(page.heading(shorten_end(f"{number}. {title}", page.width)))
        for text in texts:
            lines += textwrap.wrap(
                text, page.width, initial_indent="   ", subsequent_indent="     ",
                break_on_hyphens=False, break_long_words=page.cut,
            )
    return lines


def hint_change_lines(
    found: HintChanges, page: Page, data: Mapping[Function, DataText],
    others: Sequence[tuple[str, Sequence[str]]],
) -> list[tuple[str, list[str]]]:
    """The title and the lines of each section: hints that are gone, that are new and that remain, and items without a
    function."""
    def said(function: Function) -> str:
        before, after = map(short_count, found.amounts[function])
        return f"{before} bytes never used before, {after} now."

    def notes(hints: Sequence[Hint]) -> dict[Function, str]:
        return {hint.function: f"Change: {said(hint.function)}" for hint in hints}

    gone = [
        f"{function_label(hint.function, page, page.width // 2)}: {said(hint.function)}"
        for hint in found.gone
    ]
    sections = [("Hints that are gone", gone or ["none"])]
    kinds = (
        ("that are new", found.new), ("that shrank", found.less), ("that grew", found.more),
        ("that are unchanged", found.same),
    )
    sections += [
        (f"Hints {title}", hint_lines(hints, page, notes(hints), data)) for title, hints in kinds if hints
    ]
    if others:
        sections.append(("Data without a hint", hint_lines((), page, others=others)))
    return sections


def brief_lines(
    found: Sequence[Hint], page: Page, data: Mapping[Function, str] | None = None
) -> list[str]:
    """The hints as brief lines: where, how much, which data, and what usually helps, which is shown once if several
    have the same. found: only hints with something to change. data: a line for each function."""
    lines: list[str] = []
    said: dict[Symptom, int] = {}
    for number, hint in enumerate(found, 1):
        first = said.setdefault(hint.pattern, number)
        same = f"; see {first}." if first != number else ""
        numbers = f": {_worth(hint)}, {100 * hint.use.unused_share:.0f}% unused{same}"
        where = f" ({_where(hint.line, page)})" if hint.line else ""
        if hint.callers:
            where = f" called by {page.name(hint.callers[0][0])}"
        elif hint.through and not (hint.through_accessor and hint.line):
            where = f" through {as_called(page.name(hint.through))}"
        elif hint.below:
            where = f" below {page.name(hint.below)}"
        least = least_width(page.name(hint.function))
        if page.width - len(f"{number}. {where}{numbers}") < least:
            numbers = f": {_worth(hint)}{same}"
        room = page.width - len(f"{number}. {where}{numbers}")
        name = fit(page.name(hint.function), max(room, 12))
        text = shorten_end(f"{number}. {name}{where}{numbers}", page.width)
        lines.append(page.heading(text))
        if data and hint.function in data:
            lines.append(data[hint.function])
        if first == number:
            lines += textwrap.wrap(
                hint.pattern.brief, page.width, initial_indent="   ", subsequent_indent="   ",
                break_on_hyphens=False,
            )
    return lines


def _worth(hint: Hint) -> str:
    """How much a change may save, or the share of the loss if that is not known."""
    if hint.saved is None:
        return f"{100 * hint.share:.0f}% of the loss{_off(hint)}"
    return f"at most {max(1, round(100 * hint.saved))}% of the cycles"


def _off(hint: Hint) -> str:
    """How far the loss of a sampled run may be off, in brackets after a blank; empty if it is exact."""
    if hint.off is None:
        return " (?)"
    return f" (±{100 * hint.off:.0f}%)" if hint.off else ""


def certainty(hint: Hint) -> str:
    """A sentence on how far the loss of a sampled run may be off; empty if it is exact."""
    if hint.off is None:
        return "How much it loses is not known: more or longer bursts would say more."
    return f"Its bytes never used are an estimate, ±{100 * hint.off:.0f}%." if hint.off else ""


def _where(line: HotLine, page: Page) -> str:
    return f"{page.file(line.file)}:{line.line}"


def _numbers(hint: Hint, page: Page) -> list[str]:
    use = hint.use
    accesses = f"{use.accesses_per_line:.1f}"
    if use.average_accesses > _SKEWED * use.accesses_per_line:
        average = f"on average {use.average_accesses:.1f}"
        accesses = f"typically {accesses} (harmonic mean; {average})"
    sentences = []
    if hint.saved is not None:
        sentences.append(
            f"Worth: at most {max(1, round(100 * hint.saved))}% of the estimated cycles."
        )
    sentences += [
        f"Never used: {short_count(use.never_used)} bytes, {100 * hint.share:.1f}% of the program's and "
        f"{100 * use.unused_share:.1f}% of what was loaded here. Per line, {use.used_per_line:.1f} of "
        f"{use.line_size:.0f} bytes were used; accesses per line: {accesses}."
        + (
            f" On average, each line was loaded at least {int(use.loads_per_line)} times."
            if use.loads_per_line >= 2 else ""
        )
    ]
    if sure := certainty(hint):
        sentences.append(sure)
    if hint.bytes_per_call:
        first, last = map(short_count, hint.bytes_per_call)
        sentences.append(f"Data moved per call: {first} bytes from LL, {last} from memory.")
    if hint.line:
        more = "".join(f", {100 * line.share:.0f}% at {_where(line, page)}" for line in hint.lines[1:])
        share = 100 * hint.line.share
        own = "" if hint.through_accessor else " of its own loss"
        sentences.append(f"Where: {share:.0f}%{own} at {_where(hint.line, page)}{more}.")
    if hint.below:
        name = function_label(hint.below, page, _NAME_WIDTH)
        sentences.append(f"It has no symbol; the nearest caller with one: {name}.")
    if hint.through:
        name = function_label(hint.through, page, _NAME_WIDTH)
        what = "a short accessor" if hint.through_accessor else "library code"
        sentences.append(f"Through: {name}, which is {what}.")
    if hint.callers:
        callers = [
            f"{100 * share:.0f}% under {function_label(caller, page, _NAME_WIDTH).split('  ')[0]}"
            for caller, share in hint.callers
        ]
        if len(callers) > _MAX_CALLERS:
            callers = callers[: _MAX_CALLERS - 1] + ["...", callers[-1]]
        sentences.append(
            f"Depends on the caller; never used: {', '.join(callers)}. Change how the first of these uses it."
        )
    return sentences


def _advice(hint: Hint, said: int | None, with_help: bool) -> list[str]:
    if said and with_help:
        return [f"Looks like hint {said}, and the same helps."]
    looks = f"Looks like: {hint.pattern.looks}."
    return [looks, f"Usually helps: {hint.pattern.helps}."] if with_help else [looks]
