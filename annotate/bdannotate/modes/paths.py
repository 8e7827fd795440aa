# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths within functions beside the profiles."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.report import Report
from ..analyses.paths import PathsReport, report_paths
from ..model.errors import UserError
from ..model.graph import build
from ..model.profile import Profile
from ..options import DEFAULT_THRESHOLD
from ..reading.load import load_paths
from ..reading.paths import paths_path
from .inputs import Inputs


def paths_of(paths: Sequence[str], whole: Profile, made: Report, inputs: Inputs) -> PathsReport | None:
    """The paths beside the profiles, by the sort key and the functions of the report; None without --paths. whole: the
    sum of the profiles. Raises UserError if they cannot be read."""
    if not inputs.options.paths:
        return None
    found = load_paths(paths, whole, inputs.renaming)
    selection = made.selection
    # Ratios are skipped, as they have no shares.
    keys = [key for key in selection.keys if inputs.options.sort and not key.column.metric.is_ratio]
    threshold = inputs.options.threshold
    if keys and keys[0].threshold is not None:
        threshold = keys[0].threshold
    return report_paths(
        found, whole, made.graph if whole is made.profile else build(whole),
        keys[0].column.metric.name if keys else None, DEFAULT_THRESHOLD if threshold is None else threshold,
        None if selection.function is None else selection.function.matches,
    )


def paths_of_page(paths: Sequence[str], made: Report, inputs: Inputs) -> PathsReport | None:
    """The paths of a page; None unless all profiles have such a file. If one cannot be read, it is None with a note."""
    if not all(paths_path(path) is not None for path in paths):
        return None
    try:
        found = load_paths(paths, made.profile, inputs.renaming)
        threshold = inputs.options.threshold
        return report_paths(
            found, made.profile, made.graph, None, DEFAULT_THRESHOLD if threshold is None else threshold
        )
    except UserError as error:
        inputs.say_notes([f"paths within functions are left out: {error}"])
        return None
