# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranks beside a merged profile."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.report import Report
from ..analyses.code.startup import above_main
from ..analyses.ranks import RanksReport, report_ranks
from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.merge import rename_function
from ..model.profile import Profile
from ..model.ranks import merged_ranks, with_names
from ..options import Options
from ..reading.ranks import PREFIX, ranks_beside
from .inputs import Inputs


def ranks_of(paths: Sequence[str], profile: Profile, graph: CallGraph, options: Options) -> RanksReport | None:
    """The report on ranks; None without --ranks. Raises UserError if they cannot be read."""
    if not options.ranks:
        return None
    if len(paths) > 1:
        raise UserError(f"--ranks is for one profile that --merge has written, not {len(paths)}")
    found = ranks_beside(paths[0], profile)
    if found is None:
        raise UserError(f"{paths[0]}: there is no file with the prefix {PREFIX} beside it: --merge writes one")
    return report_ranks(found, above_main(graph))


def ranks_of_page(paths: Sequence[str], made: Report, inputs: Inputs) -> RanksReport | None:
    """The ranks of a page; None unless it is of one profile that --merge wrote. If they cannot be read, it is None with
    a note."""
    if len(paths) > 1 or not merged_ranks(made.profile.parts):
        return None
    try:
        found = ranks_beside(paths[0], made.profile)
    except UserError as error:
        inputs.say_notes([f"ranks are left out: {error}"])
        return None
    if found is None:
        return None
    found = with_names(found, lambda function: rename_function(function, inputs.renaming))
    return report_ranks(found, above_main(made.graph))
