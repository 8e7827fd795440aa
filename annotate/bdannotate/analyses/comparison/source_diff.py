# SPDX-License-Identifier: GPL-2.0-or-later
"""Source files with the changes of the costs of each line, from one version to another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.errors import UserError
from ...model.metrics import Metric, Number
from ...model.profile import Profile, Row, add_rows, sum_rows
from ..code.report import key_limits
from ..code.source import LINE_SHARE
from ..code.source_text import SourceText, read_source
from ..code.windows import windows
from .diff import Diff, difference
from .line_match import LinePair, match_by_number, match_lines

_Costs = Mapping[int, Row]


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line in both versions. A cost is None if that version has no such line, or no code in it."""

    pair: LinePair
    text: str
    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file with its changed lines, in groups without gaps."""

    name: str
    before: SourceText | None  # None: only one version can be read, and lines are matched by number
    after: SourceText
    groups: tuple[tuple[LineChange, ...], ...]
    elsewhere: tuple[Row, Row] | None  # costs, before and after, of unknown lines and those past the end


@dataclass(frozen=True, slots=True)
class SourceDiff:
    """The changed files, the ones with the costliest changed line first."""

    files: tuple[FileChange, ...]
    unreadable: tuple[tuple[str, str, Row, Row], ...]  # name, reason, costs before and after


def diff_sources(
    diff: Diff, include: Sequence[str], include_before: Sequence[str], context: int
) -> SourceDiff:
    """The files with lines that changed notably. include: the folders to search sources in. include_before: the folders
    to search the version before in, first, as both builds may have had it in the same place, one after the other.
    context: how many lines are shown around a changed one. Raises UserError if a folder does not exist."""
    for folder in (*include, *include_before):
        if not os.path.isdir(folder):
            raise UserError(f"{folder}: there is no such folder")
    old, new = (_by_file(profile, diff) for profile in (diff.before, diff.after))
    metric = diff.selection.keys[0].column.metric
    totals = tuple(max(pair) for pair in zip(diff.before_totals, diff.after_totals))
    least = key_limits(diff.selection, totals)[0][1]
    files: list[FileChange] = []
    unreadable: list[tuple[str, str, Row, Row]] = []
    zero = diff.before.zero
    for old_name, name in _same_files(old, new, diff.before):
        costs = old.get(old_name, {}), new.get(name, {})
        before_sum, after_sum = (sum_rows(rows.values(), len(zero)) for rows in costs)
        text = read_source(name, include) if name not in ("", "???") else "no name"
        if isinstance(text, str):
            if _changed_by(before_sum, after_sum, metric) >= max(least, 1):
                unreadable.append((name, text, before_sum, after_sum))
            continue
        before = _version_before(old_name, text, include, include_before)
        change = _file_change(name, before, text, costs, metric, least, context, zero)
        if change.groups or change.elsewhere:
            files.append(change)
    files.sort(key=lambda file: (-_size(file, metric), file.name))
    return SourceDiff(tuple(files), tuple(unreadable))


def same_lines(
    before: str, after: str, include: Sequence[str], include_before: Sequence[str]
) -> dict[int, int]:
    """The lines of a file before, with the same lines after, by their texts; empty unless both versions can be read."""
    text = read_source(after, include)
    old = None if isinstance(text, str) else _version_before(before, text, include, include_before)
    if isinstance(text, str) or old is None:
        return {}
    pairs = match_lines(old.lines, text.lines)
    return {pair.before: pair.after for pair in pairs if pair.before and pair.after}


def _by_file(profile: Profile, diff: Diff) -> dict[str, dict[int, Row]]:
    """The costs of lines by file."""
    pattern = diff.selection.function
    costs: dict[str, dict[int, Row]] = {}
    for place, rows in profile.lines.items():
        if pattern and not pattern.matches(place.function):
            continue
        mine = costs.setdefault(place.file, {})
        for line, row in rows.items():
            mine[line] = add_rows(mine[line], row) if line in mine else row
    return costs


def _same_files(
    old: Mapping[str, _Costs], new: Mapping[str, _Costs], before: Profile
) -> list[tuple[str, str]]:
    """The names of files before and after. Another build is often in another folder. Two files that only one side has
    are matched by their functions: in `before`, functions that were matched by name have their file after, but their
    lines are still in the file before."""
    votes = Counter(
        (place.file, place.function.file)
        for place in before.lines
        if place.file not in new and place.function.file in new and place.function.file not in old
    )
    matched: dict[str, str] = {}
    for (name, other), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        if name not in matched and other not in matched.values():
            matched[name] = other
    pairs = [(name, matched.get(name, name)) for name in sorted(old)]
    taken = {name for _, name in pairs}
    return pairs + [(name, name) for name in sorted(new) if name not in taken]


def _version_before(
    name: str, after: SourceText, include: Sequence[str], include_before: Sequence[str]
) -> SourceText | None:
    """The version of a file before; None if it cannot be read, or if it is the same file as the one after."""
    found = read_source(name, include_before, folders_first=True) if include_before else (
        read_source(name, include)
    )
    if isinstance(found, str) or os.path.realpath(found.path) == os.path.realpath(after.path):
        return None
    return found


def _file_change(
    name: str, before: SourceText | None, after: SourceText,
    costs: tuple[_Costs, _Costs], metric: Metric, least: Number, context: int, zero: Row,
) -> FileChange:
    old, new = costs
    pairs = match_lines(before.lines, after.lines) if before else match_by_number(len(after.lines))
    lines: list[LineChange] = []
    for pair in pairs:
        text = after.lines[pair.after - 1] if pair.after else ""
        if before and pair.before and not pair.after:
            text = before.lines[pair.before - 1]
        lines.append(LineChange(
            pair, text, old.get(pair.before) if pair.before else None,
            new.get(pair.after) if pair.after else None,
        ))
    smallest = least * LINE_SHARE if metric.is_ratio else max(least * LINE_SHARE, 1)
    notable = [
        index for index, line in enumerate(lines) if _amount(line, metric, zero) >= smallest
    ]
    groups = tuple(
        tuple(lines[index] for index in window)
        for window in windows(notable, context, 0, len(lines) - 1)
    )
    known = {line.pair.before for line in lines}, {line.pair.after for line in lines}
    beyond = tuple(
        sum_rows((row for line, row in rows.items() if line not in numbers), len(zero))
        for rows, numbers in zip(costs, known)
    )
    changed = _changed_by(beyond[0], beyond[1], metric) >= smallest
    elsewhere = (beyond[0], beyond[1]) if changed else None
    return FileChange(name, before, after, groups, elsewhere)


def _amount(line: LineChange, metric: Metric, zero: Row) -> Number:
    if line.before is None and line.after is None:
        return 0
    return _changed_by(line.before or zero, line.after or zero, metric)


def _changed_by(before: Row, after: Row, metric: Metric) -> Number:
    return abs(difference(metric.value(before), metric.value(after), metric) or 0)


def _size(file: FileChange, metric: Metric) -> Number:
    """The costs, before and after, of the costliest line that is shown."""
    return max(
        (
            abs((metric.value(line.after) if line.after else 0) or 0)
            + abs((metric.value(line.before) if line.before else 0) or 0)
            for group in file.groups for line in group
        ),
        default=0,
    )
