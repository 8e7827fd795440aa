# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranks of a merged profile: what lies beside it."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.code.startup import above_main
from ..analyses.ranks import RanksReport, report_ranks
from ..model.errors import UserError
from ..model.graph import CallGraph
from ..model.profile import Profile
from ..options import Options
from ..reading.ranks import PREFIX, ranks_beside


def ranks_of(paths: Sequence[str], profile: Profile, graph: CallGraph, options: Options) -> RanksReport | None:
    """Only if they are asked for; what is asked for must be readable."""
    if not options.ranks:
        return None
    if len(paths) > 1:
        raise UserError(f"--ranks is for one profile that --merge has written, not {len(paths)}")
    found = ranks_beside(paths[0], profile)
    if found is None:
        raise UserError(f"{paths[0]}: there is no file with the prefix {PREFIX} beside it: --merge writes one")
    return report_ranks(found, above_main(graph))
