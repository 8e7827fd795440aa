# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of hints from one profile to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..model.profile import Function, Profile
from .code.report import Report, make_report
from .comparison.diff import Diff
from .data.data_use import data_loss
from .hints import Hint, hints


# A hint is the same as before if its function's bytes never used changed by at most this share.
_CHANGED = 0.1


@dataclass(frozen=True, slots=True)
class HintChanges:
    """The hints of two profiles, by what became of them.

    amounts: the inclusive bytes never used, before and after, of all functions with a hint in either profile.
    after: the report of the hints that are not gone.
    """

    gone: tuple[Hint, ...]
    new: tuple[Hint, ...]
    remaining: tuple[Hint, ...]
    amounts: Mapping[Function, tuple[int, int]]
    after: Report

    @property
    def less(self) -> tuple[Hint, ...]:
        """The remaining hints whose function loses clearly less than before."""
        return tuple(hint for hint in self.remaining if self._change(hint) < -_CHANGED)

    @property
    def more(self) -> tuple[Hint, ...]:
        return tuple(hint for hint in self.remaining if self._change(hint) > _CHANGED)

    @property
    def same(self) -> tuple[Hint, ...]:
        return tuple(hint for hint in self.remaining if abs(self._change(hint)) <= _CHANGED)

    def _change(self, hint: Hint) -> float:
        before, after = self.amounts[hint.function]
        return (after - before) / max(before, 1)


def hint_changes(diff: Diff) -> HintChanges:
    """The changes of hints. Those that remain have the numbers of the profile after."""
    reports = [_report(profile, diff) for profile in (diff.before, diff.after)]
    before, after = (hints(report, by_loss=True) for report in reports)
    there_before, there_after = ({hint.function for hint in found} for found in (before, after))
    amounts = {
        function: (_loss(reports[0], function), _loss(reports[1], function))
        for function in there_before | there_after
    }
    return HintChanges(
        tuple(hint for hint in before if hint.function not in there_after),
        tuple(hint for hint in after if hint.function not in there_before),
        tuple(hint for hint in after if hint.function in there_before),
        amounts,
        reports[1],
    )


def _report(profile: Profile, diff: Diff) -> Report:
    return make_report(profile, diff.selection)


def _loss(report: Report, function: Function) -> int:
    costs = report.graph.functions.get(function)
    if costs is None:
        return 0
    loss = data_loss(report.metrics)
    return int((loss and loss.value(costs.inclusive)) or 0)
