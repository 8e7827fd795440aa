# SPDX-License-Identifier: GPL-2.0-or-later
"""The curve for --curve: that of the program, of functions and loops, or of data."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..analyses.code.report import Report, chosen_functions, function_pattern
from ..analyses.data.object_labels import label
from ..analyses.misses.curve import curve_of
from ..analyses.misses.distance_sums import DistanceSums, Reach
from ..model.errors import UserError
from ..model.frames import frames_by_function
from ..model.objects import Objects
from ..model.profile import Function, Profile
from ..model.separate import FrameCode, code_of_frames
from ..model.why import Why
from ..reading.load import load_why
from ..reading.why import why_path
from ..views.curve import NamedCurve
from ..views.names import Names
from .inputs import Inputs
from .objects import all_objects


def named_curve(paths: Sequence[str], made: Report, inputs: Inputs) -> NamedCurve | None:
    """The curve for --curve, with --object for data; None without that option."""
    asked, of_data = inputs.options.curve, inputs.options.object
    if asked is None:
        return None
    code: dict[Function, FrameCode] = {}
    whole = made.profile
    if inputs.separation:
        whole = inputs.whole(paths)
        code = _code(whole, inputs)
    why = load_why(paths, whole, inputs.renaming)
    sums = DistanceSums(why, made.graph, made.profile.events, code)
    hits = None if why.hits is None else DistanceSums(why.hits, made.graph, made.profile.events, code)
    if of_data is not None:
        return _of_data(sums, hits, why, all_objects(paths, whole, inputs), of_data, asked, paths)
    if not asked:
        return NamedCurve("", curve_of(sums.program(), why, None if hits is None else hits.program()))
    shown = Names(made.graph.functions).shown
    pattern = chosen_functions(asked, made.profile, shown)
    named = [function for function in made.graph.functions if pattern.matches(function)]
    if not named:
        raise UserError(f"--curve={asked}: no function matches")
    found = sums.of(named)
    hit = None if hits is None else hits.of(named)
    return NamedCurve(
        asked, curve_of(found.inclusive, why, None if hit is None else hit.inclusive), len(named),
        found.reach is Reach.ALL, found.only_called, curve_of(found.own, why, None if hit is None else hit.own),
    )


def _code(whole: Profile, inputs: Inputs) -> dict[Function, FrameCode]:
    functions = {place.function for place in whole.instructions}
    frames = frames_by_function(whole, functions, inputs.inlined_chains(whole, functions))
    return code_of_frames(frames, inputs.separation)


def _of_data(
    sums: DistanceSums, hits: DistanceSums | None, why: Why, objects: Objects, name: str, functions: str,
    paths: Sequence[str],
) -> NamedCurve:
    if functions:
        raise UserError(
            f"--curve={functions} selects functions, but --object selects data: use --curve alone with it"
        )
    if why.data is None:
        beside = why_path(paths[0]) or paths[0]
        raise UserError(
            f"{os.path.basename(beside)} has no distances by data: run with --why=yes --objects=yes, with this "
            "version of bdgrind"
        )
    pattern = function_pattern(name)
    groups = [
        number for number, group in enumerate(objects.groups) if pattern.search(label(group))
    ]
    hit = None if hits is None else hits.of_data(objects, groups)
    found = curve_of(sums.of_data(objects, groups), why, hit)
    return NamedCurve(name, found, data=len(groups))
