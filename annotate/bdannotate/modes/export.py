# SPDX-License-Identifier: GPL-2.0-or-later
"""The mode --export: profiles in the formats of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bdcommon import console

from ..analyses.data.objects import as_profile
from ..analyses.misses.waits import MADE, WAIT
from ..exports.formats import FORMATS, notes
from ..exports.request import make_request
from ..model.contexts import merged
from ..model.errors import UserError
from ..options import DEFAULT_THRESHOLD, Options
from ..reading.load import sum_of, with_costs
from ..reading.parser import Detail
from .inputs import Inputs
from .objects import all_objects
from .outputs import EXIT_GOOD, write_file
from .why import with_times


def export(paths: Sequence[str], options: Options) -> int:
    inputs = Inputs(options)
    form = FORMATS[options.export]
    has_times = not {*MADE, WAIT}.isdisjoint(options.events)
    detail = Detail.LINES if form.needs_lines else Detail.FUNCTIONS
    detail = Detail.INSTRUCTIONS if inputs.separation or form.has_inlined or has_times else detail
    paths = with_costs(paths)
    profiles = [inputs.profile_of_functions(path, detail) for path in paths]
    profile = inputs.with_separate_frames(sum_of(profiles))
    if options.objects:
        profile = as_profile(all_objects(paths, profile, inputs), profile)
    counted = len(profile.events)
    if has_times:
        profile = with_times(paths, profile, inputs)
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    # Times are known for calls, not for whole paths.
    has_tree = form.has_paths and not inputs.separation and not has_times
    tree = merged(inputs.trees(paths, profiles)) if has_tree else None
    if form.is_binary and options.output is None:
        raise UserError(f"--export={options.export} is not text: name a file with -o")
    functions = {place.function for place in profile.instructions} if form.has_inlined else ()
    chains = inputs.inlined_chains(profile, functions) if functions else None
    request = make_request(profile, options.events, threshold, tree, form.all_events, chains, counted)
    if form.is_one_event and len(request.metrics) > 1:
        raise UserError(f"--export={options.export} has room for one event, but --events names several")
    inputs.say_notes(notes(form, request))
    pieces: Iterable[str | bytes] = form.pieces(request)
    if options.output is None:
        console.write_data(piece for piece in pieces if isinstance(piece, str))
    else:
        write_file(options.output, pieces)
    return EXIT_GOOD
